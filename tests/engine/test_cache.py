"""The paged cache with random K and V, beside a dict of lists that says what must be where."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from pagedkv.batch import Batch, Row
from pagedkv.block_manager import BlockManager, OutOfBlocks
from pagedkv.cache import CacheConfig, NotStoredError, PagedKVCache
from pagedkv.events import AttentionComputed, BlockCopied, Event, SlotsWritten

NUM_LAYERS, NUM_HEADS, NUM_KV_HEADS, HEAD_DIM = 2, 4, 2, 8
QUESTIONS = [
    ("num_blocks",),
    ("block_size",),
    ("num_free_blocks",),
    ("free_blocks",),
    ("ref_count", 1),
    ("requests",),
    ("num_tokens", "R2"),
    ("block_table", "R2"),
    ("locate", "R2", 5),
    ("blocks_needed_to_admit", 9),
    ("can_admit", 24),
    ("blocks_needed_to_append", "R1", 3),
    ("can_append", "R1", 18),
]
Vector = tuple[torch.Tensor, torch.Tensor]  # K and V of a position, [layers, kv_heads, head_dim]


def make_cache(block_size: int = 4, num_blocks: int = 6, **options) -> PagedKVCache:
    config = CacheConfig(NUM_LAYERS, NUM_KV_HEADS, HEAD_DIM, block_size, num_blocks)
    return PagedKVCache(config, **options)


class Twin:
    """The cache, and the same K and V kept in lists: ``vectors[name][position]``."""

    def __init__(self, cache: PagedKVCache, seed: int = 0) -> None:
        self.cache = cache
        self.vectors: dict[str, list[Vector]] = {}
        self._random = torch.Generator().manual_seed(seed)

    def draw(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=self._random).to(self.cache.device)

    def store(self, *names: str) -> None:
        """Write K and V for all that these requests have allocated and not stored."""
        batch = self.cache.pending_batch(names)
        key = self.draw(NUM_LAYERS, len(batch.rows), NUM_KV_HEADS, HEAD_DIM)
        value = self.draw(NUM_LAYERS, len(batch.rows), NUM_KV_HEADS, HEAD_DIM)
        for layer in range(NUM_LAYERS):
            self.cache.write(layer, batch, key[layer], value[layer])
        self.cache.commit(batch)
        for i, row in enumerate(batch.rows):
            self.vectors.setdefault(row.request, []).append((key[:, i], value[:, i]))

    def fork(self, parent: str, child: str) -> None:
        self.cache.fork(parent, child)
        self.vectors[child] = list(self.vectors[parent])

    def free(self, name: str) -> None:
        self.cache.free(name)
        self.vectors.pop(name, None)

    def in_pool(self, name: str) -> Iterator[Vector]:
        """What the pool holds for each stored position, found through the table."""
        for position in range(self.cache.num_stored(name)):
            place = self.cache.manager.locate(name, position)
            yield (
                self.cache.k_cache[:, place.block_id, place.offset],
                self.cache.v_cache[:, place.block_id, place.offset],
            )

    def check(self) -> None:
        assert self.cache.check() == []
        for name, vectors in self.vectors.items():
            for (k, v), (pool_k, pool_v) in zip(vectors, self.in_pool(name), strict=True):
                assert torch.equal(k, pool_k) and torch.equal(v, pool_v)


def softmax_attention(
    query: torch.Tensor, vectors: list[Vector], layer: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention in float64, head by head: ``query`` is [num_heads, head_dim]."""
    out, weights = [], []
    for head in range(NUM_HEADS):
        kv_head = head // (NUM_HEADS // NUM_KV_HEADS)
        keys = torch.stack([k[layer, kv_head] for k, _ in vectors]).double()  # [n, head_dim]
        values = torch.stack([v[layer, kv_head] for _, v in vectors]).double()
        w = torch.softmax(keys @ query[head].double() / HEAD_DIM**0.5, dim=0)
        weights.append(w)
        out.append(w @ values)
    return torch.stack(out), torch.stack(weights)


