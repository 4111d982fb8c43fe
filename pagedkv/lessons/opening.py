"""How lessons begin, and what is shown where they cannot.

Lessons 1 to 4 begin with a pool that has a past, and two requests in it. Their free list is set,
not earned: earlier requests would have left it in some such order, and blocks that lie apart are
the point. The lessons say so.
"""

from collections.abc import Iterable

from pagedkv.layout import blocks_needed
from pagedkv.lessons.base import Words
from pagedkv.lessons.remedies import CanShow, what_would_do
from pagedkv.model.prompts import PASSAGE_B, PASSAGE_C, prompt
from pagedkv.recorder import Recorder
from pagedkv.settings import Settings

_LEFT_BY_EARLIER_REQUESTS = (3, 0, 1, 4, 5, 2)

# Words of several lessons, which put them among their own frames.
B_WAITS = Words(
    "B does not fit",
    "B's prompt of {check.num_inputs:position} needs {check.needed:block}; {check.free} of "
    "{config.num_blocks} {check.free:is|are} free. B was not admitted, and nothing else changed.",
)
PROMPT_WAITS = Words(
    "The prompt does not fit",
    "The prompt needs {events[RequestRefused].needed:block}; {events[RequestRefused].free} of "
    "{events[RequestRefused].total} {events[RequestRefused].free:is|are} free.",
)


def mixed_order(num_blocks: int) -> tuple[int, ...]:
    """A free list as earlier requests might leave it, for a pool of any size.

    Ids beyond the pool are dropped, further ids follow in order.

    >>> mixed_order(4)
    (3, 0, 1, 2)
    >>> mixed_order(8)
    (3, 0, 1, 4, 5, 2, 6, 7)
    """
    known = [block_id for block_id in _LEFT_BY_EARLIER_REQUESTS if block_id < num_blocks]
    return (*known, *range(len(_LEFT_BY_EARLIER_REQUESTS), num_blocks))


def prompts(stage: Recorder) -> tuple[str, str]:
    """B's and C's prompts at the learner's prompt length."""
    length = stage.settings.prompt_length
    return prompt(PASSAGE_B, length), prompt(PASSAGE_C, length)


def store(stage: Recorder, name: str, text: str, rank: int = 0) -> bool:
    """Admit a request, run its prompt, select its first output; say if there was room.

    ``rank`` 1 selects the second most likely output, so that two answers to one prompt differ.
    """
    if not stage.admit(name, text):
        return False
    stage.execute(name)
    stage.engine.select(name, rank=rank)
    return True


def run_together(stage: Recorder, names: Iterable[str]) -> None:
    """One execution for all of ``names``, and each one's next output selected."""
    names = tuple(names)
    stage.execute(*names)
    for name in names:
        stage.engine.select(name)


def b_and_c_after_one_execution(stage: Recorder) -> bool:
    """The state that lessons 2 to 4 start from: B has decoded once beside C's prompt.

    Returns whether B got that far; C may be waiting even so.
    """
    stage.open_pool(mixed_order(stage.settings.num_blocks))
    prompt_b, prompt_c = prompts(stage)
    if not store(stage, "B", prompt_b):
        return False
    c_is_in = stage.admit("C", prompt_c)
    b_goes_on = stage.append("B")
    inputs = [name for name, has_inputs in (("B", b_goes_on), ("C", c_is_in)) if has_inputs]
    if inputs:
        run_together(stage, inputs)
    return b_goes_on


def b_can_take_one_more_block(settings: Settings) -> bool:
    """Whether B, after one execution beside C, grows into a further block. C may be waiting."""
    block_size, num_blocks = settings.block_size, settings.num_blocks
    of_prompt = blocks_needed(settings.prompt_length, block_size)
    of_c = of_prompt if 2 * of_prompt <= num_blocks else 0
    of_b = blocks_needed(settings.prompt_length + 1, block_size) + 1
    return of_prompt <= num_blocks and of_b + of_c <= num_blocks


def explain_refusal_of_b(stage: Recorder, key: str, why: str, can_show: CanShow) -> None:
    """B was not admitted: show the check that it failed, and declare why nothing else follows.

    ``key`` and ``why`` name the lesson's words for the one and the other; ``can_show`` is the
    lesson's own.
    """
    stage.check_admission("B", stage.settings.prompt_length)
    stage.show(key)
    stage.cannot_show(why, what_would_do(stage.settings, can_show))
