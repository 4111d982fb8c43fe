"""The attention figure: cells, scales, lines and words."""

import json
import re

import numpy as np
import pytest
from figure_samples import OFF, attended, frame, growing, request, trace

from pagedkv.figures import PARTS, attention_figure
from pagedkv.figures.attention_cells import cell_texts, difference_unit
from pagedkv.figures.attention_data import attention_map
from pagedkv.figures.theme import TEXT_SIZE, TITLE_SIZE
from pagedkv.settings import Settings
from pagedkv.trace.errors import DENSE_TOLERANCE


def shown(text: str) -> str:
    return re.sub(r"<[^>]*>", "", text)


def long_prompt(length: int, size: int = 4):
    """A prompt whose positions all attended, in blocks P0, P1..."""
    blocks = tuple(range(length))
    views = tuple(v for q in range(length) for v in attended("B", q, blocks, size))
    whole = request("B", "x" * length, blocks)
    settings = Settings(block_size=size, capacity=256)
    return trace(frame(0, requests=(whole,), attention=views), settings=settings)


def test_cells_have_the_shape_of_the_trace_and_its_values():
    heatmap = attention_figure(growing(), "B", 0, 0, "kernel").data[0]
    assert heatmap.z.shape == (3, 6)
    assert heatmap.z[2, 5] == np.float32(1 / 6)


def test_the_first_query_is_on_top():
    low, high = attention_figure(growing(), "B", 0, 0, "kernel").layout.yaxis.range
    assert low > high


@pytest.mark.parametrize("part", ["kernel", "dense"])
def test_weights_have_the_same_scale_from_0_to_1(part):
    colours = attention_figure(growing(), "B", 0, 0, part).layout.coloraxis
    assert (colours.cmin, colours.cmax) == (0, 1)
    assert colours.colorscale[0][1] == "#00224e"  # Cividis


def test_the_scale_of_differences_reaches_the_tolerance_so_that_rounding_stays_pale():
    figure = attention_figure(growing(), "B", 0, 1, "difference")
    colours = figure.layout.coloraxis
    assert OFF < DENSE_TOLERANCE
    assert (colours.cmin, colours.cmax) == (-DENSE_TOLERANCE, DENSE_TOLERANCE)
    assert list(colours.colorbar.ticktext) == ["−1.0e-05", "0", "1.0e-05"]
    assert "color:#000" in figure.data[0].text[2][5]


def test_a_difference_beyond_the_tolerance_has_the_whole_symmetric_scale():
    broken = attended("B", 1, (0,))
    broken[0].dense[0, 0] += 0.25
    made = trace(frame(0, requests=(request("B", "RO"),), attention=broken))
    colours = attention_figure(made, "B", 0, 0, "difference").layout.coloraxis
    assert (colours.cmin, colours.cmax) == (-0.25, 0.25)


def test_equal_weights_get_a_scale_and_say_that_there_is_no_difference():
    figure = attention_figure(growing(), "B", 0, 0, "difference")
    assert figure.layout.coloraxis.cmin < figure.layout.coloraxis.cmax
    assert "at most 0" in figure.layout.title.text
    assert "counted" not in figure.layout.title.text


def test_masked_cells_are_blank_and_hatched():
    figure = attention_figure(growing(), "B", 0, 0, "kernel")
    heatmap, hatching = figure.data[:2]
    assert np.isnan(heatmap.z).sum() == 3
    assert heatmap.hoverongaps is False
    assert hatching.fillpattern.shape == "/"
    assert list(hatching.x) == [3.5, 5.5, 5.5, 3.5, 3.5, None, 4.5, 5.5, 5.5, 4.5, 4.5, None]
    assert "hatched" in figure.layout.annotations[-1].text


def test_masked_cells_have_no_number_and_seen_zeros_have_one():
    texts = cell_texts(attention_map(growing(), "B", 0, 1), "kernel")
    assert [shown(text) for text in texts[0]] == [".00", ".00", ".00", "1", "", ""]


def test_differences_are_counted_in_the_unit_that_the_subtitle_names():
    texts = cell_texts(attention_map(growing(), "B", 0, 1), "difference")
    assert [shown(text) for text in texts[2]] == ["0", "0", "0", "0", "0", "95"]
    title = attention_figure(growing(), "B", 0, 1, "difference").layout.title.text
    assert "at most 9.5e-07" in title
    assert "counted in 1e-08" in title


@pytest.mark.parametrize(
    ("largest", "unit"), [(1.2e-07, 1e-08), (9.9e-07, 1e-08), (0.5, 0.01), (0.0, 1.0)]
)
def test_a_unit_leaves_two_digits(largest, unit):
    assert difference_unit(largest) == pytest.approx(unit)


def test_a_value_that_is_no_number_is_written_as_such():
    broken = attended("B", 1, (0,))
    broken[0].paged[0, 0] = np.nan
    made = trace(frame(0, requests=(request("B", "RO"),), attention=broken))
    assert "nan" in shown(attention_figure(made, "B", 0, 0, "kernel").data[0].text[0][0])
    assert "at most nan" in attention_figure(made, "B", 0, 0, "difference").layout.title.text


