"""A generation at rest: everything is there, in stretches that a player can be sent."""

import base64
import json

import numpy as np
import pytest

from pagedkv.generate import Choices, Generation, Shelf, keep, prove
from pagedkv.generate.story import STORY
from pagedkv.player import player_data
from pagedkv.trace.first_look import last_queries


@pytest.fixture(scope="module")
def kept(generated):
    return keep(generated(num_answers=4, length=6))


def test_what_is_kept_is_what_was_generated(kept, generated):
    generation = generated(num_answers=4, length=6)
    assert kept.choices == generation.choices
    assert kept.texts == generation.texts()
    assert kept.usage == generation.usage
    assert kept.pace == generation.pace
    assert kept.proof == prove(generation)
    assert (kept.num_frames, kept.was_stopped) == (6, False)


def test_frames_come_back_as_they_were_but_for_a_prompts_earlier_queries(kept, generated):
    frames = generated(num_answers=4, length=6).trace().frames
    for mine, other in zip(kept.trace().frames, frames, strict=True):
        assert (mine.caption, mine.state) == (other.caption, other.state)
        assert mine.events == other.events
        wanted = [(view.request, view.layer) for view in last_queries(other.attention)]
        assert [(view.request, view.layer) for view in mine.attention] == wanted


def test_a_short_run_is_sent_whole(kept):
    assert kept.frames_to_send == 6
    assert [kept.first_around(index) for index in range(6)] == [0] * 6
    stretch = kept.stretch(0)
    data = json.loads(stretch.player_json)
    assert (stretch.first, stretch.num_frames) == (0, 6)
    assert [frame["title"] for frame in data["frames"]] == [f.title for f in kept.trace().frames]
    assert data["infeasible"] is None


def test_of_a_long_run_the_frames_around_a_moment_are_sent(kept, monkeypatch):
    monkeypatch.setattr("pagedkv.generate.kept.POSITIONS_TO_SEND", 0)
    monkeypatch.setattr("pagedkv.generate.kept.FEWEST_FRAMES", 3)
    assert kept.frames_to_send == 3
    assert [kept.first_around(index) for index in range(6)] == [0, 0, 1, 2, 3, 3]
    titles = [frame.title for frame in kept.trace().frames]
    for index in range(6):
        stretch = kept.stretch(kept.first_around(index))
        shown = [frame["title"] for frame in json.loads(stretch.player_json)["frames"]]
        assert shown == titles[stretch.first : stretch.first + 3]
        assert shown[index - stretch.first] == titles[index]


def vectors_by_frame(data) -> list[list[bytes | None]]:
    """What pointing at each slot of the board shows, frame by frame."""
    shape = data["vectors"]["shape"]
    packed = np.frombuffer(base64.b64decode(data["vectors"]["f16"]), "<f2").reshape(shape)
    return [
        [
            None if slot.get("v") is None else packed[slot["v"]].tobytes()
            for place in frame["blocks"]
            for slot in data["blocks"][place]["slots"]
        ]
        for frame in data["frames"]
    ]


def test_a_stretch_is_sent_with_the_vectors_of_its_own_frames_and_no_others(kept, monkeypatch):
    whole = json.loads(kept.stretch(0).player_json)
    monkeypatch.setattr("pagedkv.generate.kept.POSITIONS_TO_SEND", 0)
    monkeypatch.setattr("pagedkv.generate.kept.FEWEST_FRAMES", 2)
    for first in (4, 2, 0):
        data = json.loads(kept.stretch(first).player_json)
        expected = vectors_by_frame(whole)[first : first + 2]
        assert vectors_by_frame(data) == expected
        shown = {vector for frame in expected for vector in frame} - {None}
        assert len(shown) == data["vectors"]["shape"][0] > 0
    assert shown < {vector for frame in vectors_by_frame(whole) for vector in frame} - {None}


@pytest.mark.parametrize("index", [-1, 6])
def test_a_frame_that_there_is_not_is_refused(kept, index):
    with pytest.raises(ValueError, match="frames 0 to 5"):
        kept.first_around(index)


def test_the_largest_choices_are_sent_in_bounds(model):
    choices = Choices(prompt="x" * 128, num_answers=8, length=128)
    generation = Generation(choices, model)
    for _ in range(3):
        generation.advance()
    assert keep(generation).frames_to_send == 3
    data = player_data(generation.trace(), STORY)
    assert len(json.dumps(data["frames"])) < 600_000  # three of 8 x 130 positions


def test_a_stopped_run_is_kept_as_far_as_it_came(model):
    generation = Generation(Choices(num_answers=2, length=5), model)
    generation.advance()
    kept = keep(generation)
    assert (kept.was_stopped, kept.num_frames) == (True, 1)
    assert [len(text) for text in kept.texts] == [1, 1]


def test_a_proof_that_is_there_already_is_kept_and_not_made_again(generated, monkeypatch):
    generation = generated(num_answers=4, length=6)
    proof = prove(generation)
    monkeypatch.setattr("pagedkv.generate.kept.prove", lambda _: 1 / 0)
    assert keep(generation, proof).proof is proof


def test_nothing_cannot_be_kept(model):
    with pytest.raises(ValueError):
        keep(Generation(Choices(), model))


def test_a_shelf_gives_back_what_was_put_on_it(kept):
    shelf = Shelf(10 * len(kept.packed))
    one, other = shelf.put(kept), shelf.put(kept)
    assert one != other
    assert shelf.get(one) is shelf.get(other) is kept
    shelf.remove(one)
    shelf.remove(one)
    assert shelf.get(one) is None
    assert len(shelf) == 1


def test_what_one_shelf_gave_out_opens_nothing_on_another(kept):
    """As after a server's caches were emptied: sessions remember keys of the shelf before."""
    before, after = Shelf(10**9), Shelf(10**9)
    keys = [before.put(kept) for _ in range(3)]
    assert not {after.put(kept) for _ in range(3)} & set(keys)
    assert [after.get(key) for key in keys] == [None] * 3


def test_a_full_shelf_gives_up_what_was_asked_for_longest_ago(kept):
    shelf = Shelf(2 * len(kept.packed))
    first, second = shelf.put(kept), shelf.put(kept)
    shelf.get(first)
    third = shelf.put(kept)
    assert shelf.get(second) is None
    assert shelf.get(first) is shelf.get(third) is kept


def test_the_newest_run_is_kept_however_large(kept):
    shelf = Shelf(0)
    shelf.put(kept)
    newest = shelf.put(kept)
    assert len(shelf) == 1
    assert shelf.get(newest) is kept
