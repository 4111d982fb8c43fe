"""Studies: what is varied, what stands beside the paper, and what is said of the difference."""

import dataclasses
import re
from itertools import groupby

import pytest
from workload_samples import workload_of

from pagedkv.figures import batches_alt
from pagedkv.workloads import POLICIES, Setup, Workload, WorkloadError, make_workload
from pagedkv.workloads.compare import ENOUGH, compared
from pagedkv.workloads.figure_data import (
    batch_lines,
    compared_rows,
    savings,
    share_bars,
    size_points,
)
from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.names import NAMES
from pagedkv.workloads.paper import Certainty
from pagedkv.workloads.reasons import CLOSE_BATCH, CLOSE_POINTS, reasons
from pagedkv.workloads.sentences import (
    finding_words,
    notes,
    progress_words,
    workload_words,
)
from pagedkv.workloads.simulation import WARM_UP
from pagedkv.workloads.study import Findings, Study


def study(kind: StudyKind = StudyKind.POLICIES, workload: Workload | None = None, **more) -> Study:
    setup = more.pop("setup", Setup())
    recipe, rate = more.pop("recipe", "sharegpt"), more.pop("rate", None)
    count = more.pop("count", ENOUGH)
    made = make_workload(recipe, count, 0, rate) if workload is None else workload
    if workload is not None:
        recipe = None
    policies = more.pop("policies", POLICIES)
    return Study(kind, made, setup, policies=policies, recipe=recipe, rate=rate)


def findings(
    kind: StudyKind = StudyKind.POLICIES, workload: Workload | None = None, **more
) -> Findings:
    asked = study(kind, workload, **more)
    asked.run()
    found = asked.findings()
    assert found is not None and not found.was_stopped
    return found


def stopped(asked: Study, after: float) -> Findings:
    """What there is after so many requests are done."""

    def tell(done: int, _: int) -> None:
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asked.run(tell)
    found = asked.findings()
    assert found is not None
    return found


def said(found: Findings) -> str:
    return "\n".join([workload_words(found), finding_words(found), *notes(found), *reasons(found)])


@pytest.mark.parametrize(
    ("kind", "varied", "values"),
    [
        (StudyKind.POLICIES, "policy", list(POLICIES)),
        (StudyKind.BLOCK_SIZES, "block_size", [1, 2, 4, 8, 16, 32, 64, 128, 256]),
        (StudyKind.SHARING, "answers", [2, 4, 6]),
    ],
)
def test_a_study_varies_one_thing(kind: StudyKind, varied: str, values: list) -> None:
    found = findings(kind, recipe="alpaca")
    setups = [outcome.setup for outcome in found.outcomes]
    assert [getattr(setup, varied) for setup in setups] == values
    expected = Setup(answers=2) if kind is StudyKind.SHARING else Setup()
    assert all(
        dataclasses.replace(setup, **{varied: getattr(expected, varied)}) == expected
        for setup in setups
    )


def test_what_is_no_kind_of_study_is_refused_by_name() -> None:
    words = "kind is 'bogus'; it must be policies, block sizes or sharing"
    with pytest.raises(WorkloadError, match=words):
        Study("bogus", workload_of((0, 5, 5)), Setup())


def test_progress_counts_over_all_simulations_and_a_stop_keeps_what_there_is() -> None:
    asked, news = study(), []

    def tell(done: int, total: int) -> None:
        news.append((done, total, progress_words(asked, done, total)))
        if done >= 2.5 * ENOUGH:
            raise KeyboardInterrupt

    assert asked.findings() is None
    with pytest.raises(KeyboardInterrupt):
        asked.run(tell)
    assert [total for _, total, _ in news] == [4 * ENOUGH] * len(news)
    assert [done for done, _, _ in news] == sorted(done for done, _, _ in news)
    assert news[0][2].startswith("Max · 0 of 8,000") and news[-1][2].startswith("Oracle · 5,0")
    found = asked.findings()
    assert found is not None and found.was_stopped
    assert [outcome.was_stopped for outcome in found.outcomes] == [False, False, True]
    assert "2 of 4 simulations came to their end" in said(found)
    asked.run()
    assert asked.findings() == findings()


