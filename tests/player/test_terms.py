"""The vocabulary: complete, short, and found in every spelling."""

import re

import pytest

from pagedkv.terms import TERMS, UnknownTermError, find_term, spellings

REQUIRED = (
    "position",
    "K, V, Q",
    "slot",
    "block",
    "logical block",
    "physical block",
    "block table",
    "capacity",
    "allocated",
    "stored",
    "empty",
    "free",
    "stale",
    "ref count",
    "request",
    "response",
    "execution",
    "pending token",
    "fork",
    "copy-on-write",
    "context length",
    "block pool",
    "dense reference",
)


@pytest.mark.parametrize("name", REQUIRED)
def test_every_term_of_the_course_is_defined(name: str) -> None:
    assert find_term(name).name == name


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_definition_is_one_or_two_sentences(term) -> None:
    sentences = re.findall(r"[.](?:\s|$)", term.definition)
    assert 1 <= len(sentences) <= 2
    assert term.definition[0].isupper()
    assert len(term.definition) <= 200


def test_no_two_terms_share_a_spelling() -> None:
    written = [s.casefold() for term in TERMS for s in (term.name, *term.spellings)]
    assert len(written) == len(set(written))


@pytest.mark.parametrize("text", ["Block tables", "BLOCK TABLE", "block table"])
def test_a_term_is_found_in_any_spelling_and_case(text: str) -> None:
    assert find_term(text).name == "block table"


def test_an_unknown_term_is_named() -> None:
    with pytest.raises(UnknownTermError, match="flux capacitor"):
        find_term("flux capacitor")


def test_longer_spellings_come_first_so_that_whole_terms_are_found() -> None:
    lengths = [len(spelling) for spelling in spellings()]
    assert lengths == sorted(lengths, reverse=True)
