"""What the page says of a result is computed from it, whichever way it ends."""

import math
from dataclasses import replace

import pytest

from pagedkv.experiments import (
    FAULTS,
    find_fault,
    run_block_sizes,
    run_fault,
    run_poison,
    run_shuffle,
)
from pagedkv.experiments.captions import (
    effect_caption,
    fault_verdict,
    poison_caption,
    report_caption,
    shuffle_caption,
    sizes_caption,
    verdict,
)
from pagedkv.experiments.say_positions import say_positions
from pagedkv.trace.written import small


def test_a_verdict_says_who_agrees_and_up_to_what():
    assert verdict(True, "d 0").startswith("**The dense reference agrees**: d 0; up to 1.0e-05")
    assert verdict(False, "d 1").startswith("**The dense reference objects**: d 1; up to 1.0e-05")


def test_every_experiment_ends_in_a_verdict(scene_of, model):
    scene = scene_of(4)
    captions = [
        poison_caption(run_poison(scene)),
        shuffle_caption(run_shuffle(scene)),
        sizes_caption(run_block_sizes((1, 4), model=model)),
    ]
    assert all(caption.count("**The dense reference agrees**") == 1 for caption in captions)
    assert all("objects" not in caption for caption in captions)


def test_poison_tells_what_it_did_and_how_a_slip_would_show(scene_of):
    result = run_poison(scene_of(4))
    caption = poison_caption(result)
    assert f"{result.num_poisoned} of {result.num_slots} slots hold nothing in use" in caption
    assert "Filled with NaN, then with 10,000, the answer is bitwise the same." in caption
    assert small(result.difference_to_dense) in caption
    assert "the answer would be NaN" in caption


def test_poison_without_a_counter_check_says_why(scene_of):
    caption = poison_caption(run_poison(scene_of(1)))
    assert "There is no counter-check at this block size" in caption
    assert "would be NaN" not in caption


def test_poison_that_was_noticed_is_told(scene_of):
    result = replace(
        run_poison(scene_of(4)),
        large_is_identical=False,
        difference_to_dense=math.nan,
        one_too_far_is_nan=False,
    )
    caption = poison_caption(result)
    assert "the answer is **not the same**" in caption
    assert "**The dense reference objects**: largest difference of weights and outputs NaN" in (
        caption
    )
    assert "**The counter-check fails**" in caption


def test_shuffle_tells_before_dense_and_what_was_left_behind(scene_of):
    result = run_shuffle(scene_of(4))
    caption = shuffle_caption(result)
    assert "Largest difference to the answer before: 0, bitwise the same." in caption
    assert small(result.left_behind_difference) in caption
    failed = replace(result, is_identical=False, difference_to_before=0.5, difference_to_dense=0.5)
    assert "answer before: 0.5, **not the same**." in shuffle_caption(failed)
    assert "**The dense reference objects**" in shuffle_caption(failed)


def test_block_sizes_tell_how_far_apart_they_are(model):
    result = run_block_sizes((1, 4, 8), model=model)
    assert "The answers at 4 and 8 differ from the one at 1 by at most" in sizes_caption(result)
    assert small(result.difference_to_dense) in sizes_caption(result)
    assert "differ" not in sizes_caption(replace(result, sizes=result.sizes[:1])).split(";")[1]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.slug)
def test_a_fault_is_introduced_by_its_report_and_how_near_it_is(fault):
    caption = report_caption(fault)
    assert caption.startswith(fault.explanation)
    assert f" A report {fault.report.relation}: {fault.report.says} " in caption
    assert caption.endswith(f"[{fault.report.name}]({fault.report.url})")


def test_an_effect_names_positions_and_query_heads(scene_of):
    scene = scene_of(4)
    lost = effect_caption(run_fault(scene, find_fault("full-block-counted-as-empty")))
    assert lost.endswith("K or V were misread at positions 3, 7 and 11, for all 4 query heads.")
    heads = effect_caption(run_fault(scene, find_fault("wrong-kv-head")))
    assert heads.endswith("misread at positions 0 to 12, for query heads 1 and 2.")


def test_without_an_effect_the_reason_is_given(scene_of):
    result = run_fault(scene_of(1), find_fault("copy-missed"))
    caption = effect_caption(result)
    assert caption == f"{result.account} **Here this fault can do nothing.**"
    assert fault_verdict(result).startswith("**The dense reference agrees**")


def test_a_fault_is_judged_by_weights_and_outputs(scene_of):
    result = run_fault(scene_of(4), FAULTS[0])
    words = fault_verdict(result)
    assert words.startswith("**The dense reference objects**")
    assert f"of weights {small(result.weight_difference)}" in words
    assert f"of outputs {small(result.output_difference)}" in words
    assert "of outputs NaN" in fault_verdict(replace(result, output_difference=math.nan))


@pytest.mark.parametrize(
    ("positions", "words"),
    [
        ((7,), "position 7"),
        ((7, 8), "positions 7 and 8"),
        ((0, 1, 2), "positions 0 to 2"),
        ((3, 7, 11), "positions 3, 7 and 11"),
        ((7, 9, 10, 11, 12), "positions 7 and 9 to 12"),
    ],
)
def test_positions_are_named_in_runs(positions, words):
    assert say_positions(positions) == words
