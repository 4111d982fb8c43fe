"""Made-up but faithful traces for the player's tests: a toy engine of dicts and lists.

It keeps the rules that the real one keeps (a block before the position that needs it, copy-on-write
at ref count > 1, last freed first given, old bytes stay), so every state on screen is a legal one.
Numbers of attention and the K and V vectors are drawn from a fixed seed.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pagedkv import events as ev
from pagedkv.lessons.base import Lesson
from pagedkv.settings import Settings
from pagedkv.trace.frame import (
    AttentionView,
    Check,
    Comparison,
    ExecutionView,
    Frame,
    InputCount,
    LayerDifference,
    LookupView,
    Runtime,
    Trace,
    WhatIf,
    WhatIfCell,
    WorkedScore,
)
from pagedkv.trace.state import (
    BlockView,
    ContiguousView,
    RequestView,
    ReservationView,
    SlotView,
    State,
    Totals,
)

LAYERS, HEADS, KV_HEADS, HEAD_DIM = 4, 4, 2, 32
MIXED = (3, 0, 1, 4, 5, 2)
ROMEO = "ROMEO:\nI that am so much in love with Juliet and with the moon above"
JULIET = "JULIET, come to the window now and let me hear thy voice once more"
TO_BE = "To be, or not to be, that is the question: whether it is nobler in"


@dataclass
class Toy:
    """A paged cache of dicts and lists; ``bytes`` are (position, token, vector) by slot."""

    settings: Settings
    free_order: tuple[int, ...] = MIXED
    tables: dict[str, list[int]] = field(default_factory=dict)
    tokens: dict[str, list[str]] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    pending: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    bytes: dict[tuple[int, int], tuple[int, str, int]] = field(default_factory=dict)
    now: set[tuple[int, int]] = field(default_factory=set)
    events: list[Any] = field(default_factory=list)
    vectors: list[Any] = field(default_factory=list)
    seed: int = 0

    def __post_init__(self) -> None:
        blocks = self.settings.num_blocks
        order = [block for block in self.free_order if block < blocks]
        self.free = order + [block for block in range(blocks) if block not in order]

    def refs(self, block: int) -> int:
        return sum(table.count(block) for table in self.tables.values())

    def admit(self, name: str, text: str) -> None:
        self.tables[name], self.tokens[name], self.stored[name] = [], list(text), 0
        while len(self.tables[name]) * self.settings.block_size < len(text):
            self.take(name)

    def take(self, name: str) -> int:
        block = self.free.pop(0)
        logical = len(self.tables[name])
        self.tables[name].append(block)
        self.events += [
            ev.BlockAllocated(name, logical, block),
            ev.TableChanged(name, logical, None, block),
            ev.RefCountChanged(block, 0, 1),
        ]
        return block

    def store(self, name: str) -> None:
        """Write K and V of every position that has none."""
        for position in range(self.stored[name], len(self.tokens[name])):
            place = self.place(name, position)
            self.vectors.append(self.vector(len(self.vectors)))
            self.bytes[place] = (position, self.tokens[name][position], len(self.vectors) - 1)
            self.now.add(place)
        self.stored[name] = len(self.tokens[name])

    def vector(self, index: int) -> np.ndarray:
        rng = np.random.default_rng(self.seed * 1000 + index)
        return rng.normal(size=(2, LAYERS, KV_HEADS, HEAD_DIM)).astype(np.float32)

    def place(self, name: str, position: int) -> tuple[int, int]:
        logical, offset = divmod(position, self.settings.block_size)
        return self.tables[name][logical], offset

    def append(self, name: str, token: str) -> None:
        self.pending.pop(name, None)
        logical, _ = divmod(len(self.tokens[name]), self.settings.block_size)
        if logical == len(self.tables[name]):
            self.take(name)
        elif self.refs(self.tables[name][logical]) > 1:
            self.copy(name, logical)
        self.tokens[name].append(token)

    def copy(self, name: str, logical: int) -> None:
        source = self.tables[name][logical]
        before = self.refs(source)
        destination = self.free.pop(0)
        self.tables[name][logical] = destination
        carried = []
        for offset in range(self.settings.block_size):
            if (source, offset) in self.bytes:
                self.bytes[destination, offset] = self.bytes[source, offset]
                carried.append(self.bytes[source, offset][0])
        self.events += [
            ev.BlockAllocated(name, logical, destination),
            ev.BlockCopied(name, source, destination, tuple(carried)),
            ev.TableChanged(name, logical, source, destination),
            ev.RefCountChanged(source, before, before - 1),
        ]

    def fork(self, parent: str, child: str) -> None:
        for block in self.tables[parent]:
            self.events.append(ev.RefCountChanged(block, self.refs(block), self.refs(block) + 1))
        self.tables[child] = list(self.tables[parent])
        self.tokens[child] = list(self.tokens[parent])
        self.stored[child] = self.stored[parent]
        self.events.append(ev.RequestForked(parent, child, len(self.tables[child])))

    def end(self, name: str) -> None:
        for block in reversed(self.tables[name]):
            before = self.refs(block)
            self.events.append(ev.RefCountChanged(block, before, before - 1))
        table = self.tables.pop(name)
        for block in reversed(table):
            if not self.refs(block):
                self.free.insert(0, block)
                self.events.append(ev.BlockFreed(block))
        self.events.append(ev.RequestFinished(name))
        for kept in (self.tokens, self.stored, self.pending):
            kept.pop(name, None)  # type: ignore[attr-defined]

    # --- views ---------------------------------------------------------------------------------

    def state(self) -> State:
        blocks = tuple(self.block(b) for b in range(self.settings.num_blocks))
        used = [block for block in blocks if block.ref_count]
        allocated = len(used) * self.settings.block_size
        stored = sum(slot.state == "stored" for block in used for slot in block.slots)
        entries = sum(len(table) for table in self.tables.values())
        capacity = self.settings.num_blocks * self.settings.block_size
        return State(
            requests=tuple(self.request(name) for name in self.tables),
            waiting=tuple(self.waiting),
            blocks=blocks,
            free_blocks=tuple(self.free),
            totals=Totals(
                capacity,
                allocated,
                stored,
                allocated - stored,
                capacity - allocated,
                len(used),
                len(self.free),
                entries,
            ),
        )

    def request(self, name: str) -> RequestView:
        return RequestView(
            name,
            tuple(self.tokens[name]),
            len(self.tokens[name]),
            self.stored[name],
            self.pending.get(name),
            tuple(self.tables[name]),
            self.settings.prompt_length,
        )

    def block(self, block: int) -> BlockView:
        size = range(self.settings.block_size)
        return BlockView(block, self.refs(block), tuple(self.slot(block, o) for o in size))

    def slot(self, block: int, offset: int) -> SlotView:
        old = self.bytes.get((block, offset))
        if not self.refs(block):
            if old is None:
                return SlotView("free", (), None, None, False)
            return SlotView("stale", (), old[0], old[1], False)
        owners, position = self.owners(block, offset)
        stored = tuple(name for name in owners if position < self.stored[name])
        if stored and old is not None:
            return SlotView("stored", stored, position, old[1], (block, offset) in self.now)
        return SlotView("empty", owners, position, None, False)

    def owners(self, block: int, offset: int) -> tuple[tuple[str, ...], int]:
        found = [(n, t.index(block)) for n, t in self.tables.items() if block in t]
        return tuple(n for n, _ in found), found[0][1] * self.settings.block_size + offset

    def vector_ids(self) -> tuple[tuple[int | None, ...], ...]:
        size = range(self.settings.block_size)
        none = (None, None, None)
        return tuple(
            tuple(self.bytes.get((block, offset), none)[2] for offset in size)
            for block in range(self.settings.num_blocks)
        )

    def attention(self, name: str) -> tuple[AttentionView, ...]:
        return tuple(self.layer_attention(name, layer) for layer in range(LAYERS))

    def layer_attention(self, name: str, layer: int) -> AttentionView:
        length = self.stored[name]
        rng = np.random.default_rng(length * 10 + layer)
        scores = np.exp(rng.normal(size=(HEADS, length)) * 1.2)
        dense = (scores / scores.sum(axis=1, keepdims=True)).astype(np.float32)
        own = self.tables[name]
        return AttentionView(
            request=name,
            query_position=length - 1,
            context_length=length,
            layer=layer,
            block_ids=tuple(self.place(name, position)[0] for position in range(length)),
            positions_per_block=tuple(
                min(self.settings.block_size, length - start)
                for start in range(0, length, self.settings.block_size)
            ),
            paged=dense + np.float32(6e-8),
            dense=dense,
            max_abs_error_weights=1.2e-7,
            max_abs_error_output=6.1e-8,
            skipped_blocks=tuple(
                b for b in range(self.settings.num_blocks) if self.refs(b) and b not in own
            ),
            skipped_slots=len(own) * self.settings.block_size - length,
        )

    def lookups(self) -> tuple[LookupView, ...]:
        return tuple(
            self.lookup(name, position)
            for name in self.tables
            for position in range(self.stored[name])
        )

    def lookup(self, name: str, position: int) -> LookupView:
        logical, offset = divmod(position, self.settings.block_size)
        block = self.tables[name][logical]
        flat = block * self.settings.block_size + offset
        return LookupView(name, position, logical, offset, block, flat, 0.0, 0.0)


@dataclass
class Script:
    """Collects frames from a toy; ``frame`` closes the moment and starts the next."""

    toy: Toy
    frames: list[Frame] = field(default_factory=list)

    def frame(self, title: str, caption: str, attend: tuple[str, ...] = (), **more: Any) -> None:
        toy = self.toy
        attention = tuple(view for name in attend for view in toy.attention(name))
        shown = Frame(
            index=len(self.frames),
            title=title,
            caption=caption,
            facts=(),
            events=tuple(toy.events),
            state=toy.state(),
            contiguous=None,
            lookup=None,
            what_if=None,
            attention=attention or None,
            check=None,
            execution=None,
            worked_score=None,
            comparison=None,
            vector_ids=toy.vector_ids(),
        )
        self.frames.append(replace(shown, **more))
        toy.events, toy.now = [], set()

    def trace(self, slug: str, infeasible: str | None = None) -> Trace:
        shape = (0, 2, LAYERS, KV_HEADS, HEAD_DIM)
        vectors = np.stack(self.toy.vectors) if self.toy.vectors else np.zeros(shape, np.float32)
        runtime = Runtime("cpu", "triton-interpreter", None, "a made-up model")
        frames, layers = tuple(self.frames), tuple(range(LAYERS))
        return Trace(slug, None, self.toy.settings, runtime, infeasible, frames, layers, vectors)


def lesson(slug: str = "growth", title: str = "Growth") -> Lesson:
    question = "B generates two more tokens. When does it need another block?"
    return Lesson(slug, 1, None, title, question, "A takeaway.", 7, (), {}, lambda recorder: None)


def growth(settings: Settings | None = None) -> Trace:
    """B grows from its prompt by decoding, C is held: a new block is taken when one is needed."""
    settings = settings or Settings()
    toy = Toy(settings)
    script = Script(toy)
    n = settings.prompt_length
    if settings.num_blocks == 0:
        toy.waiting = ["B", "C"]
        script.frame("No block", "B and C cannot be admitted: there is no block at all.")
        return script.trace("growth", "No block fits into this capacity.")
    toy.admit("B", ROMEO[:n])
    toy.admit("C", JULIET[:n])
    script.frame("Admitted", "B and C have been given blocks. Nothing is stored yet.")
    toy.store("B")
    toy.store("C")
    toy.pending |= {"B": ROMEO[n], "C": " "}
    script.frame(
        "Stored",
        "One execution stored the K and V of both prompts. B’s L0 is in P3 and C’s L0 in P1.",
        attend=("B", "C"),
        execution=ExecutionView((InputCount("B", n, 0, 0), InputCount("C", n, 0, 0)), 2 * n, 16),
    )
    for step in range(3):
        decode(script, "B", ROMEO[n + step], ROMEO[n + step + 1])
    return script.trace("growth")


def decode(script: Script, name: str, token: str, following: str) -> None:
    """A check, then one execution of a single input."""
    toy, size = script.toy, script.toy.settings.block_size
    tokens = len(toy.tokens[name])
    empty = len(toy.tables[name]) * size - tokens
    needed = 0 if empty else 1
    logical, offset = divmod(tokens, size)
    fits = needed <= len(toy.free)
    check = Check(name, 1, tokens, logical, offset, 0, empty, needed, len(toy.free), fits)
    script.frame(
        f"{name}’s check",
        f"{name} is to process position {tokens}. Its last block has {empty} empty slots.",
        check=check,
    )
    toy.append(name, token)
    toy.store(name)
    toy.pending[name] = following
    block = toy.tables[name][-1]
    script.frame(
        f"Position {tokens} is stored",
        f"The new K and V went into P{block}, which {name}’s block table lists as "
        f"L{len(toy.tables[name]) - 1} → P{block}. Nothing was moved; C still has its blocks, and "
        "the output that was selected is pending.",
        attend=(name,),
        execution=ExecutionView((InputCount(name, 1, tokens, offset),), 1, 16),
    )


def copy_on_write(settings: Settings | None = None) -> Trace:
    """Two responses share a prompt, split when each writes, and end one after the other."""
    toy = Toy(settings or Settings(), free_order=())
    script = Script(toy)
    n = toy.settings.prompt_length
    toy.admit("R1", TO_BE[:n])
    toy.store("R1")
    toy.fork("R1", "R2")
    toy.pending |= {"R1": " ", "R2": "a"}
    script.frame(
        "One prompt, two responses",
        "R1 and R2 both have L0 → P0 and L1 → P1. Both blocks have a ref count of 2.",
        attend=("R1", "R2"),
    )
    script.frame(
        "What if both wrote there?",
        "Both next inputs want the third slot of P1.",
        what_if=clash(toy),
    )
    toy.append("R1", " ")
    toy.store("R1")
    toy.pending["R1"] = "o"
    script.frame(
        "R1 writes: P1 is copied",
        "P1 had a ref count of 2, so it was copied to P2 first: copy-on-write. R1’s L1 → P2. "
        "P1’s ref count went from 2 to 1.",
        attend=("R1",),
    )
    toy.append("R2", "a")
    toy.store("R2")
    toy.pending["R2"] = "t"
    script.frame("R2 writes in place", "R2 owns P1 alone: no copy.", attend=("R2",))
    toy.end("R1")
    script.frame("R1 ends", "P2 returns; P0’s ref count falls from 2 to 1.")
    toy.end("R2")
    toy.waiting = ["D"]
    script.frame("R2 ends", "All blocks are free, with old bytes in them. D waits.")
    toy.waiting = []
    toy.admit("D", ROMEO[:4])
    toy.store("D")
    script.frame("D is given returned blocks", "D’s K and V overwrite old ones.", attend=("D",))
    return script.trace("copy-on-write")


def given_again() -> Trace:
    """R1 ends, and D is given a block with R1's old bytes in every slot."""
    script = Script(Toy(Settings(), free_order=()))
    toy = script.toy
    toy.admit("R1", TO_BE[:4])
    toy.store("R1")
    script.frame("R1 is stored", "R1 holds P0.")
    toy.end("R1")
    script.frame("R1 ends", "P0 is free, and nothing in it is erased.")
    toy.admit("D", ROMEO[:3])
    script.frame("D is admitted", "D holds P0; nothing of D is stored yet.")
    return script.trace("freeing")