def frozen(cache: PagedKVCache) -> tuple[object, ...]:
    """All that a refusal must leave alone, the bytes of both tensors included."""
    manager = cache.manager
    return (
        cache.k_cache.cpu().numpy().tobytes(),
        cache.v_cache.cpu().numpy().tobytes(),
        {name: manager.block_table(name) for name in manager.requests},
        {name: (manager.num_tokens(name), cache.num_stored(name)) for name in manager.requests},
        [manager.ref_count(block_id) for block_id in range(manager.num_blocks)],
        manager.free_blocks,
    )


@pytest.fixture
def twin() -> Twin:
    return Twin(make_cache())


def test_slots_that_were_never_written_hold_nan(twin):
    twin.cache.admit("B", 6)
    twin.store("B")
    assert torch.isnan(twin.cache.k_cache[:, 1, 2:]).all()
    assert torch.isnan(twin.cache.v_cache[:, 2:]).all()
    assert torch.isfinite(twin.cache.k_cache[:, 0]).all()


def test_admitting_gives_space_and_stores_nothing(twin):
    twin.cache.admit("B", 6)
    assert (twin.cache.manager.num_tokens("B"), twin.cache.num_stored("B")) == (6, 0)
    assert torch.isnan(twin.cache.k_cache).all() and torch.isnan(twin.cache.v_cache).all()


def test_written_k_and_v_are_found_through_the_table_in_every_layer(twin):
    twin.cache.admit("B", 6)
    twin.cache.admit("C", 5)
    twin.store("C", "B")
    twin.check()
    assert (twin.cache.num_stored("B"), twin.cache.num_stored("C")) == (6, 5)


def test_a_pending_batch_has_a_row_for_each_allocated_position_that_is_not_stored(twin):
    twin.cache.admit("B", 6)
    twin.store("B")
    twin.cache.append("B")
    twin.cache.admit("C", 2)
    batch = twin.cache.pending_batch(["B", "C"])
    assert [(row.request, row.position) for row in batch.rows] == [("B", 6), ("C", 0), ("C", 1)]
    assert batch.slot_mapping.tolist() == [6, 8, 9]
    assert batch.context_lens.tolist() == [7, 1, 2]
    assert batch.block_tables.tolist() == [[0, 1], [2, -1], [2, -1]]


def test_a_prompts_early_rows_do_not_name_the_later_blocks(twin):
    """Unused table entries are -1: what is not named cannot be read."""
    twin.cache.admit("B", 9)
    tables = twin.cache.pending_batch(["B"]).block_tables.tolist()
    assert tables[3] == [0, -1, -1]
    assert tables[4] == [0, 1, -1]
    assert tables[8] == [0, 1, 2]


@pytest.mark.parametrize("block_size", [1, 2, 3, 4, 5, 8, 16, 32])
def test_attention_equals_softmax_over_the_lists_with_nan_all_around(block_size):
    twin = Twin(make_cache(block_size, num_blocks=16, free_order=[*range(15, -1, -1)]))
    twin.cache.admit("B", 7)
    twin.cache.admit("C", 5)
    twin.store("B", "C")
    for name in ("B", "C"):
        twin.cache.append(name, 2)
    batch = twin.cache.pending_batch(["C", "B"])
    twin.store("C", "B")
    query = twin.draw(len(batch.rows), NUM_HEADS, HEAD_DIM)
    for layer in range(NUM_LAYERS):
        attended = twin.cache.attend(layer, batch, query)
        for i, row in enumerate(batch.rows):
            context = twin.vectors[row.request][: row.context_len]
            out, weights = softmax_attention(query[i], context, layer)
            assert (attended.out[i] - out).abs().max() < 1e-5
            assert (attended.weights[i, :, : row.context_len] - weights).abs().max() < 1e-5
            assert (attended.weights[i, :, row.context_len :] == 0).all()


def test_an_append_into_a_shared_block_copies_k_and_v_of_every_layer_first(twin):
    twin.cache.admit("R1", 6)
    twin.store("R1")
    twin.fork("R1", "R2")
    plan = twin.cache.append("R1")
    assert plan.copies == ((1, 2),)
    assert torch.equal(twin.cache.k_cache[:, 2, :2], twin.cache.k_cache[:, 1, :2])
    assert torch.equal(twin.cache.v_cache[:, 2, :2], twin.cache.v_cache[:, 1, :2])
    assert torch.isfinite(twin.cache.v_cache[:, 2, :2]).all()


