"""Choices that between them show everything that can happen to a block."""

import pytest

GRID = [
    {"num_answers": 4, "length": 6},
    {"num_answers": 3, "length": 5, "block_size": 2},  # the prompt fills its blocks
    {"num_answers": 1, "length": 5, "prompt": "ROMEO:"},
    {"num_answers": 8, "length": 3, "prompt": "ROMEO:", "block_size": 5},
    {"num_answers": 2, "length": 1},
    {"num_answers": 2, "length": 4, "prompt": "a", "block_size": 1},
    {"num_answers": 2, "length": 4, "prompt": "abc", "block_size": 32},
]
every_choice = pytest.mark.parametrize("fields", GRID, ids=str)