def test_the_papers_values_stand_beside_its_own_memory_and_workload() -> None:
    found = findings()
    assert [bar.is_paper for bar in share_bars(found)] == [False, True] * 4
    assert tuple(share_bars(found)[1].parts.values()) == (20.4, 13.3, 57.3, 8.9)
    assert tuple(share_bars(found)[7].parts.values()) == (96.3, None, None, None)
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
        lambda: findings(setup=Setup(max_length=4096)),
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


def test_every_policy_is_set_beside_the_paper_and_what_is_not_close_has_a_cause() -> None:
    found = findings()
    lines = {line.partition(":")[0]: line for line in reasons(found)}
    for name, of_policy in groupby(compared(found), key=lambda p: NAMES[p.outcome.setup.policy]):
        *shares, batch = of_policy
        gap = max((pair.difference for pair in shares), key=abs)
        assert f"the batch of {batch.ours:.2f} is {batch.per_cent:+.1f} % beside" in lines[name]
        is_close = abs(gap) <= CLOSE_POINTS and abs(batch.per_cent) <= CLOSE_BATCH
        assert (f"{abs(gap):.1f} points" if abs(gap) <= 1 else f"{gap:+.1f} points") in lines[name]
        assert (len(lines[name].split(". ")) == 1) == is_close  # a cause is a second sentence
    assert "How Pow2 treats the prompt" in lines["Pow2"]
    assert "queue is never empty" in lines["Paged"]
    drawn = f"{found.about.mean_input:.1f} tokens in and {found.about.mean_output:.1f} out"
    assert drawn in said(found)


def test_a_difference_without_a_known_cause_says_so() -> None:
    found = findings()
    poor = dataclasses.replace(found.outcomes[2], mean_batch=5.0)  # Oracle's
    others = (*found.outcomes[:2], poor, *found.outcomes[3:])
    line = next(
        line for line in reasons(dataclasses.replace(found, outcomes=others)) if "5.00" in line
    )
    assert line.startswith("Oracle: ") and line.endswith("the lengths that were drawn.")


def test_at_the_papers_rate_agreement_is_called_no_evidence() -> None:
    words = said(findings(rate=2.0))
    assert "2 come in a second" in words and "no evidence" in words
    assert "queue is empty at times" in words and "queue is never empty" not in words


def test_runs_that_prove_nothing_are_not_set_beside_the_paper() -> None:
    few = findings(count=ENOUGH - 1)
    clock = findings(rate=2.0, setup=Setup(iteration_ms=20.0))
    assert compared(few) == compared(clock) == ()
    assert "Max, Pow2, Oracle, Paged: not set beside the paper. 1,999 requests ended" in said(few)
    assert "Its own numbers make that 45 ms" in said(clock)
    assert "drawn here" not in said(few) + said(clock)


def test_of_a_stopped_study_what_came_far_enough_is_compared() -> None:
    found = stopped(study(), 2.5 * ENOUGH)
    assert {pair.outcome.setup.policy for pair in compared(found)} == {"max", "pow2"}
    assert "Oracle: not set beside the paper" in said(found)


def test_savings_stand_beside_both_ways_of_decoding() -> None:
    found = findings(StudyKind.SHARING, recipe="alpaca")
    assert [(g.answers, g.sampling, g.beam) for g in savings(found)] == [
        (2, 6.09, 37.56),
        (4, 8.53, 53.13),
        (6, 9.79, 55.16),
    ]
    words = said(found)
    assert "Beam search is not simulated" in words and "55.2 %" in words
    ours = savings(found)[0].ours
    saving = f"2 answers to a prompt save {ours:.1f} % of the blocks, {ours - 6.09:+.1f} points"
    assert saving in words


def test_of_sharegpt_the_ends_of_a_range_are_known() -> None:
    groups = savings(findings(StudyKind.SHARING))
    assert [group.sampling for group in groups] == [16.2, None, 30.5]


