"""A generation as the player tells it: a title and a caption for every execution.

Words are made as the run goes, since who copies is known only then. Captions are templates that
cite the frame, as those of lessons are (``pagedkv.narration``).
"""

from collections.abc import Mapping, Sequence

from pagedkv.block_manager import AppendPlan
from pagedkv.lessons.base import Tale, Words
from pagedkv.narration import join

IN_USE = "{state.totals.blocks_in_use:block} {state.totals.blocks_in_use:is|are} in use."

PROMPT = (
    "The prompt was processed once, {execution.num_tokens:input} in one execution, for all "
    "{len(state.requests)} answers. {state.totals.table_entries} table entries point to "
    "{state.totals.blocks_in_use:block}; nothing is copied before somebody must write into one."
)
PROMPT_OF_ONE = "The prompt was processed, {execution.num_tokens:input} in one execution. " + IN_USE

PROCESSED = (
    "One execution processed {{execution.num_tokens:input}}, the token that was chosen last for "
    "each answer{that_goes_on}. "
)
PROCESSED_OF_ONE = "One execution processed {execution.num_tokens:input}, the token chosen last. "

COPIED = (
    "{writers} had to write into P{{events[BlockCopied].source}}, which was shared, and copied it "
    "first, to {copies}. "
)
SOLE_OWNER = "{writers} came last, found itself the only owner, and wrote in place. "
NEW_BLOCKS = "The last block of each was full, so each took a new one: {blocks}. "
NEW_BLOCK = "The last block was full, so {writers} took a new one, {blocks}. "
IN_PLACE = "The last block of each had an empty slot, so no block was taken. "
IN_PLACE_OF_ONE = "The last block had an empty slot, so no block was taken. "

ENDED = " {names} chose the token that ends a text and will get no further one."


STORY = Tale(
    "generate",
    "Generate",
    "Which blocks do the answers share, and when does one need its own?",
)


def of_prompt(number: int, num_answers: int, ended: Sequence[str] = ()) -> Words:
    """The words for execution ``number``, that of the prompt; ``ended`` are over already."""
    if num_answers == 1:
        return _words(number, "the prompt", PROMPT_OF_ONE + _ended(ended))
    return _words(number, "the prompt, once for all", PROMPT + _ended(ended))


def of_answers(
    number: int, plans: Mapping[str, AppendPlan], num_answers: int, ended: Sequence[str] = ()
) -> Words:
    """The words for execution ``number``, one more token of every answer that goes on.

    ``plans`` are what the engine did to give each its slot, in order; ``ended`` are over now.
    """
    copying = [name for name, plan in plans.items() if plan.copies]
    taking = [name for name, plan in plans.items() if plan.new_blocks]
    in_place = [name for name, plan in plans.items() if not plan.copies and not plan.new_blocks]
    is_one = len(plans) == 1
    if copying:
        title = "copied before it is written"
        told = COPIED.format(writers=join(copying), copies=_last_blocks(copying))
        told += "".join(SOLE_OWNER.format(writers=name) for name in in_place)
    elif taking:
        title = "a new block" if is_one else "a new block each"
        template = NEW_BLOCK if is_one else NEW_BLOCKS
        told = template.format(writers=join(taking), blocks=_last_blocks(taking))
    else:
        title, told = "in place", IN_PLACE_OF_ONE if is_one else IN_PLACE
    that_goes_on = " that goes on" if len(plans) < num_answers else ""
    processed = PROCESSED_OF_ONE if is_one else PROCESSED.format(that_goes_on=that_goes_on)
    return _words(number, title, f"{processed}{told}{IN_USE}{_ended(ended)}")


def _ended(names: Sequence[str]) -> str:
    return ENDED.format(names=join(names)) if names else ""


def _words(number: int, what: str, caption: str) -> Words:
    return Words(f"Execution {number}: {what}", caption)


def _last_blocks(names: Sequence[str]) -> str:
    """Citations of the last entries of these requests' tables."""
    return join([f"P{{state.requests[{name}].block_table[-1]}}" for name in names])
