"""Links and files from anybody: a session, or one clear message; never another exception."""

import base64
import json
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sandbox_scripts import RELAXED, crowded_scripts, scripts

from pagedkv.sandbox.actions import DecodeToken, EngineStep, NewRequest
from pagedkv.sandbox.as_file import LARGEST_FILE, read_file, to_file
from pagedkv.sandbox.as_link import LONGEST_LINK, read_link, to_link
from pagedkv.sandbox.script import (
    LONGEST_PROMPT,
    MAX_ACTIONS,
    MAX_PROMPT_CHARACTERS,
    Pool,
    Script,
    ScriptError,
)

GOOD = {
    "pagedkv_sandbox": 1,
    "block_size": 4,
    "capacity": 24,
    "free_order": "tidy",
    "actions": [{"do": "new", "prompt": "ROMEO:"}],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def word(data: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


def refused(read, content) -> str:
    """The message; nothing but a script or a ScriptError may come."""
    try:
        assert isinstance(read(content), Script)
    except ScriptError as error:
        assert len(str(error)) < 500
        return str(error)
    return ""


@RELAXED
@given(scripts() | crowded_scripts())
def test_what_was_written_is_read_again(script: Script):
    assert read_link(to_link(script)) == script
    assert read_file(to_file(script).encode()) == script


@RELAXED
@given(st.text())
@example("é")
@example("=" * 7)
def test_any_text_as_a_link(text: str):
    refused(read_link, text)


@RELAXED
@given(JSON)
def test_any_json_as_a_link_or_a_file(data: object):
    assert refused(read_link, word(data))
    assert refused(read_file, json.dumps(data).encode())


@RELAXED
@given(st.binary())
def test_any_bytes_as_a_file(content: bytes):
    assert refused(read_file, content)


@RELAXED
@given(scripts(), st.data())
def test_a_link_or_a_file_cut_off(script: Script, data: st.DataObject):
    link, file = to_link(script), to_file(script).encode()
    assert refused(read_link, link[: data.draw(st.integers(0, len(link) - 2))])
    assert refused(read_file, file[: data.draw(st.integers(0, len(file) - 2))])


@RELAXED
@given(st.sampled_from(sorted(GOOD)), JSON)
def test_a_file_with_one_value_of_any_kind(key: str, value: object):
    refused(read_file, json.dumps(GOOD | {key: value}).encode())


@RELAXED
@given(st.sampled_from(["new", "decode", "fork", "finish", "step"]), JSON, JSON)
def test_an_action_with_values_of_any_kind(do: str, one: object, other: object):
    for key in ("prompt", "request", "token", "do"):
        action = {"do": do, key: one, "request": other}
        refused(read_file, json.dumps(GOOD | {"actions": [action]}).encode())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pagedkv_sandbox": 2}, "version 1"),
        ({"pagedkv_sandbox": True}, "version 1"),
        ({"block_size": 0}, "block_size is 0; it must be a whole number from 1 to 32"),
        ({"block_size": "4"}, "block_size is '4'"),
        ({"capacity": 1e9}, "capacity is 1000000000.0"),
        ({"capacity": True}, "capacity is True"),
        ({"free_order": "<b>"}, "one of tidy, scattered"),
        ({"actions": {}}, "must be a list"),
        ({"actions": [["new"]]}, "action 1 must be an object"),
        ({"actions": [{"do": "explode"}]}, "new, decode, fork, finish, step"),
        ({"actions": [{"do": "new"}]}, "action 1 lacks prompt"),
        ({"actions": [{"do": "new", "prompt": ""}]}, "it must have 1 to 128"),
        ({"actions": [{"do": "new", "prompt": "a" * 129}]}, "129 characters"),
        ({"actions": [{"do": "new", "prompt": 7}]}, "the prompt has 7"),
        ({"actions": [{"do": "new", "prompt": "<script>"}]}, "outside the vocabulary: '<', '>'"),
        ({"actions": [{"do": "step", "extra": 1}]}, "more than do"),
        ({"actions": [{"do": "fork", "request": 1}]}, "there is none yet"),
        ({"actions": [*GOOD["actions"], {"do": "fork", "request": 2}]}, "action 2: request is 2"),
        ({"actions": [*GOOD["actions"], {"do": "fork", "request": True}]}, "request is True"),
        (
            {"actions": [*GOOD["actions"], {"do": "decode", "request": 1, "token": "ab"}]},
            "one char",
        ),
        ({"actions": [*GOOD["actions"], {"do": "decode", "request": 1, "token": None}]}, "empty"),
        ({"actions": [{"do": "step"}] * (MAX_ACTIONS + 1)}, "201 actions; a session has 200"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(changes, message):
    with pytest.raises(ScriptError) as caught:
        read_file(json.dumps(GOOD | changes).encode())
    assert message in str(caught.value)


LONG = "<script>" * 7_000
ONE_REQUEST = {"do": "new", "prompt": "ROMEO:"}


@pytest.mark.parametrize(
    "changes",
    [
        *({key: LONG} for key in sorted(GOOD)),
        *({"actions": [{"do": "new", key: LONG}]} for key in ("do", "prompt", LONG)),
        *({"actions": [ONE_REQUEST, {"do": "fork", "request": value}]} for value in (LONG, [LONG])),
        {"actions": [ONE_REQUEST, {"do": "decode", "request": 1, "token": LONG}]},
        {"actions": [{"do": "new", "prompt": "".join(map(chr, range(0x4E00, 0x4E80)))}]},
        {"capacity": 10**4000},
    ],
    ids=lambda changes: ascii(changes)[:40],
)
def test_a_message_is_short_however_long_what_is_wrong(changes):
    assert refused(read_file, json.dumps(GOOD | changes).encode())


@pytest.mark.parametrize(("place", "rest"), [(1, [24, "t", []]), (2, ["t", []]), (3, [[]])])
def test_a_message_about_a_link_is_short_too(place: int, rest: list[object]):
    assert refused(read_link, word([*[1, 4, 24][:place], LONG, *rest]))
    for depth in range(100, 1_100, 10):
        nested = "[" * depth + "]" * depth
        text = json.dumps([*[1, 4, 24][:place], "here", *rest]).replace('"here"', nested)
        assert refused(read_link, base64.urlsafe_b64encode(text.encode()).decode().rstrip("="))


def test_a_file_is_good_without_changes_and_with_a_byte_order_mark():
    script = Script(Pool(), (NewRequest("ROMEO:"),))
    assert read_file(json.dumps(GOOD).encode()) == script
    assert read_file(b"\xef\xbb\xbf" + json.dumps(GOOD).encode()) == script


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 60_000,
        b'{"a":' * 12_000,
        b"9" * 60_000,
        b'{"pagedkv_sandbox": ' + b"9" * 60_000 + b"}",
        b" " * (LARGEST_FILE + 1),
        b"\xff\xfe",
        b"",
        b"null",
        b"NaN",
        b"PK\x03\x04",
    ],
    ids=lambda content: f"{content[:8]!r}",
)
def test_bombs(content):
    assert refused(read_file, content)
    text = base64.urlsafe_b64encode(content).decode().rstrip("=")
    assert refused(read_link, text)


def test_links_are_bounded():
    assert "characters" in refused(read_link, "A" * (LONGEST_LINK + 1))
    for data in (
        [2, 4, 24, "t", []],
        [1, 4, 24, "x", []],
        [1, 4, 24, "t", ["q"]],
        [1, 4, 24, "t", [5]],
    ):
        assert refused(read_link, word(data))


def test_forty_actions_with_four_hundred_characters_make_a_short_link():
    news = [NewRequest("To be, or not to be, that is the questio")] * 10
    decodes = [DecodeToken(n % 10 + 1, "x" if n % 2 else None) for n in range(20)]
    script = Script(Pool(32, 256, "scattered"), (*news, *decodes, *[EngineStep()] * 10))
    assert sum(len(action.prompt) for action in news) == 400
    assert len(to_link(script)) <= 2_000


def test_the_longest_session_fits_a_file_and_a_link():
    longest_prompt = NewRequest("\n" * LONGEST_PROMPT)  # which JSON writes with two characters
    news = (longest_prompt,) * (MAX_PROMPT_CHARACTERS // LONGEST_PROMPT)
    decodes = (DecodeToken(len(news), "\n"),) * (MAX_ACTIONS - len(news))
    longest = Script(Pool(32, 256, "scattered"), (*news, *decodes))
    assert read_file(to_file(longest).encode()) == longest == read_link(to_link(longest))
    with pytest.raises(ScriptError, match="the prompts have 4097 characters in all"):
        replace(longest, actions=(*news, NewRequest("a")))
