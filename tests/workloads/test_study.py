"""Studies: what is varied, what stands beside the paper, and what is said of the difference."""

import dataclasses

import pytest
from workload_samples import workload_of

from pagedkv.workloads import POLICIES, Setup, Workload, make_workload
from pagedkv.workloads.compare import compared
from pagedkv.workloads.drawn import batch_lines, compared_rows, savings, share_bars, size_points
from pagedkv.workloads.paper import Certainty
from pagedkv.workloads.sentences import (
    finding_words,
    notes,
    progress_words,
    reasons,
    workload_words,
)
from pagedkv.workloads.study import KINDS, Findings, Study


def study(kind: str = "policies", workload: Workload | None = None, **more) -> Study:
    setup = more.pop("setup", Setup())
    recipe, rate = more.pop("recipe", "sharegpt"), more.pop("rate", None)
    made = make_workload(recipe, 600, 0, rate) if workload is None else workload
    if workload is not None:
        recipe = None
    return Study(kind, made, setup, policies=POLICIES, recipe=recipe, rate=rate)


def findings(kind: str = "policies", workload: Workload | None = None, **more) -> Findings:
    asked = study(kind, workload, **more)
    asked.run()
    found = asked.findings()
    assert found is not None and not found.was_stopped
    return found


def said(found: Findings) -> str:
    return "\n".join([workload_words(found), finding_words(found), *notes(found), *reasons(found)])


@pytest.mark.parametrize(
    ("kind", "varied", "values"),
    [
        ("policies", "policy", list(POLICIES)),
        ("block sizes", "block_size", [1, 2, 4, 8, 16, 32, 64, 128, 256]),
        ("sharing", "answers", [2, 4, 6]),
    ],
)
def test_a_study_varies_one_thing(kind: str, varied: str, values: list) -> None:
    found = findings(kind, recipe="alpaca")
    setups = [outcome.setup for outcome in found.outcomes]
    assert [getattr(setup, varied) for setup in setups] == values
    expected = Setup(answers=2) if kind == "sharing" else Setup()
    assert all(
        dataclasses.replace(setup, **{varied: getattr(expected, varied)}) == expected
        for setup in setups
    )


def test_progress_counts_over_all_simulations_and_a_stop_keeps_what_there_is() -> None:
    asked, news = study(), []

    def tell(done: int, total: int) -> None:
        news.append((done, total, progress_words(asked, done, total)))
        if done >= 1500:
            raise KeyboardInterrupt

    assert asked.findings() is None
    with pytest.raises(KeyboardInterrupt):
        asked.run(tell)
    assert [total for _, total, _ in news] == [2400] * len(news)
    assert [done for done, _, _ in news] == sorted(done for done, _, _ in news)
    assert news[0][2].startswith("Max · 0 of 2,400") and news[-1][2].startswith("Oracle · 1,5")
    found = asked.findings()
    assert found is not None and found.was_stopped
    assert [outcome.was_stopped for outcome in found.outcomes] == [False, False, True]
    assert "2 of 4 simulations came to their end" in said(found)
    asked.run()
    assert asked.findings() == findings()


def test_the_papers_values_stand_beside_its_own_memory_and_workload() -> None:
    found = findings()
    assert [bar.is_paper for bar in share_bars(found)] == [False, True] * 4
    assert share_bars(found)[1].parts == (20.4, 13.3, 57.3, 8.9)
    assert share_bars(found)[7].parts == (96.3, None, None, None)
    assert [line.paper for line in batch_lines(found)] == [7.0, 9.81, 13.62, 30.42]
    rows = compared_rows(found)
    assert len(rows) == 4 + 1 + 4 + 1 + 3 + 1 + 1 + 1
    for row in rows:
        assert row.difference == pytest.approx(row.ours - row.paper)
        assert row.certainty in set(Certainty)


@pytest.mark.parametrize(
    "found",
    [
        lambda: findings(setup=Setup(slots=8000)),
        lambda: findings(setup=Setup(block_size=32)),
        lambda: findings(setup=Setup(answers=2)),
        lambda: findings(rate=1.0),
        lambda: findings(workload=workload_of((0, 20, 30), (1, 20, 30))),
    ],
)
def test_beside_another_memory_load_or_workload_the_paper_says_nothing(found) -> None:
    result = found()
    assert compared(result) == ()
    assert not any(bar.is_paper for bar in share_bars(result))
    assert all(line.paper is None for line in batch_lines(result))
    assert "prints nothing for this" in said(result)


def test_why_we_differ_is_computed_from_the_difference() -> None:
    found = findings()
    words = said(found)
    paged = next(p for p in compared(found) if p.outcome.setup.policy == "paged")
    batch = [p for p in compared(found) if p.what == "batch"][-1]
    assert paged.paper.value == 96.3
    assert f"the batch is {batch.per_cent:+.0f} % beside the paper's 30.42" in words
    assert "queue is never empty" in words
    for policy, line in zip(("Max", "Oracle"), (0, 2), strict=True):
        ours = share_bars(found)[2 * line].parts
        printed = share_bars(found)[2 * line + 1].parts
        gap = max(
            abs(a - b)
            for a, b in zip(ours, printed, strict=True)
            if a is not None and b is not None
        )
        assert (f"{policy}: every share within {gap:.1f} points" in words) == (gap <= 1)


def test_at_the_papers_rate_agreement_is_called_no_evidence() -> None:
    words = said(findings(rate=2.0))
    assert "2 come in a second" in words and "no evidence" in words
    assert "queue is never empty" not in words


def test_savings_stand_beside_both_ways_of_decoding() -> None:
    found = findings("sharing", recipe="alpaca")
    assert [(g.answers, g.sampling, g.beam) for g in savings(found)] == [
        (2, 6.09, 37.56),
        (4, 8.53, 53.13),
        (6, 9.79, 55.16),
    ]
    words = said(found)
    assert "Beam search is not simulated" in words and "55.2 %" in words
    ours = savings(found)[0].ours
    assert f"2 answers save {ours:.1f} %, {ours - 6.09:+.1f} points" in words


def test_of_sharegpt_the_ends_of_a_range_are_known() -> None:
    groups = savings(findings("sharing"))
    assert [group.sampling for group in groups] == [16.2, None, 30.5]


def test_block_sizes_larger_than_the_pool_are_left_out() -> None:
    found = findings("block sizes", workload_of((0, 5, 5)), setup=Setup(slots=40))
    assert [point.block_size for point in size_points(found)] == [1, 2, 4, 8, 16, 32]
    assert size_points(found)[0].empty == 0
    assert "blocks of 32" in finding_words(found)


def test_who_is_turned_away_preempted_or_hardly_measured_is_said() -> None:
    words = said(findings(workload=workload_of((0, 20, 30), (0, 900, 900)), setup=Setup(slots=800)))
    assert "Max: 2 of 2 would not fit" in words
    assert "Paged: 1 of 2 would not fit" in words
    assert "before iteration 500" in words
    assert "preemptions" in said(findings())


def test_where_memory_is_no_limit_no_policy_is_praised() -> None:
    words = finding_words(findings(workload=workload_of((0, 20, 30), (0, 20, 30))))
    assert words == "All run about 2.0 requests at a time: here it is not memory that limits them."


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_a_visitor_wrote_is_repeated(kind: str) -> None:
    sample = workload_of((0, 20, 30), (1, 20, 30))
    hostile = dataclasses.replace(sample, name="<img src=x> **b**")
    assert "img" not in said(findings(kind, hostile))
