"""A real LLM on the page that generates: chosen where it is there, explained where it is not."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from test_generate_page import opened, press, refusal, sent_to_player, shown, texts
from tiny_llama import write_folder

from pagedkv.llama.folder import FOLDER_VARIABLE


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_folder(tmp_path / "tiny")
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    return folder


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "nowhere"))
    return tmp_path / "nowhere"


def asked(app: AppTest) -> AppTest:
    app.radio(key="generate_model").set_value("large")
    app.text_area(key="generate_prompt").set_value("the é 12")
    app.number_input(key="generate_num_answers").set_value(2)
    app.number_input(key="generate_length").set_value(4)
    return press(app)


def test_without_weights_the_choice_is_greyed_out_and_says_what_is_missing(nothing: Path) -> None:
    app = opened()
    radio = app.radio(key="generate_model")
    assert (radio.disabled, radio.value) == (True, "course")
    assert radio.options[1] == "nowhere"
    assert f"there is no folder {nothing}" in app.text[0].value
    assert "`make smollm` fetches" in app.text[0].value


def test_without_a_folder_of_ones_own_it_says_how_to_get_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr("pagedkv.llama.folder.DEFAULT_FOLDER", tmp_path / "SmolLM2-135M-Instruct")
    app = opened()
    assert app.radio(key="generate_model").options[1] == "SmolLM2-135M-Instruct"
    assert "`make smollm` fetches it" in app.text[0].value


def test_a_link_to_a_model_that_is_missing_is_refused(nothing: Path) -> None:
    app = opened(model="large", length="3")
    assert not app.exception
    assert any("there is no folder" in text.value for text in app.text)
    assert app.radio(key="generate_model").value == "course"
    assert not texts(app)


def test_with_weights_it_writes_tokens_and_opens_in_the_player(tiny: Path) -> None:
    app = asked(opened())
    assert not app.exception
    assert [text.value for text in app.text] == list(texts(app))
    assert "give the same 8 tokens" in shown(app)
    assert "8 tokens · " in shown(app)
    app.number_input(key="generate_moment").set_value(2).run()
    assert not app.exception
    sent = sent_to_player(app)
    assert sent["address"]["settings"]["model"] == "large"
    assert sent["lesson"]["runtime"]["note"].count("tiny") == 1
    written = [block["slots"] for block in sent["lesson"]["blocks"]]
    characters = [slot["c"] for slots in written for slot in slots if "c" in slot]
    assert "he" in characters  # a token, not a character


def test_broken_weights_are_refused_in_words(tiny: Path) -> None:
    (tiny / "model.safetensors").write_bytes(b"no weights")
    app = asked(opened())
    assert not app.exception
    assert "model.safetensors" in refusal(app)
    assert not texts(app)
