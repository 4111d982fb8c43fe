"""The reader that holds the lessons' words to grammar sees the slips that were once in them."""

import pytest
from lesson_citations import slips_of_grammar

from pagedkv.lessons import LESSONS


@pytest.mark.parametrize(
    "text",
    [
        "1 blocks are",
        "2 slots is free",
        "1 block of 32 slots do not hold both prompts",
        "3 blocks of 1 slot does not hold",
        "C's 1 block were not to be had",
        "0 of 1 block are free",
        "2 blocks serves both",
        "1 input need 1 block",
        "D's 1 position were written",
        "its 1 position lie in P0",
    ],
)
def test_a_slip_is_seen(text):
    assert slips_of_grammar(text)


@pytest.mark.parametrize(
    "text",
    [
        "1 block of 32 slots does not hold both prompts",
        "3 blocks of 1 slot do not hold",
        "0 of 1 are free",
        "Capacity 8 or prompt length 1 would do.",
        "1 of 4 is free and 3 of 4 are not",
        "a prompt of 6 positions needs 2 blocks; 0 are free",
        "position 6 is in P0 and P0 has 1 empty slot",
    ],
)
def test_what_agrees_is_left_alone(text):
    assert slips_of_grammar(text) == []


@pytest.mark.parametrize("slug", [lesson.slug for lesson in LESSONS])
def test_no_slip_is_made_of_a_prompt_of_one_position(slug, read):
    captions = [frame["caption"] for frame in read(slug, prompt_length=1)["frames"]]
    assert [slip for caption in captions for slip in slips_of_grammar(caption)] == []


@pytest.mark.parametrize(
    ("slug", "settings"),
    [
        ("reserve-or-allocate", {"block_size": 16, "prompt_length": 10}),
        ("reserve-or-allocate", {"block_size": 32, "capacity": 57, "prompt_length": 20}),
        ("reserve-or-allocate", {"block_size": 8, "capacity": 14, "prompt_length": 6}),
        ("shared-prefix", {"block_size": 16, "capacity": 24}),
        ("growth", {"block_size": 5, "capacity": 8, "prompt_length": 4}),
    ],
)
def test_no_slip_is_made_where_one_block_is_too_few(slug, settings, read):
    trace = read(slug, **settings)
    assert trace["config"]["num_blocks"] == 1
    texts = [trace["infeasible"], *(frame["caption"] for frame in trace["frames"])]
    assert [slip for text in texts for slip in slips_of_grammar(text)] == []
