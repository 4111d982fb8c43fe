"""A sandbox session: a pool, and a list of actions. All that a link or a file has to hold."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from pagedkv.checks import named
from pagedkv.engine import TOKEN_BUDGET
from pagedkv.model.tokenizer import VOCABULARY
from pagedkv.sandbox.actions import Action, DecodeToken, Finish, Fork, NewRequest
from pagedkv.settings import Settings, check_setting

FreeOrder = Literal["tidy", "scattered"]
FREE_ORDERS: tuple[FreeOrder, ...] = get_args(FreeOrder)

MAX_ACTIONS = 200
MAX_ALIVE = 12  # requests running or waiting at once: as many as a board shows
LONGEST_PROMPT = TOKEN_BUDGET  # a prompt is processed in one execution
MAX_PROMPT_CHARACTERS = (
    4096  # of all prompts together: some ten seconds of work for the interpreter
)
_MOST_UNKNOWN_NAMED = 8


class ScriptError(ValueError):
    """A script says what no session can do; the message says what, and what would be right."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The memory that a session runs in: ``block_size`` in slots, ``capacity`` in positions.

    ``free_order`` "tidy" gives blocks out in the order of their ids, "scattered" as earlier
    requests would have left them. Raises ``ScriptError`` for what cannot be.
    """

    block_size: int = 4
    capacity: int = 24
    free_order: FreeOrder = "tidy"

    def __post_init__(self) -> None:
        try:
            check_setting("block_size", self.block_size)
            check_setting("capacity", self.capacity)
        except ValueError as error:
            raise ScriptError(str(error)) from error
        if self.free_order not in FREE_ORDERS:
            raise ScriptError(
                f"free_order is {named(self.free_order)}; it must be one of {_list(FREE_ORDERS)}"
            )

    def settings(self) -> Settings:
        """The same as a lesson would have it."""
        return Settings(block_size=self.block_size, capacity=self.capacity)


@dataclass(frozen=True, slots=True)
class Script:
    """A pool and the actions done in it, in order. Any prefix of a script is one too.

    Raises ``ScriptError`` if there are too many actions or too many characters, if a prompt or a
    token is none of the model's, or if an action names a request that nobody has asked for before
    it. What the engine will say to an action is not asked here: a refusal is part of a session.
    """

    pool: Pool = Pool()
    actions: tuple[Action, ...] = ()

    def __post_init__(self) -> None:
        if len(self.actions) > MAX_ACTIONS:
            raise ScriptError(
                f"there are {len(self.actions)} actions; a session has {MAX_ACTIONS} at most"
            )
        prompts = [action.prompt for action in self.actions if isinstance(action, NewRequest)]
        num_requests = 0
        for place, action in enumerate(self.actions, start=1):
            try:
                check_action(action, num_requests)
            except ScriptError as error:
                raise ScriptError(f"action {place}: {error}") from error
            num_requests += isinstance(action, NewRequest | Fork)
        in_all = sum(map(len, prompts))
        if in_all > MAX_PROMPT_CHARACTERS:
            raise ScriptError(
                f"the prompts have {in_all} characters in all; a session has "
                f"{MAX_PROMPT_CHARACTERS} at most"
            )

    def then(self, action: Action) -> "Script":
        """This session with one action more."""
        return replace(self, actions=(*self.actions, action))

    def first(self, count: int) -> "Script":
        """This session as it was after its first ``count`` actions."""
        return replace(self, actions=self.actions[:count])


def check_action(action: Action, num_requests: int) -> None:
    """Raise ``ScriptError`` unless the action can be asked where there were ``num_requests``."""
    match action:
        case NewRequest(prompt=prompt):
            check_prompt(prompt)
        case DecodeToken(request=request, token=token):
            _check_request(request, num_requests)
            if token is not None:
                check_token(token)
        case Fork(request=request) | Finish(request=request):
            _check_request(request, num_requests)


def check_token(token: str) -> None:
    """Raise ``ScriptError`` unless this can be somebody's next token."""
    if not _is_text(token) or len(token) != 1:
        raise ScriptError(f"token is {named(token)}; it must be one character")
    _check_characters(token)


def check_prompt(prompt: str) -> None:
    """Raise ``ScriptError`` unless a request may have this prompt."""
    if not _is_text(prompt) or not 1 <= len(prompt) <= LONGEST_PROMPT:
        size = f"{len(prompt)} characters" if _is_text(prompt) else named(prompt)
        raise ScriptError(f"the prompt has {size}; it must have 1 to {LONGEST_PROMPT}")
    _check_characters(prompt)


def unknown_characters(text: str) -> str:
    """The characters of a text that the model does not know, quoted, the first few; or nothing."""
    unknown = [repr(character) for character in sorted(set(text) - set(VOCABULARY))]
    more = ["…"] if len(unknown) > _MOST_UNKNOWN_NAMED else []
    return _list([*unknown[:_MOST_UNKNOWN_NAMED], *more])


def _check_characters(text: str) -> None:
    if unknown := unknown_characters(text):
        raise ScriptError(
            f"text has characters outside the vocabulary: {unknown}; the model knows {VOCABULARY!r}"
        )


def _check_request(request: int, num_requests: int) -> None:
    is_number = isinstance(request, int) and not isinstance(request, bool)
    if not is_number or not 1 <= request <= num_requests:
        there = f"there are {num_requests} so far" if num_requests else "there is none yet"
        raise ScriptError(f"request is {named(request)}; {there}, numbered from 1")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _list(words: Sequence[str]) -> str:
    return ", ".join(words)
