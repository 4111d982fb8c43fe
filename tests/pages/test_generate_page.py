"""The page that generates: what is asked for comes, as far as it came, with its proof."""

import json
import pickle
from typing import Any

import pytest
import streamlit as st
from app_pages import PATIENCE, sent_to_player
from streamlit.testing.v1 import AppTest

import kernels
import pagedkv.cache
from pagedkv.figures import blocks_alt
from pagedkv.generate import Check, Choices, Generation, Kept, keep
from pagedkv.generate.as_query import to_query
from pagedkv.generate.sentences import answer_words, proof_words
from pagedkv.model import load_model

SMALL = {"num_answers": 3, "length": 5}


def page() -> None:
    from pages._generate import show_generate

    show_generate()


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(page, default_timeout=PATIENCE)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def press(app: AppTest, label: str = "Generate") -> AppTest:
    next(button for button in app.button if button.label == label).click().run()
    return app


def generated(app: AppTest, **fields: Any) -> AppTest:
    for name, value in {**SMALL, **fields}.items():
        widget = app.text_area if name == "prompt" else app.number_input
        widget(key=f"generate_{name}").set_value(value)
    return press(app)


def expected(**fields: Any) -> Kept:
    run = Generation(Choices(**{**SMALL, **fields}), load_model(kernels.runtime()["device"]))
    for _ in run.steps():
        pass
    return keep(run)


def shown(app: AppTest) -> str:
    return "\n".join(markdown.value for markdown in app.markdown)


def texts(app: AppTest) -> tuple[str, ...]:
    places = [block for block in app.container if block.key == "generate_answers"]
    return tuple(text.value for block in places for text in block.text)


def players(app: AppTest) -> list[Any]:
    return components(app, "pagedkv_player")


def components(app: AppTest, name: str) -> list[Any]:
    found = [part for part in app.get("bidi_component") if part.proto.component_name == name]
    return [json.loads(part.proto.json) for part in found]


def addresses(app: AppTest) -> list[dict[str, str]]:
    """What the browser is told to write into the address where no moment is open."""
    return [data["query"] for data in components(app, "pagedkv_generate_address")]


def refusal(app: AppTest) -> str:
    """What is said below the warning that something cannot be generated."""
    said = [text.value for text in app.text if text.value not in texts(app)]
    return said[-1]


def written(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(answer_words, texts))


def titles(app: AppTest) -> list[str]:
    return [frame["title"] for frame in sent_to_player(app)["lesson"]["frames"]]


def test_nothing_is_generated_before_it_is_asked_for() -> None:
    app = opened()
    assert app.text_area(key="generate_prompt").value == Choices().prompt
    assert app.number_input(key="generate_num_answers").value == Choices().num_answers
    assert not texts(app)
    assert not app.get("plotly_chart")
    assert not players(app)


@pytest.mark.parametrize("fields", [{}, {"block_size": 3, "seed": 7, "prompt": "ROMEO:\n"}])
def test_texts_blocks_and_proof_are_those_of_the_run(fields: dict[str, Any]) -> None:
    app = generated(opened(), **fields)
    assert not app.exception
    kept = expected(**fields)
    assert texts(app) == written(kept.texts)
    assert proof_words(kept.proof, kept.choices) in shown(app)
    assert f"**{kept.usage.moments[-1].shared} blocks** in use" in shown(app)
    assert "15 characters · " in shown(app)
    assert kernels.runtime()["backend"] in shown(app)
    (chart,) = app.get("plotly_chart")
    assert chart.proto.alt == blocks_alt(kept.usage)
    assert chart.proto.alt in shown(app)
    lines = {line["name"]: line for line in json.loads(chart.proto.spec)["data"]}
    assert list(lines) == [
        "reserved in one piece",
        "without sharing",
        "with sharing, measured",
        *(["copied before a write"] if any(m.copies for m in kept.usage.moments) else []),
    ]
    assert list(app.dataframe[0].value["blocks with sharing"]) == [
        moment.shared for moment in kept.usage.moments
    ]