def test_after_a_copy_each_request_has_its_own_next_position(twin):
    twin.cache.admit("R1", 6)
    twin.store("R1")
    twin.fork("R1", "R2")
    twin.cache.append("R1")
    twin.cache.append("R2")
    twin.store("R1", "R2")
    twin.check()
    assert not torch.equal(twin.vectors["R1"][6][0], twin.vectors["R2"][6][0])


def test_a_full_shared_block_is_never_copied(twin):
    twin.cache.admit("R1", 8)
    twin.store("R1")
    twin.fork("R1", "R2")
    assert twin.cache.append("R1").copies == twin.cache.append("R2").copies == ()
    twin.store("R1", "R2")
    twin.check()


def test_freed_blocks_keep_their_bytes_and_a_new_request_overwrites_them(twin):
    twin.cache.admit("B", 6)
    twin.store("B")
    old = [twin.cache.k_cache.clone(), twin.cache.v_cache.clone()]
    twin.free("B")
    for pool, before in zip((twin.cache.k_cache, twin.cache.v_cache), old, strict=True):
        assert torch.equal(pool.nan_to_num(), before.nan_to_num())
    twin.cache.admit("D", 5)
    twin.store("D")
    twin.check()
    assert torch.equal(twin.cache.k_cache[:, 1, 1], old[0][:, 1, 1])
    assert not torch.equal(twin.cache.k_cache[:, 1, 0], old[0][:, 1, 0])


def test_old_bytes_in_a_reused_block_change_no_attention(twin):
    twin.cache.admit("B", 8)
    twin.store("B")
    twin.free("B")
    twin.cache.admit("D", 5)
    batch = twin.cache.pending_batch(["D"])
    twin.store("D")
    query = twin.draw(5, NUM_HEADS, HEAD_DIM)
    attended = twin.cache.attend(1, batch, query)
    for i in range(5):
        out, _ = softmax_attention(query[i], twin.vectors["D"][: i + 1], layer=1)
        assert (attended.out[i] - out).abs().max() < 1e-5


def test_a_request_whose_positions_are_not_all_stored_cannot_be_forked(twin):
    twin.cache.admit("R1", 6)
    before = frozen(twin.cache)
    with pytest.raises(NotStoredError, match="0 of its 6 positions"):
        twin.cache.fork("R1", "R2")
    assert frozen(twin.cache) == before
    twin.store("R1")
    twin.cache.append("R1")
    with pytest.raises(NotStoredError, match="6 of its 7 positions"):
        twin.cache.fork("R1", "R2")
    assert twin.cache.manager.requests == ("R1",)


@pytest.mark.parametrize("action", ["admit", "append", "append many", "copy"])
def test_out_of_blocks_leaves_tensors_and_state_as_they_were(twin, action):
    twin.cache.admit("R1", 6)
    twin.store("R1")
    twin.cache.admit("C", 16)
    twin.store("C")
    if action == "copy":
        twin.fork("R1", "R2")
    before = frozen(twin.cache)
    with pytest.raises(OutOfBlocks):
        match action:
            case "admit":
                twin.cache.admit("D", 1)
            case "append":
                twin.cache.append("C")
            case "append many":
                twin.cache.append("R1", 3)
            case "copy":
                twin.cache.append("R1")
    assert frozen(twin.cache) == before
    twin.check()


