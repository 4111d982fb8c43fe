"""The page of workloads: what is asked for is simulated, as far as it came."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from app_pages import PATIENCE, go_to
from streamlit.testing.v1 import AppTest

from pagedkv.figures import shares_alt
from pagedkv.workloads import POLICIES, Setup, Simulation, make_workload
from pagedkv.workloads.figure_data import share_bars
from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.sentences import finding_words
from pagedkv.workloads.study import Findings, Study

REQUESTS = 2000  # enough to be set beside the paper
HOSTILE = "<img src=x onerror=alert(1)> ![x](y) **b**"


def page() -> None:
    from pages._workloads import show_workloads

    show_workloads()


def opened() -> AppTest:
    app = AppTest.from_function(page, default_timeout=PATIENCE)
    app.run()
    assert not app.exception
    return app


def press(app: AppTest, label: str = "Run") -> AppTest:
    next(button for button in app.button if button.label == label).click().run()
    return app


def simulated(app: AppTest, **numbers: float) -> AppTest:
    for name, value in {"requests": REQUESTS, **numbers}.items():
        app.number_input(key=f"workloads_{name}").set_value(value)
    return press(app)


def expected(**setup: Any) -> Findings:
    workload = make_workload("sharegpt", REQUESTS, 0)
    kind, recipe = StudyKind.POLICIES, "sharegpt"
    study = Study(kind, workload, Setup(**setup), policies=POLICIES, recipe=recipe)
    study.run()
    found = study.findings()
    assert found is not None
    return found


def shown(app: AppTest) -> str:
    return "\n".join(markdown.value for markdown in app.markdown)


def texts(app: AppTest) -> str:
    return "\n".join(text.value for text in app.text)


def upload(app: AppTest, text: str | bytes, name: str = "trace.csv") -> AppTest:
    app.selectbox(key="workloads_source").set_value("trace").run()
    data = text.encode() if isinstance(text, str) else text
    app.file_uploader(key="workloads_upload").set_value((name, data, "text/csv")).run()
    assert not app.exception
    return app


def test_nothing_is_simulated_before_it_is_asked_for() -> None:
    app = opened()
    assert app.number_input(key="workloads_slots").value == 15_728
    assert app.number_input(key="workloads_block_size").value == 16
    assert not app.get("plotly_chart") and not app.subheader


def test_the_menu_has_the_page(open_page: Callable[..., AppTest]) -> None:
    app = open_page("workloads")
    assert [title.value for title in app.title] == ["Workloads"]
    assert not app.exception
    assert [title.value for title in go_to(app, "sandbox").title] != ["Workloads"]


def test_policies_are_drawn_said_listed_and_set_beside_the_paper() -> None:
    app = simulated(opened())
    assert not app.exception
    found = expected()
    assert finding_words(found) in shown(app)
    shares, _ = app.get("plotly_chart")
    assert shares.proto.alt == shares_alt(share_bars(found))
    assert shares.proto.alt in shown(app)
    assert [heading.value for heading in app.subheader] == [
        "What the memory holds",
        "Requests in a batch",
        "Beside the paper",
        "How these figures came about",
    ]
    comparison = app.dataframe[-1].value
    assert set(comparison["of"]) == {"Max", "Pow2", "Oracle", "Paged"}
    assert "in the paper" in json.loads(shares.proto.spec)["layout"]["yaxis"]["ticktext"]


def test_another_memory_gives_other_figures_and_no_values_of_the_paper() -> None:
    app = simulated(opened(), slots=8192)
    assert finding_words(expected(slots=8192)) in shown(app)
    assert "prints nothing for this memory" in shown(app)


@pytest.mark.parametrize(
    ("kind", "charts", "words"),
    [("block sizes", 1, "Blocks of 1 leave 0.0 %"), ("sharing", 1, "2 answers to a prompt save")],
)
def test_block_sizes_and_sharing_are_studies_of_their_own(
    kind: str, charts: int, words: str
) -> None:
    app = opened()
    app.get("button_group")[0].set_value(kind).run()
    app = simulated(app)
    assert not app.exception
    assert len(app.get("plotly_chart")) == charts
    assert words in shown(app)


def interrupt_after(monkeypatch: pytest.MonkeyPatch, turns: int, **state: Any) -> None:
    """Let the browser do something once simulations have come so far: the script is run again."""
    advance, done = Simulation.advance, []

    def interrupted(simulation: Simulation) -> Any:
        done.append(True)
        if len(done) == turns:
            for name, value in state.items():
                st.session_state[name] = value
            st.rerun()
        return advance(simulation)

    monkeypatch.setattr(Simulation, "advance", interrupted)


def test_stop_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 500, workloads_stop=True)
    app = simulated(opened())
    assert not app.exception
    assert "**Stopped.**" in shown(app)
    assert len(app.get("plotly_chart")) == 2
    assert "Stop here" not in [button.label for button in app.button]
    assert finding_words(expected()) in shown(press(app))


def test_stop_before_anything_is_there_leaves_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 1, workloads_stop=True)
    app = simulated(opened())
    assert not app.exception
    assert not app.get("plotly_chart")


def test_whatever_else_interrupts_a_study_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 500)
    app = simulated(opened())
    assert not app.exception
    assert finding_words(expected()) in shown(app)


def test_what_cannot_be_is_refused_and_what_was_there_stays() -> None:
    app = simulated(opened())
    before = shown(app)
    app = simulated(app, slots=8, block_size=16)
    assert not app.exception
    assert "block_size is 16; with 8 slots it must be at most that" in texts(app)
    assert finding_words(expected()) in before and finding_words(expected()) in shown(app)


@pytest.mark.parametrize("name", ["requests", "slots", "block_size", "answers", "seed"])
def test_half_a_number_is_refused_by_name_and_never_cut(name: str) -> None:
    app = simulated(simulated(opened()), **{name: 2.5})
    assert f"{name} is 2.5; it must be a whole number" in texts(app)
    assert app.number_input(key=f"workloads_{name}").value == 2.5
    assert finding_words(expected()) in shown(app)


def test_without_a_policy_there_is_nothing_to_simulate() -> None:
    app = opened()
    app.get("button_group")[1].set_value([]).run()
    assert "no policy is chosen" in texts(simulated(app))


def test_arrivals_at_a_rate_bring_a_clock() -> None:
    app = opened()
    app.selectbox(key="workloads_arrivals").set_value("by chance, at a rate").run()
    assert app.number_input(key="workloads_rate_sharegpt").value == 2.0
    assert app.number_input(key="workloads_iteration").value == 45.0
    app = simulated(app)
    assert "2 come in a second" in shown(app)


GOOD = "arrival,input,output\n0,100,20\n1,100,20\n"


def test_a_trace_is_read_shown_back_and_simulated() -> None:
    app = upload(opened(), GOOD)
    assert "Read as plain CSV (arrival, input, output): 2 requests over 1 s" in texts(app)
    app = press(app)
    assert "2 requests, 100.0 tokens in and 20.0 out on average; they arrive" in shown(app)
    assert "trace.csv" in texts(app)


def test_bad_rows_are_named_and_left_out_only_on_request() -> None:
    app = upload(opened(), GOOD + "2,0,5\n")
    assert "1 row is bad, 2 good: line 4: input is '0'" in texts(app)
    assert "no trace is open" in texts(press(app))
    box = next(box for box in app.checkbox if box.label.startswith("Leave the bad rows out"))
    box.check().run()
    assert "2 requests over 1 s" in texts(app) and "line 4: input is '0'" in texts(app)
    assert app.get("plotly_chart") or press(app).get("plotly_chart")
    again = upload(app, GOOD + "5,0,5\n", name="another.csv")
    assert "1 row is bad" in texts(again)  # it is asked anew


@pytest.mark.parametrize("data", ["", "a,b\n1,2\n", b"\xff\xfe", "arrival,input,output\n"])
def test_what_is_no_trace_is_refused_and_the_findings_stay(data: str | bytes) -> None:
    app = simulated(opened())
    app = upload(app, data)
    assert [warning.value for warning in app.warning] == ["This file cannot be simulated as it is:"]
    assert not [box for box in app.checkbox if box.label.startswith("Leave")]
    assert finding_words(expected()) in shown(app)


def test_a_file_never_becomes_part_of_the_page() -> None:
    app = upload(opened(), f"arrival,input,output\n{HOSTILE},1,1\n", name=f"{HOSTILE}.csv")
    assert "img" in texts(app)
    assert "img" not in shown(app)
    app = press(upload(app, GOOD, name=f"{HOSTILE}.csv"))
    assert "img" not in shown(app)
    assert not any("img" in element.value for element in (*app.warning, *app.subheader))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_follow_the_theme(theme: str) -> None:
    app = opened()
    app.context["theme"] = theme
    app = simulated(app)
    for chart in app.get("plotly_chart"):
        ink = json.loads(chart.proto.spec)["layout"]["font"]["color"]
        assert (int(ink[1:3], 16) > 127) == (theme == "dark")


def test_what_was_chosen_is_there_again_when_its_field_comes_back() -> None:
    app = opened()
    app.number_input(key="workloads_block_size").set_value(32).run()
    app.get("button_group")[0].set_value("block sizes").run()
    assert "workloads_block_size" not in [field.key for field in app.number_input]
    app.get("button_group")[0].set_value("policies").run()
    assert app.number_input(key="workloads_block_size").value == 32


def test_what_was_chosen_outlives_another_page(open_page: Callable[..., AppTest]) -> None:
    app = open_page("workloads")
    app.number_input(key="workloads_slots").set_value(9000).run()
    app.get("button_group")[1].set_value(["paged"]).run()
    app = go_to(go_to(app, "sandbox"), "workloads")
    assert app.number_input(key="workloads_slots").value == 9000
    assert app.get("button_group")[1].value == ["paged"]


def test_all_of_a_trace_is_simulated_or_so_many_as_are_asked_for() -> None:
    rows = "".join(f"{number},10,5\n" for number in range(4100))
    app = upload(opened(), f"arrival,input,output\n{rows}")
    assert "4,100 requests, 10.0 tokens in" in shown(press(app))
    app.number_input(key="workloads_first").set_value(100).run()
    assert "100 requests, 10.0 tokens in" in shown(press(app))


def test_half_a_request_of_a_trace_is_refused() -> None:
    app = upload(opened(), GOOD)
    app.number_input(key="workloads_first").set_value(1.5).run()
    assert "requests is 1.5; it must be a whole number" in texts(press(app))


def test_an_open_trace_outlives_another_page_and_its_bad_rows_stay_out(
    open_page: Callable[..., AppTest],
) -> None:
    app = upload(open_page("workloads"), GOOD + "2,0,5\n")
    next(box for box in app.checkbox if box.label.startswith("Leave")).check().run()
    app = go_to(go_to(app, "sandbox"), "workloads")
    assert "Open: trace.csv" in texts(app) and "2 requests over 1 s" in texts(app)
    assert "2 requests, 100.0 tokens in" in shown(press(app))
    app = upload(app, "")
    assert "the file is empty" in texts(app)