def test_a_moment_is_opened_in_the_player_and_the_link_leads_to_it() -> None:
    app = generated(opened())
    assert not players(app)
    app.number_input(key="generate_moment").set_value(4).run()
    assert not app.exception
    sent = sent_to_player(app)
    assert titles(app) == [frame.title for frame in expected().trace().frames]
    assert sent["arrival"]["index"] == 3
    assert sent["address"]["settings"] == to_query(Choices(**SMALL), 0)
    number = sent["arrival"]["number"]
    app.run()
    assert sent_to_player(app)["arrival"]["number"] == number
    app.number_input(key="generate_moment").set_value(2).run()
    sent = sent_to_player(app)
    assert (sent["arrival"]["index"], sent["arrival"]["number"]) == (1, number + 1)


def test_of_a_long_run_the_player_gets_the_frames_around_the_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pagedkv.generate.kept.POSITIONS_TO_SEND", 0)
    monkeypatch.setattr("pagedkv.generate.kept.FEWEST_FRAMES", 3)
    app = generated(opened())
    app.number_input(key="generate_moment").set_value(4).run()
    assert titles(app) == [frame.title for frame in expected().trace().frames][2:5]
    assert sent_to_player(app)["arrival"]["index"] == 1
    assert sent_to_player(app)["address"]["settings"]["first"] == "2"
    assert "executions 3 to 5 of 5" in shown(app)


def test_earlier_and_later_lead_through_a_long_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagedkv.generate.kept.POSITIONS_TO_SEND", 0)
    monkeypatch.setattr("pagedkv.generate.kept.FEWEST_FRAMES", 3)
    app = generated(opened(), length=7)
    app.number_input(key="generate_moment").set_value(1).run()
    expected_titles = [frame.title for frame in expected(length=7).trace().frames]
    monkeypatch.setattr(Generation, "advance", lambda _: 1 / 0)  # nothing is computed again

    def way(label: str) -> Any:
        return next(button for button in app.button if button.label == label)

    seen, openings = [], set()
    assert way("Earlier").disabled
    while True:
        assert not app.exception
        sent = sent_to_player(app)
        first = int(sent["address"]["settings"]["first"])
        assert titles(app) == expected_titles[first : first + 3]
        assert first + sent["arrival"]["index"] + 1 == app.number_input(key="generate_moment").value
        seen.append(sent["arrival"]["index"] + first)
        openings.add(sent["arrival"]["number"])
        if way("Later").disabled:
            break
        way("Later").click().run()
    assert seen[0] == 0
    assert len(openings) == len(seen) > 2
    assert first + 3 == 7
    way("Earlier").click().run()
    assert app.number_input(key="generate_moment").value == first


def test_a_run_that_the_player_has_whole_needs_no_way_on() -> None:
    app = generated(opened())
    app.number_input(key="generate_moment").set_value(1).run()
    assert not {"Earlier", "Later"} & {button.label for button in app.button}


def interrupt_after(monkeypatch: pytest.MonkeyPatch, executions: int, **state: Any) -> None:
    """Let the browser do something once a run has come so far: the script is run again."""
    advance = Generation.advance
    done = []

    def interrupted(run: Generation) -> Any:
        if len(run.moments) == executions and not done:
            done.append(True)
            for name, value in state.items():
                st.session_state[name] = value
            st.rerun()
        return advance(run)

    monkeypatch.setattr(Generation, "advance", interrupted)


def test_stop_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 3, generate_stop=True)
    app = generated(opened())
    assert not app.exception
    assert texts(app) == written(tuple(text[:3] for text in expected().texts))
    assert "Stopped after 9 of 15 characters" in shown(app)
    assert "give the same 9 characters" in shown(app)
    assert app.number_input(key="generate_moment").max == 3
    assert "Stop here" not in [button.label for button in app.button]


def test_stop_before_anything_is_there_leaves_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 0, generate_stop=True)
    app = generated(opened())
    assert not app.exception
    assert not texts(app)
    assert texts(press(app)) == written(expected().texts)


