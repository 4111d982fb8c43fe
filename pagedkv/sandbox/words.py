"""What the sandbox says: a title and a caption template for everything that can happen.

Templates are as in lessons (``pagedkv.narration``). ``@`` stands for the request that it is about,
``^`` for the one that it was forked from; ``about`` fills them in.
"""

from collections.abc import Iterator

from pagedkv.events import RefusalReason
from pagedkv.lessons.base import Tale, Words
from pagedkv.narration import join
from pagedkv.sandbox.turns import Turns
from pagedkv.trace.frame import Check

BOOK = Tale("sandbox", "Sandbox", "What will the engine do next?")

BEGIN = Words(
    "An empty pool",
    "{config.num_blocks:block} of {config.block_size:slot} each, nothing in them yet. They will be "
    "given in this order: {state.free_blocks:P}.",
)
NO_BLOCK = Words(
    "No block at all",
    "A capacity of {config.capacity:position} does not make one block of {config.block_size:slot}. "
    "No request will ever fit.",
)

_NEEDS = "{check.needed:block}; {check.free} {check.free:is|are} free"

ADMITTED = Words(
    "@ comes in",
    "@ asks for {check.num_inputs:slot} and so for " + _NEEDS + ". One execution stored its prompt "
    "in {state.requests[@].block_table:P}, and {state.requests[@].pending_token:char} was selected "
    "as its next input.",
)
WAITS = Words(
    "@ has to wait",
    "{check.request} needs " + _NEEDS + ". It waits in the queue; nothing else has changed.",
)
WAITS_BEHIND = Words(
    "@ waits its turn",
    "{check.request} needs " + _NEEDS + ". But {state.waiting[0]} came first and is still "
    "waiting, so nobody is let past it.",
)
NEVER_FITS = Words(
    "@ can never fit",
    "A prompt of {check.num_inputs:position} needs {check.needed:block}, and the whole pool has "
    "{config.num_blocks}. Waiting would not help, so {check.request} was turned away.",
)
NOT_ADMITTED: dict[RefusalReason, Words] = {"wait": WAITS, "never fits": NEVER_FITS}
TOO_MANY = Words(
    "Too many at once",
    "{len(state.requests) + len(state.waiting):request} {len(state.requests) + "
    "len(state.waiting):is|are} alive, as many as the sandbox has room to show. Finish one first.",
)

_TOKEN = "@ processes {state.requests[@].tokens[-1]:char} at position {check.position}. "
_NEXT = " Its next input will be {state.requests[@].pending_token:char}."

_IN_PLACE = Words(
    "@ goes on in its last block",
    _TOKEN + "That has an empty slot in P{state.requests[@].block_table[-1]}, so no block is "
    "taken." + _NEXT,
)
_NEW_BLOCK = Words(
    "@ takes a block",
    _TOKEN + "Its blocks are full: it needs " + _NEEDS + ", so L{check.logical_block} is now "
    "P{state.requests[@].block_table[-1]}." + _NEXT,
)
_COPIED = Words(
    "@ copies, then writes",
    _TOKEN + "Its last block, P{events[BlockCopied].source}, is shared, so it is copied to "
    "P{events[BlockCopied].destination} first, and the token goes there." + _NEXT,
)
_NO_ROOM = Words(
    "No block for @",
    "Position {check.position} of @ needs " + _NEEDS + ". @ keeps its "
    "{state.requests[@].num_stored:position} and has to wait.",
)
_NO_ROOM_TO_COPY = Words(
    "No block for a copy",
    "@'s last block has an empty slot, but it is shared, and a copy needs " + _NEEDS + ". @ keeps "
    "its {state.requests[@].num_stored:position} and has to wait.",
)
_NEVER_A_BLOCK = Words(
    "@ can never go on",
    "Position {check.position} of @ needs a block more than the {config.num_blocks} that the whole "
    "pool has. Waiting would not help: @ keeps its {state.requests[@].num_stored:position} until "
    "it ends.",
)
CONTEXT_FULL = Words(
    "@ is at its end",
    "@ has {state.requests[@].num_tokens:position}, as many as the model's context.",
)
FORKED = Words(
    "@ starts from ^",
    "@'s table points to the same {len(state.requests[@].block_table):block} as ^'s, "
    "{state.requests[@].block_table:P}. No block was taken and no KV copied: "
    "{state.totals.table_entries} table entries, {state.totals.blocks_in_use:block}. @ selected "
    "{state.requests[@].pending_token:char} as its next input.",
)
FINISHED = Words(
    "@ ends",
    "{events[RequestFinished].request} has given up its table. {state.totals.free_blocks:block} "
    "{state.totals.free_blocks:is|are} free now; what others share stays, and nothing is erased.",
)
WITHDRAWN = Words("@ leaves the queue", "It never had a block, so nothing in memory has changed.")
STILL_WAITING = Words(
    "@ is still waiting",
    "In the queue: {state.waiting}. Who waits has nothing stored, so there is nothing to go on "
    "from or to share.",
)
GONE = Words("@ is not there", "It has ended, or never came in. Nothing has changed.")

