"""A generation at rest: what a page keeps of it once it has ended or was stopped.

Texts, numbers and compressed bytes: no tensors, no pool, and not the hundreds of thousands of
objects of its frames, through which the collector would walk after every click of every visitor.
"""

import pickle
import zlib
from dataclasses import dataclass, field, replace

from pagedkv.generate.choices import Choices
from pagedkv.generate.dense_check import Proof, prove
from pagedkv.generate.generation import Generation, Pace
from pagedkv.generate.story import STORY
from pagedkv.generate.usage import Usage
from pagedkv.layer_work import LayerWork
from pagedkv.player import player_json
from pagedkv.trace.first_look import last_queries
from pagedkv.trace.frame import Frame, Trace

# What a player is sent grows with answers, positions and frames. Of a long run it gets the frames
# around a moment: 1 to 1.5 MB at the defaults.
POSITIONS_TO_SEND = 10_000
FEWEST_FRAMES = 8


@dataclass(frozen=True, slots=True)
class Stretch:
    """Frames of a run for the player, as JSON; ``first`` is the index in the run of the first."""

    first: int
    num_frames: int
    player_json: str = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """All that a page shows of a generation. ``was_stopped`` says that it could have gone on."""

    choices: Choices
    texts: tuple[str, ...]
    usage: Usage
    proof: Proof
    pace: Pace
    layer_work: LayerWork
    was_stopped: bool
    packed: bytes = field(repr=False)

    @property
    def num_frames(self) -> int:
        """One frame an execution."""
        return len(self.usage.moments)

    @property
    def frames_to_send(self) -> int:
        """How many of them a player is sent at once."""
        most = POSITIONS_TO_SEND // self.usage.reserved_positions
        return min(max(most, FEWEST_FRAMES), self.num_frames)

    def trace(self) -> Trace:
        """The whole run, unpacked."""
        trace: Trace = pickle.loads(zlib.decompress(self.packed))
        return trace

    def first_around(self, index: int) -> int:
        """The first of the frames that are sent together with frame ``index``.

        Raises ValueError for a frame that there is not.
        """
        if not 0 <= index < self.num_frames:
            raise ValueError(f"index is {index}; this run has frames 0 to {self.num_frames - 1}")
        first = max(index - self.frames_to_send // 2, 0)
        return min(first, self.num_frames - self.frames_to_send)

    def stretch(self, first: int) -> Stretch:
        """As many frames as a player is sent, from frame ``first`` on."""
        trace = self.trace()
        frames = trace.frames[first : first + self.frames_to_send]
        text = player_json(_with_own_vectors(replace(trace, frames=frames)), STORY)
        return Stretch(first, len(frames), text)


def keep(generation: Generation, proof: Proof | None = None) -> Kept:
    """Pack what there is, with the proof of it, which is made now if it is not given.

    Raises ValueError if nothing was generated yet.
    """
    proof = proof or prove(generation)
    trace = generation.trace()
    trace = replace(trace, frames=tuple(map(_without_early_queries, trace.frames)))
    return Kept(
        choices=generation.choices,
        texts=generation.texts(),
        usage=generation.usage,
        proof=proof,
        pace=generation.pace,
        layer_work=generation.layer_work,
        was_stopped=not generation.is_done,
        packed=zlib.compress(pickle.dumps(trace), level=1),
    )


def _with_own_vectors(trace: Trace) -> Trace:
    """The same frames with no vectors but those that they refer to, numbered anew."""
    held = {
        index
        for frame in trace.frames
        for block in frame.vector_ids
        for index in block
        if index is not None
    }
    kept = sorted(held)
    places: dict[int | None, int | None] = {index: place for place, index in enumerate(kept)}
    places[None] = None  # a slot that was never written
    frames = tuple(
        replace(
            frame,
            vector_ids=tuple(tuple(places[index] for index in block) for block in frame.vector_ids),
        )
        for frame in trace.frames
    )
    return replace(trace, frames=frames, vectors=trace.vectors[kept])


def _without_early_queries(frame: Frame) -> Frame:
    """Leave out what no player shows: the weights of a prompt's queries but the last."""
    if frame.attention is None:
        return frame
    return replace(frame, attention=tuple(last_queries(frame.attention)))