def test_whatever_else_interrupts_a_run_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 2)
    app = generated(opened())
    assert texts(app) == written(expected().texts)


def test_what_interrupts_the_proof_does_not_begin_it_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[int] = []
    advance = Check.advance

    def interrupted(check: Check) -> None:
        if len(checked) in (1, 2) and check.num_checked == len(checked):
            checked.append(-1)  # not again at this answer
            st.rerun()
        advance(check)
        checked.append(check.num_checked)

    monkeypatch.setattr(Check, "advance", interrupted)
    app = generated(opened())
    assert not app.exception
    assert [number for number in checked if number > 0] == [1, 2, 3]
    assert checked.count(-1) >= 1
    assert "give the same 15 characters" in shown(app)


def test_a_proof_that_breaks_is_told_once_and_the_run_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(Check, "advance", lambda _: 1 / 0)
        app = generated(opened())
        assert not app.exception
        assert ["could not be checked" in error.value for error in app.error] == [True]
        assert not texts(app)
        app.run()
    assert not app.exception
    assert not app.error
    assert not {"generate_run", "generate_check"} & set(app.session_state._state.filtered_state)
    assert texts(press(app)) == written(expected().texts)


def test_after_a_run_the_address_is_the_link_that_brings_it_back() -> None:
    app = opened(**to_query(Choices(**SMALL, seed=9), first=1), step="2")
    app = generated(app, seed=4)
    assert addresses(app) == [to_query(Choices(**SMALL, seed=4))]
    again = opened(**addresses(app)[0])
    assert texts(again) == texts(app)
    assert not players(again)


def test_while_a_moment_is_open_the_player_alone_writes_the_address() -> None:
    app = generated(opened())
    app.number_input(key="generate_moment").set_value(2).run()
    assert (len(players(app)), addresses(app)) == (1, [])
    app.number_input(key="generate_moment").set_value(None).run()
    assert (players(app), addresses(app)) == ([], [to_query(Choices(**SMALL))])


def test_half_an_execution_is_none() -> None:
    app = generated(opened())
    app.number_input(key="generate_moment").set_value(2.5).run()
    assert not players(app)
    assert "There is no execution 2.5; choose a whole number." in [text.value for text in app.text]


def test_a_refusal_leaves_the_address_at_the_run_that_is_shown() -> None:
    app = generated(opened())
    app = generated(app, prompt="ü", seed=8)
    assert addresses(app) == [to_query(Choices(**SMALL))]


def test_a_link_that_presents_opens_the_player_so_once() -> None:
    query = to_query(Choices(**SMALL), first=0)
    app = opened(**query, step="2", present="1")
    arrival = sent_to_player(app)["arrival"]
    assert (arrival["index"], arrival["present"]) == (2, True)
    app.number_input(key="generate_moment").set_value(2).run()
    assert not sent_to_player(app)["arrival"]["present"]
    assert not sent_to_player(opened(**query, step="2"))["arrival"]["present"]


def test_a_link_that_presents_and_has_a_notice_shows_the_notice() -> None:
    query = to_query(Choices(**SMALL), first=0) | {"seed": "none", "present": "1"}
    app = opened(**query)
    assert [warning.value.split()[0] for warning in app.warning] == ["seed"]
    assert not sent_to_player(app)["arrival"]["present"]


def test_a_new_run_takes_the_place_of_the_one_before() -> None:
    app = generated(opened())
    app.number_input(key="generate_moment").set_value(5).run()
    app = generated(app, length=2)
    assert not app.exception
    assert texts(app) == written(tuple(text[:2] for text in expected().texts))
    assert app.number_input(key="generate_moment").value is None
    assert not players(app)


COMPONENT = "generate-address"  # what Streamlit itself remembers of it


