"""The view model: everything that the browser needs to show a lesson, as plain JSON data.

What: ``player_data`` turns a trace and its lesson into one dict. Why: whatever computes is here,
in Python, where it is tested; ``player.js`` only draws. It reads traces and never runs the engine.

Blocks and requests change little from frame to frame, so each distinct one stands once in
``blocks`` or ``groups`` and frames refer to it by index; the browser redraws only what differs.
"""

import base64
import hashlib
import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from pagedkv.events import RequestFinished
from pagedkv.player.attention_strip import attention_data
from pagedkv.player.blocks import BlockFacts, block_data, blocks_facts
from pagedkv.player.captions import CaptionReader
from pagedkv.player.check_and_execution import check_data, execution_data
from pagedkv.player.comparison import comparison_data
from pagedkv.player.contiguous_strip import contiguous_data
from pagedkv.player.ledger import ledger_data, mark_changes
from pagedkv.player.leftovers import Leftovers
from pagedkv.player.legend import legend_data
from pagedkv.player.lookups import lookup_data
from pagedkv.player.request_groups import group_data
from pagedkv.player.roster import Roster, lanes_of, roster_of
from pagedkv.player.text import say
from pagedkv.player.what_if import what_if_data
from pagedkv.player.words import SCREEN
from pagedkv.player.worked_score import worked_data
from pagedkv.terms import TERMS
from pagedkv.trace.errors import agree, worst
from pagedkv.trace.first_look import first_look
from pagedkv.trace.frame import Floats, Frame, Runtime, Trace
from pagedkv.trace.written import small

if TYPE_CHECKING:
    from pagedkv.lessons.base import Told

Data = dict[str, Any]


def player_data(trace: Trace, lesson: "Told") -> Data:
    """Return the view model of one lesson run; the same trace always gives the same data.

    ``key`` identifies the content: the player keeps its place when it is given equal data again.
    """
    data = _content(trace, lesson)
    return {"key": _digest(_as_text(data)), **data}


def player_json(trace: Trace, lesson: "Told") -> str:
    """The same as the JSON text that a page sends; written once, for it takes a while."""
    text = _as_text(_content(trace, lesson))
    return f'{{"key":"{_digest(text)}",{text[1:]}'


def _content(trace: Trace, lesson: "Told") -> Data:
    roster = roster_of(trace)
    frames = _Frames(trace, roster)
    return {
        "lesson": {"slug": lesson.slug, "title": lesson.title, "question": lesson.question},
        "words": SCREEN,
        "terms": {term.name: term.definition for term in TERMS},
        "config": _config(trace),
        "runtime": _runtime(trace),
        "infeasible": trace.infeasible,
        "requests": roster.as_data(),
        "stage": _stage(trace, roster),
        "frames": frames.frames,
        "blocks": frames.blocks.items,
        "groups": frames.groups.items,
        "vectors": _vectors(trace.vectors),
        "heads": _heads(trace),
    }


def _as_text(data: Data) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Interned:
    """A list in which equal items stand once."""

    def __init__(self) -> None:
        self.items: list[Data] = []
        self._places: dict[str, int] = {}

    def place(self, item: Data) -> int:
        """Return the index of ``item``, adding it if it is new."""
        text = json.dumps(item, sort_keys=True)
        if text not in self._places:
            self._places[text] = len(self.items)
            self.items.append(item)
        return self._places[text]


class _Frames:
    """Builds the frames in order, for what depends on the one before."""

    def __init__(self, trace: Trace, roster: Roster) -> None:
        self.blocks, self.groups = _Interned(), _Interned()
        self._places: dict[BlockFacts, int] = {}  # in ``blocks``, of what was described already
        self._trace, self._roster = trace, roster
        self._reader = CaptionReader(roster)
        self._leftovers = Leftovers()
        self._ledger: list[Data] | None = None
        self._lanes = lanes_of(trace, roster)
        self._ended: dict[int | None, str] = {}  # by lane
        self.frames = [self._frame(frame) for frame in trace.frames]

    def _frame(self, frame: Frame) -> Data:
        roster, leftovers = self._roster, self._leftovers
        leftovers.learn(frame)
        self._ledger = mark_changes(ledger_data(frame, self._trace.settings), self._ledger)
        return {
            "title": frame.title,
            "caption": self._reader.runs(frame.caption, frame.state),
            "blocks": [self._block(facts) for facts in blocks_facts(frame, leftovers)],
            "groups": self._groups(frame),
            "waiting": roster.indices(frame.state.waiting),
            "focus": _focus(frame),
            "legend": legend_data(frame),
            "ledger": self._ledger,
            "contiguous": contiguous_data(frame, roster),
            "check": check_data(frame.check, roster),
            "execution": execution_data(frame.execution, roster),
            "whatIf": what_if_data(frame, roster, self._reader),
            "lookup": lookup_data(frame.lookup, roster),
            "worked": worked_data(frame.worked_score, roster),
            "comparison": comparison_data(frame.comparison),
            "attention": attention_data(frame, roster),
        }

    def _block(self, facts: BlockFacts) -> int:
        place = self._places.get(facts)
        if place is None:
            place = self._places[facts] = self.blocks.place(block_data(facts, self._roster))
        return place

    def _groups(self, frame: Frame) -> list[int | str | None]:
        """Per request of the roster: its group, words if it has ended, None if not there.

        A request that has ended is named only until another one takes its lane.
        """
        here = {request.name: request for request in frame.state.requests}
        self._note_endings(frame, here.keys())
        groups: list[int | str | None] = [
            self.groups.place(group_data(here[name], frame, self._roster)) if name in here else None
            for name in self._roster.names
        ]
        for name in self._ended.values():
            groups[self._roster.index(name)] = say("ended")
        return groups

    def _note_endings(self, frame: Frame, here: Collection[str]) -> None:
        for event in frame.events:
            if isinstance(event, RequestFinished) and event.request not in here:
                self._ended[self._lanes[event.request]] = event.request
        for name in here:
            self._ended.pop(self._lanes[name], None)