def test_only_small_maps_have_numbers_in_their_cells():
    assert attention_figure(long_prompt(12), "B", 0, 0, "kernel").data[0].text is not None
    large = attention_figure(long_prompt(13), "B", 0, 1, "difference")
    assert large.data[0].text is None
    assert "counted" not in large.layout.title.text


def test_blocks_are_parted_by_lines_and_named():
    figure = attention_figure(growing(), "B", 0, 0, "kernel")
    for line in figure.data[2:]:
        assert list(line.x) == [3.5, 3.5, None]
        assert list(line.y) == [-0.5, 2.5, None]
    names = [(note.text, note.x) for note in figure.layout.annotations[:-1]]
    assert names == [("L0<br>P3", 1.5), ("L1<br>P0", 4.5)]


def test_lines_between_blocks_are_light_on_dark_so_that_they_are_seen_on_every_colour():
    wide, narrow = attention_figure(growing(), "B", 0, 0, "kernel").data[2:]
    assert wide.line.width > narrow.line.width
    assert wide.line.color != narrow.line.color


def test_names_of_many_small_blocks_are_thinned_but_every_block_has_its_bracket():
    figure = attention_figure(long_prompt(60, size=1), "B", 0, 0, "kernel")
    names = [note.text for note in figure.layout.annotations if note.text.startswith("L")]
    assert names[0] == "L0<br>P0"
    assert 5 <= len(names) <= 15
    assert len(figure.layout.shapes) == 60
    assert [line.line.width for line in figure.data[2:]] == [1]


def test_brackets_have_the_colour_of_the_request_and_reach_over_its_columns():
    first, second = attention_figure(growing(), "B", 0, 0, "kernel").layout.shapes
    assert first.fillcolor == second.fillcolor == "#E69F00"  # B appears second, after C
    assert (round(first.x0), round(first.x1)) == (0, 3)
    assert (round(second.x0), round(second.x1)) == (4, 5)


def test_axes_show_position_and_character_with_white_space_visible():
    layout = attention_figure(growing(), "B", 0, 0, "kernel").layout
    assert layout.xaxis2.ticktext == ("R<br>0", "O<br>1", "↵<br>2", "E<br>3", "␣<br>4", "&lt;<br>5")
    assert layout.yaxis2.ticktext == ("3 E", "4 ␣", "5 &lt;")


def test_pointing_at_a_cell_tells_block_frame_and_the_sum_of_its_row():
    layout = attention_figure(growing(), "B", 0, 0, "kernel").layout
    assert layout.xaxis.labelalias["4"] == "4 ␣, L1 in P0"
    assert layout.yaxis.labelalias["1"] == "4 ␣, frame 2<br>its weights sum to 1.000000"


def test_both_pairs_of_axes_agree():
    layout = attention_figure(growing(), "B", 0, 0, "kernel").layout
    assert layout.xaxis.range == layout.xaxis2.range
    assert layout.yaxis.range == layout.yaxis2.range


def test_queries_that_have_no_row_are_told():
    note = attention_figure(growing(), "B", 0, 0, "kernel").layout.annotations[-1].text
    assert "queries below 3" in note


def test_a_single_query_of_a_single_key_needs_no_note():
    made = trace(frame(0, requests=(request("B", "R"),), attention=attended("B", 0, (0,))))
    notes = attention_figure(made, "B", 0, 0, "kernel").layout.annotations
    assert [note.text for note in notes] == ["L0<br>P0"]


@pytest.mark.parametrize(
    ("backend", "name"),
    [("triton-interpreter", "Triton"), ("triton-cuda", "Triton"), ("torch", "torch")],
)
def test_the_title_names_what_computed_the_weights(backend, name):
    made = trace(*growing().frames, backend=backend)
    assert f"{name} kernel" in attention_figure(made, "B", 0, 0, "kernel").layout.title.text
    assert "Dense" in attention_figure(made, "B", 0, 0, "dense").layout.title.text


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("part", PARTS)
def test_no_type_is_smaller_than_can_be_read(part, dark):
    layout = attention_figure(growing(), "B", 0, 1, part, dark=dark).layout
    sizes = re.findall(r'"size":(\d+)', layout.to_plotly_json()["title"]["text"])
    written = json.dumps(layout.to_plotly_json(), default=str)
    sizes += [int(size) for size in re.findall(r'"size": (\d+)', written)]
    sizes += [int(size) for size in re.findall(r"font-size:(\d+)", written)]
    assert min(map(int, sizes)) >= TEXT_SIZE >= 14
    assert layout.title.font.size == TITLE_SIZE >= 16


def test_a_larger_map_is_higher_but_never_higher_than_a_screen():
    heights = [
        attention_figure(long_prompt(n), "B", 0, 0, "kernel").layout.height for n in (1, 3, 9, 60)
    ]
    assert heights == sorted(heights)
    assert heights[0] < heights[1] < heights[2] == heights[3] <= 600


@pytest.mark.parametrize("part", PARTS)
def test_json_holds_no_nan(part):
    text = attention_figure(growing(), "B", 0, 1, part).to_json()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_wrong_choices_are_named():
    with pytest.raises(ValueError, match="head is 5; it must be one of 0, 1"):
        attention_figure(growing(), "B", 0, 5, "kernel")
    with pytest.raises(ValueError, match="part is 'both'; it must be one of"):
        attention_figure(growing(), "B", 0, 0, "both")
