"""The view model: everything that the browser needs to show a lesson, as JSON.

What: ``player_json`` turns a trace and its lesson into one text. Why: whatever computes is here, in
Python, where it is tested; ``player.js`` only draws. It reads traces and never runs the engine.
"""

import base64
import json
from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from pagedkv.player.frames import DescribedFrames
from pagedkv.player.json_text import Data, as_list, as_text, digest
from pagedkv.player.text import say
from pagedkv.player.words import SCREEN
from pagedkv.terms import TERMS
from pagedkv.trace.errors import agree, worst
from pagedkv.trace.frame import Floats, Runtime, Trace
from pagedkv.trace.written import small

if TYPE_CHECKING:
    from pagedkv.lessons.base import Told


def player_json(trace: Trace, lesson: "Told") -> str:
    """The text that a page sends; the same trace always gives the same.

    Its ``key`` identifies the content: given equal data again, the player keeps its place.
    """
    return GrowingView(lesson, trace).text(trace)


def player_data(trace: Trace, lesson: "Told") -> Data:
    """The same as plain data."""
    data: Data = json.loads(player_json(trace, lesson))
    return data


class GrowingView:
    """The view of a trace to which frames are added: what was described stays described.

    Every trace that is handed in must begin with the frames of the one before.
    """

    def __init__(self, lesson: "Told", trace: Trace) -> None:
        self._lesson = lesson
        self._frames = DescribedFrames(trace.settings)

    def copy(self) -> "GrowingView":
        """Another one that goes on from here by itself."""
        twin = copy(self)
        twin._frames = self._frames.copy()
        return twin

    def text(self, trace: Trace) -> str:
        """What ``player_json`` gives for the trace, at the cost of the frames that are new."""
        frames = self._frames
        frames.go_on(trace.frames[len(frames.texts) :])
        parts = {
            "lesson": as_text(_about(self._lesson)),
            "words": as_text(SCREEN),
            "terms": as_text({term.name: term.definition for term in TERMS}),
            "config": as_text(_config(trace)),
            "runtime": as_text(_runtime(trace)),
            "infeasible": as_text(trace.infeasible),
            "requests": as_text(frames.roster.as_data()),
            "stage": as_text(frames.room.as_data(frames.roster)),
            "frames": as_list(frames.texts),
            "blocks": as_list(frames.blocks.texts),
            "groups": as_list(frames.groups.texts),
            "vectors": as_text(_vectors(trace.vectors)),
            "heads": as_text(_heads(trace, frames)),
        }
        content = _as_object(parts)
        return _as_object({"key": as_text(digest(content)), **parts})


def _as_object(parts: Mapping[str, str]) -> str:
    """A JSON object of what is JSON already."""
    return "{" + ",".join(f'"{name}":{text}' for name, text in parts.items()) + "}"


def _about(lesson: "Told") -> Data:
    return {"slug": lesson.slug, "title": lesson.title, "question": lesson.question}


def _config(trace: Trace) -> Data:
    settings = trace.settings
    no_blocks = say("no_blocks", capacity=settings.capacity, block_size=settings.block_size)
    return {
        "block_size": settings.block_size,
        "capacity": settings.capacity,
        "num_blocks": settings.num_blocks,
        "no_blocks": None if settings.num_blocks else no_blocks,
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


def _heads(trace: Trace, frames: DescribedFrames) -> Data:
    """Return the layers to look at, how many heads of either kind, and where to start looking."""
    kv_heads = trace.vectors.shape[3]
    heads = max(
        (len(view.paged) for frame in trace.frames for view in frame.attention or ()),
        default=kv_heads,
    )
    layer, head = frames.first_look.choice(trace.layers)
    return {
        "layers": list(trace.layers),
        "heads": heads,
        "kv_heads": kv_heads,
        "start": {"layer": layer, "head": head},
    }
