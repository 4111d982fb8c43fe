"""A generation: texts, sharing, copies and frames, step by step and wherever it is stopped."""

from itertools import pairwise

import pytest
from generation_grid import every_choice

from pagedkv.events import BlockCopied
from pagedkv.generate import ChoiceError, Choices, Generation
from pagedkv.trace.as_json import trace_to_dict
from pagedkv.trace.errors import agree


@every_choice
def test_every_answer_gets_its_length_one_token_an_execution(generated, fields):
    generation = generated(**fields)
    choices = generation.choices
    assert generation.is_done
    assert [len(text) for text in generation.texts()] == [choices.length] * choices.num_answers
    assert [moment.number for moment in generation.moments] == list(range(1, choices.length + 1))
    inputs = [moment.num_inputs for moment in generation.moments]
    assert inputs == [len(choices.prompt)] + [choices.num_answers] * (choices.length - 1)
    with pytest.raises(ValueError, match="has its"):
        generation.advance()


@every_choice
def test_what_is_counted_is_what_the_frames_show(generated, fields):
    generation = generated(**fields)
    for moment, frame in zip(generation.moments, generation.trace().frames, strict=True):
        assert moment.shared == frame.state.totals.blocks_in_use
        assert moment.unshared == frame.state.totals.table_entries
        copies = [
            (event.request, event.source, event.destination)
            for event in frame.events
            if isinstance(event, BlockCopied)
        ]
        assert [(c.request, c.source, c.destination) for c in moment.copies] == copies
        assert frame.execution.num_tokens == moment.num_inputs


@every_choice
def test_the_pool_suffices_and_is_full_at_the_end(generated, fields):
    frames = generated(**fields).trace().frames
    assert frames[-1].state.totals.free_blocks == 0
    assert all(not frame.state.waiting for frame in frames)


@every_choice
def test_a_reservation_is_never_smaller_than_copies_of_everything(generated, fields):
    moments = generated(**fields).moments
    assert len({moment.reserved for moment in moments}) == 1
    assert all(m.shared <= m.unshared <= m.reserved for m in moments)


@every_choice
def test_frames_hold_texts_pending_tokens_and_right_attention(generated, fields):
    generation = generated(**fields)
    for number, frame in enumerate(generation.trace().frames):
        assert [request.name for request in frame.state.requests] == list(generation.choices.names)
        for request, text in zip(frame.state.requests, generation.texts(), strict=True):
            assert "".join(request.tokens) == generation.choices.prompt + text[:number]
            assert request.pending_token == text[number]
        assert agree(view.max_abs_error_output for view in frame.attention)


@every_choice
def test_a_trace_can_be_written_as_json(generated, fields):
    written = trace_to_dict(generated(**fields).trace())
    assert written["config"]["capacity"] >= len(generated(**fields).choices.prompt)


def test_all_but_the_last_writer_copy_the_shared_block_once(generated):
    generation = generated(num_answers=4, length=6)  # 46 positions: two in the last block
    assert [len(moment.copies) for moment in generation.moments] == [0, 3, 0, 0, 0, 0]
    copies = generation.moments[1].copies
    assert [copy.request for copy in copies] == ["R1", "R2", "R3"]
    assert len({copy.source for copy in copies}) == 1
    assert len({copy.destination for copy in copies}) == 3


def test_a_prompt_that_fills_its_blocks_is_never_copied(generated):
    generation = generated(num_answers=3, length=5, block_size=2)
    assert not any(moment.copies for moment in generation.moments)


def test_the_same_choices_give_the_same_answers_and_another_seed_gives_others(generated, model):
    generation = generated(num_answers=4, length=6)
    again = Generation(generation.choices, model)
    assert list(again.steps()) == generation.moments
    assert again.texts() == generation.texts()
    assert generated(num_answers=4, length=6, seed=1).texts() != generation.texts()
    assert len(set(generation.texts())) == 4


def test_an_answer_does_not_depend_on_how_many_there_are_beside_it(generated):
    alone = generated(num_answers=1, length=6).texts()
    assert generated(num_answers=4, length=6).texts()[:1] == alone


def test_where_blocks_end_changes_no_character(generated):
    texts = {generated(num_answers=2, length=6, block_size=size).texts() for size in (3, 4, 16)}
    assert len(texts) == 1


def test_at_temperature_zero_all_answers_are_equal(generated):
    assert len(set(generated(num_answers=3, length=5, temperature=0.0).texts())) == 1


def test_a_run_that_is_stopped_has_what_it_made(generated, model):
    whole = generated(num_answers=4, length=6)
    stopped = Generation(whole.choices, model)
    assert (stopped.texts(), stopped.moments) == (("",) * 4, [])
    steps = stopped.steps()
    for _ in range(3):
        next(steps)
    steps.close()
    assert not stopped.is_done
    assert stopped.texts() == tuple(text[:3] for text in whole.texts())
    assert stopped.moments == whole.moments[:3]
    assert len(stopped.trace().frames) == 3
    assert [len(answer.token_ids) for answer in stopped.answers()] == [3] * 4


def test_answers_keep_the_logits_that_they_were_chosen_from(generated):
    for answer in generated(num_answers=4, length=6, temperature=0.0).answers():
        assert answer.logits.shape == (6, 62)
        assert answer.logits.argmax(1).tolist() == list(answer.token_ids)


def test_the_pace_is_tokens_by_the_time_of_the_executions(model):
    times = iter(range(100))
    generation = Generation(
        Choices(num_answers=3, length=2), model, clock=lambda: next(times) * 2.0
    )
    assert generation.pace.tokens_per_second == 0
    for _ in generation.steps():
        pass
    assert (generation.pace.num_tokens, generation.pace.seconds) == (6, 4.0)
    assert generation.pace.tokens_per_second == 1.5


def test_a_prompt_that_the_model_does_not_know_is_refused_at_once(model):
    with pytest.raises(ChoiceError, match="'@'"):
        Generation(Choices(prompt="a@b"), model)


def test_titles_count_executions(generated):
    titles = [frame.title for frame in generated(num_answers=4, length=6).trace().frames]
    assert [title.split(":")[0] for title in titles] == [f"Execution {n}" for n in range(1, 7)]
    assert all(one != other for one, other in pairwise(titles))