def test_block_sizes_larger_than_the_pool_are_left_out() -> None:
    found = findings(StudyKind.BLOCK_SIZES, workload_of((0, 5, 5)), setup=Setup(slots=40))
    assert [point.block_size for point in size_points(found)] == [1, 2, 4, 8, 16, 32]
    assert size_points(found)[0].empty == 0
    assert "blocks of 32" in finding_words(found)


def test_who_is_turned_away_preempted_or_hardly_measured_is_said() -> None:
    words = said(findings(workload=workload_of((0, 20, 30), (0, 900, 900)), setup=Setup(slots=800)))
    assert "Max: 2 of 2 would not fit" in words
    assert "Paged: 1 of 2 would not fit" in words
    assert "Max: nobody ran." in words
    assert "Pow2, Oracle, Paged: means over all iterations, for the last request" in words
    assert "preemptions" in said(findings())


def test_where_memory_is_no_limit_no_policy_is_praised() -> None:
    words = finding_words(findings(workload=workload_of((0, 20, 30), (0, 20, 30))))
    assert words == "All run about 2.0 requests at a time: here it is not memory that limits them."


def test_policies_that_ran_different_requests_are_not_compared() -> None:
    """Of three: 500 slots hold all in blocks, and the short ones alone in one piece."""
    sample = workload_of((0, 20, 30), (0, 20, 200), (0, 300, 100))
    found = findings(workload=sample, setup=Setup(slots=500, block_size=10))
    assert [outcome.turned_away for outcome in found.outcomes] == [3, 2, 1, 0]
    assert finding_words(found) == (
        "**Not all ran the same requests, so they are not compared**: of 3, all with Max, 2 with "
        "Pow2, 1 with Oracle and none with Paged were turned away."
    )


def test_block_sizes_and_answers_that_ran_different_requests_are_not_compared() -> None:
    sample = workload_of((0, 20, 30), (0, 1, 60))
    found = findings(StudyKind.BLOCK_SIZES, sample, setup=Setup(slots=60))
    assert [outcome.turned_away for outcome in found.outcomes] == [0, 0, 0, 1, 2, 2]
    assert "1 with blocks of 8, all with blocks of 16 and all" in finding_words(found)
    found = findings(StudyKind.SHARING, sample, setup=Setup(slots=224))
    assert [outcome.turned_away for outcome in found.outcomes] == [0, 1, 2]
    assert "none with 2 answers, 1 with 4 answers and all" in finding_words(found)


@pytest.mark.parametrize("kind", StudyKind)
def test_where_nobody_fits_nothing_is_compared(kind: StudyKind) -> None:
    found = findings(kind, workload_of((0, 300, 300)), setup=Setup(slots=40))
    assert finding_words(found) == "Nobody ran: none of the requests would fit."


@pytest.mark.parametrize("kind", StudyKind)
def test_what_was_stopped_is_not_compared(kind: StudyKind) -> None:
    found = stopped(study(kind, count=300), 1.5 * 300)
    assert len(found.outcomes) == 2
    assert finding_words(found) == ""


def test_means_go_as_far_as_a_stop_lets_them() -> None:
    early = stopped(study(count=50), 1)
    assert early.outcomes[0].iterations < WARM_UP
    assert notes(early)[1] == (
        "Means over all iterations until it was stopped, for nobody had run from number 500 on."
    )
    late = stopped(study(), ENOUGH + 500)
    assert late.outcomes[1].iterations > WARM_UP
    assert notes(late)[1:3] == [
        "Max: means over the iterations from number 500 until the last request has left the queue.",
        "Pow2: means over the iterations from number 500 until it was stopped.",
    ]


def test_means_of_all_iterations_have_a_cause() -> None:
    short = findings(workload=workload_of((0, 20, 30), (0, 20, 30)))
    assert notes(short) == [
        "Means over all iterations, for the last request had left the queue by number 500."
    ]
    idle = findings(workload=workload_of((0, 20, 30), (900, 20, 30)))
    assert notes(idle)[0] == (
        "Means over all iterations, for nobody ran from number 500 until the last request left the "
        "queue."
    )


