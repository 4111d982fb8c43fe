"""Requests with characters: what becomes of a selected token, and what is refused."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import get_args

import pytest
import torch

import kernels
from pagedkv.block_manager import OutOfBlocks
from pagedkv.cache import NotStoredError
from pagedkv.engine import ContextFullError, Engine, NoLogitsError, NothingPendingError
from pagedkv.events import Event, RequestRefused, TokenSelected
from pagedkv.model import CharGPT, ModelConfig, load_model, tokenizer
from pagedkv.model.train import dense_causal_attend

DEVICE = kernels.runtime()["device"]


@pytest.fixture(scope="module")
def model() -> CharGPT:
    return load_model(DEVICE)


@pytest.fixture
def engine(model) -> Engine:
    return Engine(model, block_size=4, num_blocks=6)


def started(engine: Engine, name: str = "B", prompt: str = "ROMEO:") -> Engine:
    engine.admit(name, prompt)
    engine.execute(name)
    return engine


def what_is(engine: Engine) -> object:
    """All that a refusal must leave alone."""
    cache = engine.cache
    names = engine.requests
    return (
        cache.k_cache.cpu().numpy().tobytes(),
        [(n, engine.text(n), engine.pending_token(n), cache.num_stored(n)) for n in names],
        [cache.manager.block_table(name) for name in names],
        cache.manager.free_blocks,
        [len(engine.reference.keys(name, 0)) for name in names if cache.num_stored(name)],
        {name: len(records) for name, records in engine.attention.items()},
    )


def test_an_admitted_request_has_its_text_and_nothing_pending(engine):
    engine.admit("B", "ROMEO:")
    assert engine.requests == ("B",)
    assert engine.text("B") == "ROMEO:"
    assert engine.pending_token("B") is None
    assert engine.cache.num_stored("B") == 0


def test_a_selected_token_is_pending_without_slot_or_kv(engine):
    started(engine)
    token = engine.select("B")
    assert engine.pending_token("B") == token
    assert engine.text("B") == "ROMEO:"
    assert engine.cache.manager.num_tokens("B") == engine.cache.num_stored("B") == 6


def test_appending_makes_the_pending_token_the_next_input_with_a_slot_and_no_kv(engine):
    started(engine)
    token = engine.select("B")
    assert engine.append("B").positions == (6,)
    assert engine.pending_token("B") is None
    assert engine.text("B") == "ROMEO:" + token
    assert (engine.cache.manager.num_tokens("B"), engine.cache.num_stored("B")) == (7, 6)


def test_executing_stores_it_and_allows_the_next_selection(engine):
    started(engine)
    engine.select("B")
    engine.append("B")
    engine.execute("B")
    assert engine.cache.num_stored("B") == 7
    assert engine.pending_token("B") is None
    engine.select("B")


def test_each_selection_is_the_likeliest_token_after_the_whole_text(engine, model):
    """The network without a cache says which; logits of an earlier input would not do."""
    started(engine)
    for _ in range(4):
        ids = torch.tensor(tokenizer.encode(engine.text("B")), device=DEVICE)
        logits = model(ids, torch.arange(len(ids), device=DEVICE), dense_causal_attend)
        assert tokenizer.encode(engine.select("B")) == [int(logits[-1].argmax())]
        engine.append("B")
        engine.execute("B")


def test_a_refused_append_keeps_the_token_pending(model):
    engine = started(Engine(model, block_size=3, num_blocks=2))
    token = engine.select("B")
    before = what_is(engine)
    with pytest.raises(OutOfBlocks):
        engine.append("B")
    assert engine.pending_token("B") == token
    assert what_is(engine) == before


def test_rank_0_is_the_likeliest_token_and_rank_1_the_next(engine):
    started(engine)
    logits = engine._requests["B"].logits
    likeliest = [engine.select("B", rank=rank) for rank in range(3)]
    ids = [tokenizer.encode(token)[0] for token in likeliest]
    assert ids == torch.topk(logits, 3).indices.tolist()
    assert len(set(likeliest)) == 3


def test_equal_logits_are_ranked_by_token_id_everywhere(engine):
    started(engine)
    engine._requests["B"].logits = torch.zeros(tokenizer.VOCAB_SIZE)
    chosen = [engine.select("B", rank=rank) for rank in range(tokenizer.VOCAB_SIZE)]
    assert "".join(chosen) == tokenizer.VOCABULARY


def test_a_chosen_tokens_rank_is_the_one_by_which_it_would_be_selected(model):
    announced = []
    engine = started(Engine(model, block_size=4, num_blocks=6, on_event=announced.append))
    logits = torch.zeros(tokenizer.VOCAB_SIZE)
    logits[[7, 9]], logits[3] = 1.0, -1.0
    engine._requests["B"].logits = logits
    announced.clear()
    for token_id in range(tokenizer.VOCAB_SIZE):
        engine.choose("B", token_id)
    assert [(announced[i].rank) for i in (7, 9, 0, 1, 3)] == [0, 1, 2, 3, 61]
    assert [engine.select("B", event.rank) for event in announced[:62]] == list(
        tokenizer.VOCABULARY
    )


def test_selecting_again_replaces_the_pending_token(engine):
    started(engine)
    first, second = engine.select("B"), engine.select("B", rank=1)
    assert first != second == engine.pending_token("B")


@pytest.mark.parametrize("rank", [-1, 62, 1.0, True, None])
def test_a_rank_outside_the_vocabulary_is_refused(engine, rank):
    started(engine)
    with pytest.raises(ValueError, match="rank must be a whole number from 0 to 61"):
        engine.select("B", rank=rank)
    assert engine.pending_token("B") is None


def test_nothing_can_be_selected_before_the_first_execution(engine):
    engine.admit("B", "ROMEO:")
    with pytest.raises(NoLogitsError, match="'B' has no logits"):
        engine.select("B")


def test_nothing_can_be_selected_between_append_and_execution(engine):
    """The logits of the input before would give the same token once more."""
    started(engine)
    engine.select("B")
    engine.append("B")
    before = what_is(engine)
    with pytest.raises(NoLogitsError, match="'B' has no logits"):
        engine.select("B")
    assert what_is(engine) == before
    engine.execute("B")
    engine.select("B")


def test_nothing_can_be_appended_that_was_not_selected(engine):
    started(engine)
    before = what_is(engine)
    with pytest.raises(NothingPendingError, match="'B' has no pending token"):
        engine.append("B")
    assert what_is(engine) == before


def test_a_fork_starts_with_the_parents_text_and_logits_and_selects_for_itself(engine):
    started(engine)
    engine.select("B")
    engine.fork("B", "R2")
    assert engine.text("R2") == "ROMEO:"
    assert engine.pending_token("R2") is None
    assert engine.select("R2") == engine.pending_token("B")


def test_forks_grow_apart_in_pool_and_reference(engine):
    started(engine)
    engine.fork("B", "R2")
    engine.select("B")
    engine.select("R2", rank=1)
    for name in ("B", "R2"):
        engine.append(name)
    engine.execute("B", "R2")
    errors = [
        (record.paged.out - record.dense.out).abs().max()
        for name in ("B", "R2")
        for record in engine.attention[name]
    ]
    assert len(errors) == 6 and max(errors) < 1e-5
    assert engine.text("B") != engine.text("R2")


def test_a_request_cannot_be_forked_while_an_input_waits_for_its_kv(engine):
    started(engine)
    engine.select("B")
    engine.append("B")
    before = what_is(engine)
    with pytest.raises(NotStoredError, match="6 of its 7 positions"):
        engine.fork("B", "R2")
    assert what_is(engine) == before


def test_a_finished_request_is_gone_everywhere(engine):
    started(engine)
    engine.finish("B")
    assert engine.requests == engine.cache.manager.requests == ()
    assert engine.attention == {}
    assert engine.cache.manager.num_free_blocks == 6
    with pytest.raises(ValueError, match="got 'B'"):
        engine.finish("B")
    started(engine)  # the name is free again, and the reference begins anew
    assert len(engine.reference.keys("B", 0)) == 6


def test_a_request_can_end_before_it_was_ever_executed(engine):
    before = what_is(engine)
    engine.admit("B", "ROMEO:")
    engine.finish("B")
    assert engine.requests == engine.cache.manager.requests == ()
    assert what_is(engine) == before


@pytest.mark.parametrize(
    "ask",
    [
        lambda engine: engine.text("X"),
        lambda engine: engine.last_attention("X", 0),
        lambda engine: engine.pending_token("X"),
        lambda engine: engine.append("X"),
        lambda engine: engine.execute("B", "X"),
        lambda engine: engine.select("X"),
        lambda engine: engine.finish("X"),
        lambda engine: engine.fork("X", "Y"),
    ],
)
def test_an_unknown_name_is_refused_with_those_that_are_known(engine, ask):
    started(engine)
    engine.select("B")
    engine.append("B")
    before = what_is(engine)
    with pytest.raises(ValueError, match=r"\(now: B\), got 'X'"):
        ask(engine)
    assert what_is(engine) == before


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("", "num_tokens must be a whole number of at least 1, got 0"),
        ("Roméo", "outside the vocabulary: 'é'"),
        ("a" * 25, "needs 7 blocks, 6 of 6 are free: it never fits"),
    ],
)
def test_a_prompt_that_cannot_be_served_is_refused_and_leaves_no_trace(engine, prompt, message):
    before = what_is(engine)
    with pytest.raises((ValueError, OutOfBlocks), match=message):
        engine.admit("B", prompt)
    assert what_is(engine) == before


def test_a_request_without_anything_to_process_is_refused_before_others_are_processed(engine):
    started(engine)
    engine.admit("C", "JULIET")
    before = what_is(engine)
    with pytest.raises(ValueError, match="'B' has no input to process"):
        engine.execute("C", "B")
    assert what_is(engine) == before


def test_an_execution_of_nobody_is_refused_with_those_who_have_inputs(engine):
    with pytest.raises(ValueError, match=r"at least one request .* \(now: none\), got none"):
        engine.execute()
    started(engine)
    engine.admit("C", "JULIET")
    before = what_is(engine)
    with pytest.raises(ValueError, match=r"at least one request .* \(now: C\), got none"):
        engine.execute()
    assert what_is(engine) == before


def test_a_request_named_twice_is_processed_once(engine):
    engine.admit("B", "ROMEO:")
    engine.execute("B", "B")
    assert engine.cache.num_stored("B") == len(engine.reference.keys("B", 2)) == 6
    assert len(engine.attention["B"]) == 6 * 3


def test_an_execution_that_died_midway_can_be_repeated(engine, model, monkeypatch):
    """The reference must not keep what the first try gave it."""
    engine.admit("B", "ROMEO:")
    with monkeypatch.context() as broken:
        broken.setattr(model.layers[1], "forward", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            engine.execute("B")
    engine.execute("B")
    assert [len(engine.reference.keys("B", layer)) for layer in range(3)] == [6, 6, 6]
    assert max((r.paged.out - r.dense.out).abs().max() for r in engine.attention["B"]) < 1e-5


def test_an_execution_over_the_token_budget_is_refused_and_one_that_fills_it_is_not(model):
    engine = Engine(model, block_size=4, num_blocks=6, token_budget=7)
    started(engine)
    engine.admit("C", "JULIET")
    engine.admit("D", "No")
    before = what_is(engine)
    with pytest.raises(ValueError, match="an execution takes 7 inputs at most, got 8"):
        engine.execute("C", "D")
    assert what_is(engine) == before
    engine.select("B")
    engine.append("B")
    engine.execute("B", "C")
    assert [engine.cache.num_stored(name) for name in ("B", "C", "D")] == [7, 6, 0]


def test_two_of_the_longest_prompts_fit_into_the_usual_budget(model):
    engine = Engine(model, block_size=32, num_blocks=5)
    for name in ("B", "C"):
        engine.admit(name, "a" * 64)
    engine.execute("B", "C")
    assert engine.token_budget == 128


@pytest.mark.parametrize("token_budget", [0, -1, 1.5, True, None])
def test_a_token_budget_is_a_whole_number_of_at_least_1(model, token_budget):
    with pytest.raises(ValueError, match="token_budget must be a whole number of at least 1"):
        Engine(model, block_size=4, num_blocks=6, token_budget=token_budget)


def test_a_position_past_the_models_context_is_refused_by_name_and_the_last_one_is_not():
    torch.manual_seed(0)
    model = CharGPT(ModelConfig(num_layers=1, channels=32, head_dim=8, context=8))
    engine = Engine(model.to(DEVICE).requires_grad_(False), block_size=4, num_blocks=4)
    started(engine, prompt="ROMEO:\n")
    engine.select("B")
    engine.append("B")
    engine.execute("B")
    engine.select("B")
    before = what_is(engine)
    with pytest.raises(ContextFullError, match=r"'B' cannot have 9 positions; .* context has 8"):
        engine.append("B")
    assert what_is(engine) == before


def test_a_prompt_of_257_characters_is_refused_by_name(model):
    engine = Engine(model, block_size=32, num_blocks=9)
    with pytest.raises(ContextFullError, match=r"'B' cannot have 257 positions.* context has 256"):
        engine.admit("B", "a" * 257)
    assert engine.requests == ()
    assert engine.cache.manager.num_free_blocks == 9


def test_attention_records_are_those_of_the_last_execution(engine):
    started(engine)
    assert [record.position for record in engine.attention["B"]] == [0, 1, 2, 3, 4, 5] * 3
    engine.select("B")
    engine.append("B")
    engine.execute("B")
    assert [(r.position, r.layer) for r in engine.attention["B"]] == [(6, 0), (6, 1), (6, 2)]


def test_the_last_attention_is_that_of_the_last_input_in_one_layer(engine):
    started(engine)
    for layer in range(3):
        record = engine.last_attention("B", layer)
        assert (record.request, record.position, record.layer) == ("B", 5, layer)
    with pytest.raises(ValueError, match="layer must be a whole number from 0 to 2, got 3"):
        engine.last_attention("B", 3)
    engine.fork("B", "B2")
    with pytest.raises(ValueError, match="nothing of 'B2' was executed yet"):
        engine.last_attention("B2", 0)


def test_selection_is_announced_with_token_and_rank(model):
    events: list[Event] = []
    engine = started(Engine(model, block_size=4, num_blocks=6, on_event=events.append))
    token = engine.select("B", rank=1)
    assert events[-1] == TokenSelected("B", token, 1)


def commands(engine: Engine) -> Iterator[Callable[[], object]]:
    """One of each kind; R2 writes first, so that it copies a block."""
    yield lambda: engine.admit("R1", "To be,")
    yield lambda: engine.execute("R1")
    yield lambda: engine.select("R1")
    yield lambda: engine.fork("R1", "R2")
    yield lambda: engine.select("R2", rank=1)
    yield lambda: engine.append("R2")
    yield lambda: engine.append("R1")
    yield lambda: engine.execute("R1", "R2")
    yield lambda: engine.finish("R2")


def all_of(engine: Engine) -> object:
    """What a listener may look at, and whether its parts agree."""
    logits = {name: engine._requests[name].logits for name in engine.requests}
    return (
        what_is(engine),
        {name: None if row is None else row.tolist() for name, row in logits.items()},
        engine.requests == engine.cache.manager.requests,
        engine.cache.manager.check(),
    )


def test_a_listener_finds_the_whole_command_done_in_every_part(model):
    heard: list[tuple[Event, object]] = []
    engine = Engine(
        model, block_size=4, num_blocks=6, on_event=lambda e: heard.append((e, all_of(engine)))
    )
    kinds = set()
    for command in commands(engine):
        heard.clear()
        command()
        done = all_of(engine)
        assert [event for event, seen in heard if seen != done] == []
        kinds |= {type(event) for event, _ in heard}
    assert kinds == set(get_args(Event)) - {RequestRefused}


def test_a_listener_hears_of_a_refusal_and_finds_nothing_changed(model):
    heard: list[tuple[Event, object]] = []
    engine = Engine(
        model, block_size=4, num_blocks=1, on_event=lambda e: heard.append((e, all_of(engine)))
    )
    before = all_of(engine)
    with pytest.raises(OutOfBlocks):
        engine.admit("B", "ROMEO:")
    assert heard == [(RequestRefused("B", 2, 1, 1, "never fits"), before)]


def test_a_listener_hears_nothing_of_a_command_that_failed(model, monkeypatch):
    """What it announced so far never became true, or only in one part."""
    heard: list[Event] = []
    engine = started(Engine(model, block_size=4, num_blocks=6, on_event=heard.append), "R1")
    engine.fork("R1", "R2")
    engine.select("R1")
    heard.clear()
    monkeypatch.setattr(kernels, "copy_blocks", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        engine.append("R1")
    assert heard == []
    engine.select("R2")
    assert [type(event) for event in heard] == [TokenSelected]


class Deaf(Exception):
    """What the listener below raises."""


def test_a_listener_that_raises_leaves_the_command_done_and_the_engine_whole(model):
    complaints = []

    def complain(event: Event) -> None:
        complaints.append(event)
        raise Deaf

    loud = Engine(model, block_size=4, num_blocks=6, on_event=complain)
    quiet = Engine(model, block_size=4, num_blocks=6)
    for step, same in zip(commands(loud), commands(quiet), strict=True):
        with suppress(Deaf):
            step()
        same()
        assert all_of(loud) == all_of(quiet)
    assert len(complaints) == 8  # one a command; R1's append in place announces nothing
