"""Captions: every way to write a citation, and that each citation leaves a fact behind."""

import pytest
from trace_samples import FRAME

from pagedkv.narration import join, narrate, ordinal, plural
from pagedkv.settings import Settings
from pagedkv.trace.facts import UnknownPathError
from pagedkv.trace.frame import Fact
from pagedkv.trace.written import visible

SETTINGS = Settings()


def told(template: str) -> str:
    return narrate(template, FRAME, SETTINGS).text


def facts(template: str) -> tuple[Fact, ...]:
    return narrate(template, FRAME, SETTINGS).facts


def test_a_plain_citation_is_the_value():
    assert told("{state.totals.stored_slots} stored") == "5 stored"
    assert facts("{state.totals.stored_slots} stored") == (Fact(5, "state.totals.stored_slots"),)


def test_a_noun_follows_its_count():
    assert told("{state.totals.blocks_in_use:block}") == "2 blocks"
    assert told("{state.requests[R1].num_tokens:position}") == "1 position"
    assert told("{state.totals.free_blocks:block}") == "0 blocks"


def test_a_noun_may_have_several_words():
    assert told("{state.totals.empty_slots:empty slot}") == "3 empty slots"


def test_a_word_alone_agrees_with_the_count_and_still_cites_it():
    assert told("{state.totals.empty_slots:is|are}") == "are"
    assert told("{state.requests[R1].num_tokens:is|are}") == "is"
    assert facts("{state.totals.empty_slots:is|are}") == (Fact(3, "state.totals.empty_slots"),)


def test_an_ordinal_is_the_place_of_an_index():
    assert told("the {events[SlotsWritten].positions[2]:ordinal} slot") == "the third slot"
    assert facts("{events[SlotsWritten].positions[2]:ordinal}") == (
        Fact(2, "events[2].positions[2]"),
    )


def test_a_prefix_goes_on_each_of_a_list_and_each_element_is_a_fact():
    narration = narrate("{state.requests[B].block_table:P}", FRAME, SETTINGS)
    assert narration.text == "P1 and P0"
    assert narration.facts == (
        Fact(1, "state.requests[0].block_table[0]"),
        Fact(0, "state.requests[0].block_table[1]"),
    )


def test_a_list_without_a_prefix_is_joined_as_it_is():
    assert told("{state.waiting}") == "C and D"


def test_a_list_of_more_than_eight_is_cut_to_its_first_three_and_its_last():
    narration = narrate("{state.requests[R1].block_table:P}", FRAME, SETTINGS)
    assert narration.text == "P0, P1, P2 … P8"
    assert [fact.value for fact in narration.facts] == [0, 1, 2, 8]
    assert narration.facts[-1].path == "state.requests[1].block_table[8]"


def test_an_empty_list_is_no_words():
    assert narrate("({state.requests[R2].block_table:P})", FRAME, SETTINGS).text == "()"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("state.requests[B].pending_token", "“␣”"),
        ("state.requests[R1].pending_token", "“↵”"),
        ("state.requests[B].tokens[0]", "“R”"),
    ],
)
def test_a_character_is_visible_and_quoted(path, shown):
    assert told(f"{{{path}:char}}") == shown


def test_settings_are_cited_as_config():
    assert told("{config.block_size:slot} of {config.num_blocks}") == "4 slots of 6"
    assert facts("{config.num_blocks}") == (Fact(6, "config.num_blocks"),)


def test_lengths_and_sums_are_cited_as_expressions():
    assert told("{len(state.waiting)}") == "2"
    narration = narrate("{config.prompt_length + len(state.waiting):token}", FRAME, SETTINGS)
    assert narration.text == "8 tokens"
    assert narration.facts == (Fact(8, "config.prompt_length + len(state.waiting)"),)


def test_a_fact_cited_twice_stands_once():
    assert len(facts("{state.totals.empty_slots} and {state.totals.empty_slots:slot}")) == 1


def test_a_requests_name_with_a_digit_is_a_fact_where_the_text_has_it():
    assert facts("R1 goes on") == (Fact("R1", "state.requests[1].name"),)
    assert facts("B goes on") == ()


def test_text_without_citations_is_left_alone():
    assert told("Nothing is moved, {{as}} it were.") == "Nothing is moved, {as} it were."


@pytest.mark.parametrize(
    "path",
    [
        "state.totals.spare_slots",
        "state.requests[E].num_tokens",
        "state.requests[7].num_tokens",
        "events[BlockFreed].block_id",
        "check.needed",
        "config.num_layers",
        "len(state.nothing)",
        "nowhere",
    ],
)
def test_a_path_that_leads_nowhere_is_refused_by_name(path):
    with pytest.raises(UnknownPathError) as failed:
        told(f"{{{path}}}")
    assert path.removeprefix("len(").removesuffix(")") in str(failed.value)


@pytest.mark.parametrize("path", ["state.requests[R2].pending_token", "state.totals", "check"])
def test_what_is_no_number_or_text_cannot_be_cited(path):
    with pytest.raises(ValueError, match="cannot cite"):
        told(f"{{{path}}}")


@pytest.mark.parametrize(
    ("noun", "count", "written"),
    [
        ("block", 0, "blocks"),
        ("block", 1, "block"),
        ("block", 2, "blocks"),
        ("entry", 1, "entry"),
        ("entry", 3, "entries"),
        ("copy", 2, "copies"),
    ],
)
def test_plurals(noun, count, written):
    assert plural(noun, count) == written


def test_ordinals_reach_from_the_first_to_the_thirty_second_slot_of_a_block():
    words = [ordinal(index) for index in range(32)]
    assert words[:5] == ["first", "second", "third", "fourth", "fifth"]
    assert words[10:13] == ["eleventh", "twelfth", "thirteenth"]
    assert words[18:23] == [
        "nineteenth",
        "twentieth",
        "twenty-first",
        "twenty-second",
        "twenty-third",
    ]
    assert words[29:] == ["thirtieth", "thirty-first", "thirty-second"]
    assert len(set(words)) == 32


def test_lists_in_english():
    assert [join(["a", "b", "c"][:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]


def test_white_space_is_visible():
    assert [visible(token) for token in (" ", "\n", "R")] == ["␣", "↵", "R"]
