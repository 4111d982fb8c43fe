"""How lessons begin where they cannot go on: B, or the one prompt, is refused."""

import pytest


@pytest.mark.parametrize("slug", ["block-table", "growth", "scattered-attention"])
def test_a_refused_b_is_told_in_one_frame_with_the_check_that_it_failed(read, slug):
    trace = read(slug, capacity=4)
    (frame,) = trace["frames"]
    assert frame["title"] == "B does not fit"
    assert "prompt of 6 positions needs 2 blocks; 1 of 1 is free" in frame["caption"]
    check = frame["check"]
    assert (check["request"], check["needed"], check["free"], check["fits"]) == ("B", 2, 1, False)
    assert frame["state"]["requests"] == []
    assert frame["state"]["waiting"] == ["B"]
    assert "pool" in trace["infeasible"]


@pytest.mark.parametrize("slug", ["copy-on-write", "freeing"])
def test_a_refused_prompt_is_told_in_one_frame_with_the_refusal(read, slug):
    trace = read(slug, capacity=4)
    (frame,) = trace["frames"]
    assert frame["caption"] == "The prompt needs 2 blocks; 1 of 1 is free."
    assert [event["type"] for event in frame["events"]] == ["RequestRefused"]
    assert trace["infeasible"]