def _focus(frame: Frame) -> int | None:
    """Return the first block with a slot written now, for boards too long to see at once."""
    for block in frame.state.blocks:
        if any(slot.written_now for slot in block.slots):
            return block.block_id
    return None


def _config(trace: Trace) -> Data:
    settings = trace.settings
    no_blocks = say("no_blocks", capacity=settings.capacity, block_size=settings.block_size)
    return {
        "block_size": settings.block_size,
        "capacity": settings.capacity,
        "num_blocks": settings.num_blocks,
        "no_blocks": None if settings.num_blocks else no_blocks,
    }


def _stage(trace: Trace, roster: Roster) -> Data:
    """Return how much room the board ever needs, so that nothing on it jumps between frames."""
    rows = dict.fromkeys(roster.names, 0)
    pending = dict.fromkeys(roster.names, False)
    for frame in trace.frames:
        for request in frame.state.requests:
            rows[request.name] = max(rows[request.name], len(request.block_table))
            pending[request.name] |= request.pending_token is not None
    return {
        "lanes": list(lanes_of(trace, roster).values()),
        "rows": list(rows.values()),
        "pending": list(pending.values()),
        "contiguous": any(frame.contiguous is not None for frame in trace.frames),
        "attention": any(frame.attention for frame in trace.frames),
        "shared": any(
            block.ref_count > 1 for frame in trace.frames for block in frame.state.blocks
        ),
        "longTokens": any(
            len(token) > 1
            for frame in trace.frames
            for request in frame.state.requests
            for token in request.tokens
        ),
        "whatIf": any(frame.what_if is not None for frame in trace.frames),
    }


def _runtime(trace: Trace) -> Data:
    error = _largest_error(trace)
    ok = error is not None and agree([error])
    if error is None:
        check = say("dense_none")
    else:
        check = say("dense_ok" if ok else "dense_off", error=small(error))
    return {
        "text": _backend(trace.runtime),
        "check": check,
        "ok": ok or error is None,
        "note": say("runtime_model", model=trace.runtime.model),
    }


def _backend(runtime: Runtime) -> str:
    device = runtime.gpu or ("GPU" if runtime.device.startswith("cuda") else "CPU")
    known = f"runtime_{runtime.backend}"
    try:
        return say(known, device=device)
    except KeyError:
        return say("runtime_other", backend=runtime.backend, device=device)


def _largest_error(trace: Trace) -> float | None:
    errors = [
        error
        for frame in trace.frames
        for view in frame.attention or ()
        for error in (view.max_abs_error_weights, view.max_abs_error_output)
    ]
    return worst(errors) if errors else None


def _vectors(vectors: Floats) -> Data:
    """Pack [n, 2, layers, kv_heads, head_dim] as little-endian float16 in base64."""
    packed = np.ascontiguousarray(vectors, dtype="<f2").tobytes()
    return {"shape": list(vectors.shape), "f16": base64.b64encode(packed).decode("ascii")}


def _heads(trace: Trace) -> Data:
    """Return the layers to look at, how many heads of either kind, and where to start looking."""
    kv_heads = trace.vectors.shape[3]
    heads = max(
        (len(view.paged) for frame in trace.frames for view in frame.attention or ()),
        default=kv_heads,
    )
    layer, head = first_look(trace)
    return {
        "layers": list(trace.layers),
        "heads": heads,
        "kv_heads": kv_heads,
        "start": {"layer": layer, "head": head},
    }