def clash(toy: Toy) -> WhatIf:
    """Both responses would write different K and V into one slot of the shared block."""
    block = toy.tables["R1"][-1]
    first = (len(toy.tables["R1"]) - 1) * toy.settings.block_size
    wanted = len(toy.tokens["R1"])
    cells = []
    for slot_offset, slot in enumerate(toy.block(block).slots):
        position = first + slot_offset
        hit = position == wanted
        cells.append(
            WhatIfCell(
                block_id=block,
                offset=slot_offset,
                state=slot.state,
                owners=slot.owners,
                position=slot.position,
                token=slot.token,
                wanted_by=("R1", "R2") if hit else (),
                wanted_position=wanted if hit else None,
                wanted_tokens=(" ", "a") if hit else (),
                wrong=hit,
            )
        )
    return WhatIf(
        "both-write",
        "R1",
        f"both wrote into P{block}",
        f"One slot of P{block} cannot hold the K and V of R1 and of R2.",
        (),
        tuple(cells),
        num_wrong=1,
    )


def reserve(settings: Settings | None = None) -> Trace:
    """B reserves its maximum in one piece and C is refused; in blocks both fit."""
    settings = settings or Settings()
    toy = Toy(settings)
    script = Script(toy)
    n = settings.prompt_length
    reserved = n + 14
    strip = ContiguousView(
        settings.capacity,
        (ReservationView("B", 0, reserved, n, tuple(ROMEO[:n])),),
        settings.capacity - reserved,
        (),
    )
    toy.admit("B", ROMEO[:n])
    toy.store("B")
    script.frame("B reserves", f"B stores {n} and reserves {reserved}.", ("B",), contiguous=strip)
    strip = replace(strip, refused=("C",))
    toy.events.append(ev.RequestRefused("C", n, strip.free_slots, 24, "wait", "slots"))
    toy.waiting = ["C"]
    check = Check("C", n, 0, 0, 0, 0, 0, 2, len(toy.free), True)
    script.frame("C’s check", "C does not fit in one piece.", contiguous=strip, check=check)
    toy.waiting = []
    toy.admit("C", JULIET[:n])
    script.frame("C is admitted", "C holds 2 blocks; nothing is stored yet.", contiguous=strip)
    toy.append("B", ROMEO[n])
    toy.store("B")
    toy.store("C")
    toy.pending |= {"B": "I", "C": ","}
    execution = ExecutionView((InputCount("B", 1, n, n % 4), InputCount("C", n, 0, 0)), n + 1, 16)
    script.frame(
        "One execution", "7 inputs at once.", ("B", "C"), contiguous=strip, execution=execution
    )
    return script.trace("reserve-or-allocate")


def lookups(settings: Settings | None = None) -> Trace:
    """Look-ups, a worked score and a comparison, one frame each."""
    toy = Toy(settings or Settings())
    script = Script(toy)
    toy.admit("B", ROMEO[:7])
    toy.admit("C", JULIET[:6])
    toy.store("B")
    toy.store("C")
    script.frame("Look up", "Position 6 of B: 6 ÷ 4 is 1, remainder 2.", lookup=toy.lookups())
    worked = WorkedScore("B", 0, 1, 0, 6, 2, 3, 2, 5.25, 0.1768, 0.928, 1.5, 4.2, 0.1344, 0.1344)
    script.frame("One score", "Q asks, K is matched.", ("B",), worked_score=worked)
    layers = tuple(LayerDifference(i, i * 0.7, i * 1.3) for i in range(LAYERS))
    comparison = Comparison(2, "u", ("Thus", "Chum"), layers)
    script.frame("Two beginnings", "The same character, other K and V.", comparison=comparison)
    return script.trace("block-table")


ALL = {
    "growth": growth,
    "copy-on-write": copy_on_write,
    "reserve-or-allocate": reserve,
    "block-table": lookups,
}