@pytest.mark.parametrize(
    "ask",
    [
        lambda cache: cache.num_stored("E"),
        lambda cache: cache.append("E"),
        lambda cache: cache.free("E"),
        lambda cache: cache.fork("E", "F"),
        lambda cache: cache.fork("B", "B"),
        lambda cache: cache.pending_batch(["B", "E"]),
        lambda cache: cache.admit("B", 1),
        lambda cache: cache.admit("E", 0),
        lambda cache: cache.append("B", 0),
    ],
)
def test_unknown_and_taken_names_and_bad_numbers_are_refused_and_change_nothing(twin, ask):
    twin.cache.admit("B", 6)
    twin.store("B")
    before = frozen(twin.cache)
    with pytest.raises(ValueError, match=r"got|there is a request"):
        ask(twin.cache)
    assert frozen(twin.cache) == before


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("num_layers", 0, "num_layers must be a whole number of at least 1, got 0"),
        ("num_layers", -1, "num_layers must be a whole number of at least 1, got -1"),
        ("num_kv_heads", 0, "num_kv_heads must be a whole number of at least 1, got 0"),
        ("head_dim", 0, "head_dim must be a whole number from 1 to 256, got 0"),
        ("head_dim", 257, "head_dim must be a whole number from 1 to 256, got 257"),
        ("block_size", 2.0, "block_size must be a whole number of at least 1, got 2.0"),
        ("num_blocks", -1, "num_blocks must be a whole number of at least 0, got -1"),
        ("dtype", torch.float64, "dtype must be one of .*float32.*, got torch.float64"),
        ("dtype", torch.int32, "dtype must be one of .*bfloat16.*, got torch.int32"),
    ],
)
def test_a_geometry_that_cannot_be_is_refused_by_name_value_and_bound(field, value, message):
    right = CacheConfig(NUM_LAYERS, NUM_KV_HEADS, HEAD_DIM, 4, 6)
    with pytest.raises(ValueError, match=message):
        replace(right, **{field: value})


@pytest.mark.parametrize("layer", [-1, NUM_LAYERS, 1.0, True, None])
def test_a_layer_that_does_not_exist_is_neither_written_nor_read(twin, layer):
    twin.cache.admit("B", 6)
    batch = twin.cache.pending_batch(["B"])
    before = frozen(twin.cache)
    rows = twin.draw(6, NUM_KV_HEADS, HEAD_DIM)
    with pytest.raises(ValueError, match=f"layer must be a whole number from 0 to 1, got {layer}"):
        twin.cache.write(layer, batch, rows, rows)
    assert frozen(twin.cache) == before
    with pytest.raises(ValueError, match=f"layer must be a whole number from 0 to 1, got {layer}"):
        twin.cache.attend(layer, batch, twin.draw(6, NUM_HEADS, HEAD_DIM))


def test_k_and_v_of_a_wrong_shape_are_refused_before_anything_is_written(twin):
    twin.cache.admit("B", 6)
    batch = twin.cache.pending_batch(["B"])
    before = frozen(twin.cache)
    right, wrong = twin.draw(6, NUM_KV_HEADS, HEAD_DIM), twin.draw(5, NUM_KV_HEADS, HEAD_DIM)
    with pytest.raises(ValueError, match=r"v has shape \[5, 2, 8\]"):
        twin.cache.write(0, batch, right, wrong)
    assert frozen(twin.cache) == before


def test_a_pool_without_blocks_refuses_everybody(twin):
    cache = make_cache(num_blocks=0)
    with pytest.raises(OutOfBlocks, match="never fits"):
        cache.admit("B", 1)
    assert cache.k_cache.numel() == 0


def test_what_happened_is_announced_with_slots_and_positions():
    events: list[Event] = []
    twin = Twin(make_cache(on_event=events.append))
    twin.cache.admit("R1", 6)
    twin.store("R1")
    twin.fork("R1", "R2")
    twin.cache.append("R1")
    twin.store("R1")
    stored = [e for e in events if isinstance(e, SlotsWritten | BlockCopied | AttentionComputed)]
    assert stored == [  # nobody attended
        SlotsWritten("R1", (0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5)),
        BlockCopied("R1", 1, 2, (4, 5)),
        SlotsWritten("R1", (10,), (6,)),
    ]


def batch_stored_already(twin: Twin) -> Batch:
    batch = twin.cache.pending_batch(["B"])
    twin.store("B")
    twin.cache.append("B")
    twin.store("B")
    return batch


def batch_of_a_request_that_is_gone(twin: Twin) -> Batch:
    batch = twin.cache.pending_batch(["B"])
    twin.free("B")
    return batch


def batch_of_another_request_of_that_name(twin: Twin) -> Batch:
    batch = twin.cache.pending_batch(["B"])
    twin.free("B")
    twin.cache.admit("C", 1)
    twin.cache.admit("B", 6)
    return batch


def batch_that_begins_too_late(twin: Twin) -> Batch:
    batch = twin.cache.pending_batch(["B"])
    return replace(batch, rows=batch.rows[1:])


def batch_with_a_position_too_many(twin: Twin) -> Batch:
    batch = twin.cache.pending_batch(["B"])
    return replace(batch, rows=(*batch.rows, Row("B", 6, 6)))