def test_which_means_are_steady_is_said_and_that_others_are_not_like_them() -> None:
    """Room for one of the maximum length, but for both requests as they are."""
    found = findings(workload=workload_of((0, 20, 600), (0, 20, 600)), setup=Setup(slots=2100))
    assert [outcome.is_steady for outcome in found.outcomes] == [True, True, False, False]
    steady, short = notes(found)
    assert steady.startswith("Max, Pow2: means over the iterations from number 500 until the last")
    assert short.startswith("Oracle, Paged: means over all iterations, for")
    apart = "Not all of these means are over the same stretch; the notes say which."
    assert finding_words(found).startswith("**Paged runs 2.0 requests")
    assert finding_words(found).endswith(apart)
    assert apart not in finding_words(findings())


def test_alpacas_instructions_are_no_conversations() -> None:
    words = said(findings(recipe="alpaca"))
    assert "in the paper they have 19.31 and 58.45" in words and "conversations" not in words


@pytest.mark.parametrize("kind", StudyKind)
def test_nothing_a_visitor_wrote_is_repeated(kind: StudyKind) -> None:
    sample = workload_of((0, 20, 30), (1, 20, 30))
    hostile = dataclasses.replace(sample, name="<img src=x> **b**")
    assert "img" not in said(findings(kind, hostile))


def test_iterations_in_which_nobody_runs_are_told_and_in_no_mean() -> None:
    found = findings(workload=workload_of((0, 20, 30), (900, 20, 30)))
    assert [line.mean for line in batch_lines(found)] == [1.0] * 4
    outcome = found.outcomes[0]
    assert outcome.iterations - outcome.idle == outcome.measured == 60
    assert f"in {outcome.idle:,} of {outcome.iterations:,} iterations nobody runs" in said(found)
    assert "nobody runs" not in said(findings())


def test_of_policies_that_are_as_good_the_last_is_named() -> None:
    words = finding_words(findings(recipe="alpaca", rate=30.0))
    assert words.startswith("**Paged runs")


@pytest.mark.parametrize("kind", StudyKind)
def test_thousands_are_parted_by_commas(kind: StudyKind) -> None:
    sample = workload_of(*[(0, 4000, 20)] * 1500, (9000, 1, 1))
    setup = Setup(slots=10**8, block_size=2000, max_length=5000, iteration_ms=20000)
    found = findings(kind, sample, setup=setup)
    words = said(found) + "".join(map(str, batches_alt(batch_lines(found))))
    assert "1,501 requests" in words and " 3,997.3 tokens in" in words
    assert "20,000 ms" in words and "1,500.0" in words
    assert not re.search(r"[0-9]{4}", words)


def test_what_all_simulations_have_in_common_is_said() -> None:
    sample = workload_of((0, 20, 30), (1, 20, 30))
    setup = Setup(slots=400, block_size=8, answers=2, iteration_ms=20)
    words = workload_words(findings(workload=sample, setup=setup))
    longest = f"a maximum length of {setup.max_length:,}"
    common = "2 answers to each prompt, 20 ms an iteration."
    assert words.endswith(f"In 400 slots, in blocks of 8, {longest}, {common}")
    without_max = findings(workload=sample, setup=setup, policies=["oracle", "paged"])
    assert workload_words(without_max).endswith(f"In 400 slots, in blocks of 8, {common}")
    assert workload_words(findings(StudyKind.SHARING)).endswith("In 15,728 slots, in blocks of 16.")
    assert workload_words(findings(StudyKind.BLOCK_SIZES)).endswith("In 15,728 slots.")


def test_more_run_because_more_of_the_memory_holds_tokens_and_only_then() -> None:
    found = findings()
    worst, *others, best = found.outcomes
    why = f", because {best.shares.token:.1f} % of it holds tokens, not {worst.shares.token:.1f} %."
    assert why in finding_words(found)
    as_empty = dataclasses.replace(best, shares=worst.shares)
    found = dataclasses.replace(found, outcomes=(worst, *others, as_empty))
    assert "times as many as Max" in finding_words(found)
    assert "because" not in finding_words(found)