def test_the_session_keeps_neither_pool_nor_frames_of_a_run_that_has_ended() -> None:
    app = generated(opened())
    kept = app.session_state._state.filtered_state
    assert "generate_key" in kept
    assert not {"generate_run", "generate_check"} & set(kept)
    ours = {name: value for name, value in kept.items() if not name.startswith(COMPONENT)}
    assert len(pickle.dumps(ours)) < 2000


HOSTILE = "<img src=x onerror=alert(1)> ![x](y) **b**"


def test_a_prompt_that_cannot_be_is_refused_as_plain_text_and_the_run_before_stays() -> None:
    app = generated(opened())
    before = texts(app)
    app = generated(app, prompt=HOSTILE)
    assert not app.exception
    message = refusal(app)
    assert "outside the vocabulary" in message
    assert "'<'" in message
    assert "img" not in shown(app)
    assert texts(app) == before


@pytest.mark.parametrize(
    ("fields", "words"), [({"prompt": ""}, "not empty"), ({"length": 2.5}, "is 2.5")]
)
def test_other_refusals_say_what_would_do(fields: dict[str, Any], words: str) -> None:
    app = generated(opened(), **fields)
    assert not app.exception
    assert words in refusal(app)
    assert not texts(app)


def test_a_link_brings_the_run_and_the_moment_back() -> None:
    choices = Choices(**SMALL, seed=3, prompt="ROMEO:")
    app = opened(**to_query(choices, first=1), step="2")
    assert texts(app) == written(expected(seed=3, prompt="ROMEO:").texts)
    assert app.text_area(key="generate_prompt").value == "ROMEO:"
    assert app.number_input(key="generate_seed").value == 3
    assert app.number_input(key="generate_moment").value == 4
    assert sent_to_player(app)["arrival"]["index"] == 3
    app.run()
    assert texts(app) == written(expected(seed=3, prompt="ROMEO:").texts)


def test_what_a_link_cannot_have_is_told_and_not_repeated() -> None:
    query = {"length": "2", "num_answers": HOSTILE, "top_k": "900", "step": "500"}
    app = opened(**query)
    assert [warning.value.split()[0] for warning in app.warning] == ["This", "num_answers"]
    assert any("top_k is 900" in text.value for text in app.text)
    assert not any("img" in element.value for element in (*app.warning, *app.markdown, *app.text))
    assert app.number_input(key="generate_top_k").value == 900
    assert not texts(app)


def test_a_notice_stays_until_something_else_is_asked_for() -> None:
    app = opened(length="2", num_answers="2", temperature="warm")
    assert not app.exception
    assert texts(app)
    for _ in range(2):
        assert [warning.value.split()[0] for warning in app.warning] == ["temperature"]
        app.run()
    assert not generated(app, length=3).warning


def test_a_step_past_the_end_opens_the_last_moment() -> None:
    app = opened(length="2", num_answers="2", step="500")
    assert app.number_input(key="generate_moment").value == 2


def test_a_run_that_was_given_up_is_not_missed_silently() -> None:
    app = generated(opened())
    app.session_state["generate_key"] = "no run was ever called so"
    app.run()
    assert not app.exception
    assert "given up" in app.info[0].value


def test_a_cache_that_copies_wrongly_is_objected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def copy_zeros(k_cache: Any, v_cache: Any, pairs: Any) -> None:
        for cache in (k_cache, v_cache):
            cache[:, pairs[:, 1]] = 0

    monkeypatch.setattr(pagedkv.cache.kernels, "copy_blocks", copy_zeros)
    app = generated(opened())
    assert not app.exception
    assert "does not agree" in shown(app)
    assert "give the same" not in shown(app)


def test_a_run_that_breaks_says_so_once_and_the_page_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(pagedkv.cache.kernels, "copy_blocks", lambda *_: None)
        app = generated(opened())
        assert len(app.exception) == 1
    app.run()
    assert not app.exception
    assert texts(press(app)) == written(expected().texts)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_figure_follows_the_theme(theme: str) -> None:
    app = opened()
    app.context["theme"] = theme
    generated(app)
    ink = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["font"]["color"]
    assert (int(ink[1:3], 16) > 127) == (theme == "dark")