@pytest.mark.parametrize(
    "make_batch",
    [
        batch_stored_already,
        batch_of_a_request_that_is_gone,
        batch_of_another_request_of_that_name,
        batch_that_begins_too_late,
        batch_with_a_position_too_many,
    ],
)
def test_only_rows_that_are_next_to_be_stored_can_be_committed(twin, make_batch):
    twin.cache.admit("B", 6)
    batch = make_batch(twin)
    before = frozen(twin.cache)
    with pytest.raises(ValueError, match="B"):
        twin.cache.commit(batch)
    assert frozen(twin.cache) == before


def test_one_bad_request_in_a_batch_leaves_all_the_others_unstored(twin):
    twin.cache.admit("B", 6)
    twin.cache.admit("C", 5)
    batch = twin.cache.pending_batch(["B", "C"])
    twin.free("C")
    with pytest.raises(ValueError, match="got 'C'"):
        twin.cache.commit(batch)
    assert twin.cache.num_stored("B") == 0


def test_the_first_part_of_what_waits_may_be_committed_alone(twin):
    twin.cache.admit("B", 6)
    batch = twin.cache.pending_batch(["B"])
    twin.cache.commit(replace(batch, rows=batch.rows[:4]))
    assert twin.cache.num_stored("B") == 4


def test_a_listener_finds_tables_counts_and_bytes_as_the_command_leaves_them():
    heard: list[tuple[Event, object]] = []
    twin = Twin(make_cache(on_event=lambda event: heard.append((event, frozen(twin.cache)))))
    for command in (
        lambda: twin.cache.admit("R1", 6),
        lambda: twin.store("R1"),
        lambda: twin.fork("R1", "R2"),
        lambda: twin.cache.append("R1"),  # copies
        lambda: twin.cache.append("R2", 3),
        lambda: twin.store("R1", "R2"),
        lambda: twin.free("R1"),
    ):
        heard.clear()
        command()
        assert heard
        assert [event for event, seen in heard if seen != frozen(twin.cache)] == []


def test_nobody_gets_past_the_cache_to_its_tables(twin):
    """A command given to the manager alone would move tables without their bytes and counts."""
    twin.cache.admit("R1", 6)
    twin.store("R1")
    twin.fork("R1", "R2")
    twin.cache.manager.append("R1")  # copies
    assert torch.equal(twin.cache.k_cache[:, 2, :2], twin.cache.k_cache[:, 1, :2])
    twin.cache.manager.admit("X", 3)
    assert twin.cache.num_stored("X") == 0
    with pytest.raises(AttributeError):
        twin.cache.manager = None


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question[0])
def test_the_cache_answers_the_managers_questions(twin, question):
    twin.cache.admit("R1", 6)
    twin.store("R1")
    twin.fork("R1", "R2")
    manager = BlockManager(6, 4)
    manager.admit("R1", 6)
    manager.fork("R1", "R2")
    name, *arguments = question
    answers = [getattr(whoever, name) for whoever in (twin.cache, manager)]
    if arguments:
        answers = [answer(*arguments) for answer in answers]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("block_size", [1, 3, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_random_operations_leave_what_a_dict_of_lists_holds(block_size, seed):
    choose = random.Random(seed)
    twin = Twin(make_cache(block_size, num_blocks=9), seed)
    names = [f"R{i}" for i in range(60)]
    for _ in range(60):
        alive = list(twin.vectors)
        action = choose.choice(["admit", "append", "append", "append", "fork", "free"])
        try:
            if action == "admit" or not alive:
                name = names.pop()
                twin.cache.admit(name, choose.randint(1, 7))
                twin.store(name)
            elif action == "append":
                growing = choose.sample(alive, k=min(len(alive), 2))
                appended = [name for name in growing if twin.cache.append(name)]
                twin.store(*appended)
            elif action == "fork":
                twin.fork(choose.choice(alive), names.pop())
            else:
                twin.free(choose.choice(alive))
        except OutOfBlocks:
            # One of two may have got its slot before the other was refused.
            waiting = [n for n in alive if twin.cache.manager.num_tokens(n) > len(twin.vectors[n])]
            if waiting:
                twin.store(*waiting)
        twin.check()
    assert len(names) < 55