_STEP = (
    "{len(execution.inputs):request} in one execution, {execution.num_tokens:input} in all. "
    "Each has selected its next token."
)
_NOBODY = "No request could go on."
_IDLE = "Nobody is running and nobody waits, so the engine has nothing to do."
_CAME_IN = " {names} came in from the queue."
_STALLED = (
    " {names} found no free block; {state.totals.free_blocks} {state.totals.free_blocks:is|are} "
    "free."
)
_NEVER = (
    " {names} can never go on: the whole pool has {config.num_blocks:block}. Only an end would "
    "help."
)
_AT_THE_END = " The model's context ends here for {names}."
_RUNNING_FIRST = " Who is running comes first, so nobody was let in."
_NONE_LEFT = (
    " {state.totals.free_blocks:block} {state.totals.free_blocks:is|are} free, so nobody was let "
    "in."
)
_NO_MEMORY = (
    " {check.request}, next in the queue, needs " + _NEEDS + ", so nobody was let in past it."
)
_OVER_BUDGET = (
    " {check.request}, next in the queue, has {check.num_inputs:input}; with the "
    "{execution.num_tokens} here that is more than the {execution.token_budget} that one execution "
    "may process."
)
_STILL_QUEUED = " In the queue: {state.waiting}."


def about(words: Words, name: str, parent: str = "") -> Words:
    """The words with the request's name in them, and its parent's."""
    title, caption = (
        text.replace("@", name).replace("^", parent) for text in (words.title, words.caption)
    )
    return Words(title, caption)


def decoded(asked: Check) -> Words:
    """The words for one token of a request, by what was asked before it."""
    if asked.copies:
        return _COPIED
    return _NEW_BLOCK if asked.needed else _IN_PLACE


def not_decoded(asked: Check, reason: RefusalReason) -> Words:
    """The words for one token that found no block."""
    if reason == "never fits":
        return _NEVER_A_BLOCK
    return _NO_ROOM_TO_COPY if asked.copies else _NO_ROOM


def engine_step(turns: Turns, someone_waits: bool) -> Words:
    """The words for one engine step, put together from what happened in it."""
    if turns.going_on or turns.admitted:
        title, caption = "One engine step", _STEP
    elif turns.refused or turns.at_the_end:
        title, caption = "Nobody can go on", _NOBODY
    else:  # who waits alone always comes in: nobody is in the queue who would not fit
        title, caption = "Nothing to do", _IDLE
    caption += "".join(
        sentence.replace("{names}", join(names))
        for sentence, names in _told_by_name(turns)
        if names
    )
    return Words(title, caption + (_held_back(turns) + _STILL_QUEUED if someone_waits else ""))


def _held_back(turns: Turns) -> str:
    """Why the first of those who still wait did not come in."""
    if turns.over_budget is not None:
        return _OVER_BUDGET
    if turns.no_memory is not None:
        return _NO_MEMORY
    waits = any(refusal.reason == "wait" for refusal in turns.refused)
    return _RUNNING_FIRST if waits else _NONE_LEFT


def _told_by_name(turns: Turns) -> Iterator[tuple[str, list[str]]]:
    yield _CAME_IN, turns.admitted
    yield _STALLED, [refusal.request for refusal in turns.refused if refusal.reason == "wait"]
    yield _NEVER, [refusal.request for refusal in turns.refused if refusal.reason != "wait"]
    yield _AT_THE_END, turns.at_the_end
