"""Where labels, ticks and lines go."""

import pytest
from figure_samples import attended, frame, growing, request, trace

from pagedkv.figures.attention_data import BlockSpan, attention_map
from pagedkv.figures.geometry import block_edges, every, masked_outline, matrix_height, ticks


@pytest.mark.parametrize(
    ("count", "room", "needed", "labelled"),
    [
        (5, 100, 20, [0, 1, 2, 3, 4]),
        (6, 100, 20, [0, 2, 4]),
        (1, 10, 20, [0]),
        (0, 100, 20, []),
    ],
)
def test_labels_are_thinned_evenly_to_what_has_room(count, room, needed, labelled):
    assert list(every(count, room, needed)) == labelled


@pytest.mark.parametrize("top", [1, 4, 23, 24, 255, 256])
@pytest.mark.parametrize("unit", [1, 3, 4, 32])
def test_ticks_are_few_whole_multiples_and_reach_nearly_to_the_top(top, unit):
    values = ticks(top, unit)
    assert values[0] == 0
    assert values == sorted(set(values))
    assert all(value % unit == 0 for value in values if value != top)
    assert len(values) <= 8
    assert top * 0.9 <= values[-1] <= top


def test_the_outline_of_masked_cells_leaves_out_rows_without_any():
    x, y = masked_outline(attention_map(growing(), "B", 0, 0))
    assert x.count(None) == y.count(None) == 2
    assert max(value for value in y if value is not None) == 1.5


def test_a_single_row_has_no_masked_cells():
    made = trace(frame(0, requests=(request("B", "ROM"),), attention=attended("B", 2, (0,))))
    assert masked_outline(attention_map(made, "B", 0, 0)) == ([], [])


def test_edges_lie_between_blocks_only():
    spans = [BlockSpan(0, 4, 0, 3), BlockSpan(4, 4, 1, 0), BlockSpan(8, 1, 2, 5)]
    x, y = block_edges(spans, 2)
    assert x == [3.5, 3.5, None, 7.5, 7.5, None]
    assert y == [-0.5, 1.5, None] * 2
    assert block_edges(spans[:1], 2) == ([], [])


def test_rows_are_full_height_until_the_matrix_is_as_high_as_it_may_be():
    assert matrix_height(2) == 2 * matrix_height(1)
    assert matrix_height(65) == matrix_height(500)
