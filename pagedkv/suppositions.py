"""What-ifs: what would lie where, if the engine did it the wrong way.

Each function draws the cells of a supposition from the real state. It is never carried out on the
board: the strip stands apart, and ``wrong`` marks the cells where the supposition fails.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pagedkv.layout import flat_slot, split_position, split_slot
from pagedkv.trace.frame import WhatIf, WhatIfCell
from pagedkv.trace.state import RequestView, SlotView, State

if TYPE_CHECKING:  # lessons import this module; it only names their types
    from pagedkv.lessons.base import Words


def suppose(kind: str, request: str, words: "Words", cells: Sequence[WhatIfCell]) -> WhatIf:
    """A supposition about ``request``; ``words.caption`` is the template of its text."""
    return WhatIf(
        kind=kind,
        request=request,
        title=words.title,
        text=words.caption,
        facts=(),
        cells=tuple(cells),
        num_wrong=sum(cell.wrong for cell in cells),
    )


def neighbours(state: State, name: str, block_size: int) -> list[WhatIfCell]:
    """All of ``name``'s blocks side by side, and the other request's first block right behind."""
    own = _request(state, name)
    other = next(request for request in state.requests if request.name != name)
    num_own = len(own.block_table)
    cells = [_placed(own, position, block_size) for position in range(num_own * block_size)]
    for offset in range(block_size):
        cell = _placed(other, offset, block_size)
        wanted_position = num_own * block_size + offset
        cells.append(_wanted(cell, (name,), wanted_position, wrong=True))
    return cells


def straight_on(state: State, name: str, num_slots: int, block_size: int) -> list[WhatIfCell]:
    """The ``num_slots`` slots from a request's first one on, as if its KV lay in one piece.

    It ends at the end of the pool; a slot is wrong unless it holds the position expected there.
    """
    request = _request(state, name)
    start = flat_slot(request.block_table[0], 0, block_size)
    cells = []
    for position in range(min(num_slots, len(state.blocks) * block_size - start)):
        place = split_slot(start + position, block_size)
        slot = state.blocks[place.block_id].slots[place.offset]
        right = slot.state == "stored" and name in slot.owners and slot.position == position
        cell = _real(slot, place.block_id, place.offset)
        cells.append(_wanted(cell, (name,), position, wrong=not right))
    return cells


def write_shared(state: State, names: tuple[str, str], block_size: int) -> list[WhatIfCell]:
    """The block that two requests share, both about to write their next input into it."""
    writers = [_request(state, name) for name in names]
    position = writers[0].num_tokens
    place = split_position(position, block_size)
    block_id = writers[0].block_table[place.logical_block]
    cells = [
        _real(slot, block_id, offset) for offset, slot in enumerate(state.blocks[block_id].slots)
    ]
    tokens = tuple(writer.pending_token or "" for writer in writers)
    cells[place.offset] = _wanted(cells[place.offset], names, position, wrong=True, tokens=tokens)
    return cells


def _request(state: State, name: str) -> RequestView:
    return next(request for request in state.requests if request.name == name)


def _real(slot: SlotView, block_id: int, offset: int) -> WhatIfCell:
    """A slot as it is, wanted by nobody yet."""
    return WhatIfCell(
        block_id=block_id,
        offset=offset,
        state=slot.state,
        owners=slot.owners,
        position=slot.position,
        token=slot.token,
        wanted_by=(),
        wanted_position=None,
        wanted_tokens=(),
        wrong=False,
    )


def _placed(request: RequestView, position: int, block_size: int) -> WhatIfCell:
    """A request's position in a block where it does not really lie."""
    stored = position < request.num_stored
    place = split_position(position, block_size)
    return WhatIfCell(
        block_id=None,
        offset=place.offset,
        state="stored" if stored else "empty",
        owners=(request.name,),
        position=position,
        token=request.tokens[position] if stored else None,
        wanted_by=(),
        wanted_position=None,
        wanted_tokens=(),
        wrong=False,
        imagined=f"{request.name}'s L{place.logical_block}",
    )


def _wanted(
    cell: WhatIfCell,
    names: tuple[str, ...],
    position: int,
    *,
    wrong: bool,
    tokens: tuple[str, ...] = (),
) -> WhatIfCell:
    """The same cell, wanted by ``names`` for ``position``."""
    return replace(
        cell, wanted_by=names, wanted_position=position, wanted_tokens=tokens, wrong=wrong
    )
