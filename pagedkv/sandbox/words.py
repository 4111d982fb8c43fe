"""What the sandbox says: a title and a caption template for everything that can happen.

Templates are as in lessons (``pagedkv.narration``). ``@`` stands for the request that it is about,
``^`` for the one that it was forked from; ``about`` fills them in.
"""

from collections.abc import Sequence

from pagedkv.lessons.base import Tale, Words
from pagedkv.narration import join
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
    "free. Who is running comes first, so nobody was let in."
)
_AT_THE_END = " {names} is as long as the model's context."
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
        return _COPIED if asked.fits else _NO_ROOM_TO_COPY
    if asked.needed:
        return _NEW_BLOCK if asked.fits else _NO_ROOM
    return _IN_PLACE


def engine_step(
    num_inputs: int,
    admitted: Sequence[str],
    stalled: Sequence[str],
    at_the_end: Sequence[str],
    someone_waits: bool,
) -> Words:
    """The words for one engine step, put together from what happened in it."""
    if not num_inputs and not stalled and not at_the_end:
        title = "Nobody can come in" if someone_waits else "Nothing to do"
        caption = _NOBODY if someone_waits else _IDLE
    else:
        title = "One engine step" if num_inputs else "Nobody can go on"
        caption = _STEP if num_inputs else _NOBODY
    for sentence, names in (
        (_CAME_IN, admitted),
        (_STALLED, stalled),
        (_AT_THE_END, at_the_end),
    ):
        if names:
            caption += sentence.replace("{names}", join(names))
    return Words(title, caption + (_STILL_QUEUED if someone_waits else ""))
