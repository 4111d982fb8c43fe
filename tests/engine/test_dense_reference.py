"""The separately grown checker: contiguous, float64, apart from the pool."""

import ast
import inspect

import pytest
import torch

from pagedkv import dense_reference
from pagedkv.dense_reference import DenseReference

NUM_HEADS, NUM_KV_HEADS, HEAD_DIM = 4, 2, 8


def some(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def reference() -> DenseReference:
    """Two layers; B has 3 positions in each."""
    reference = DenseReference(num_layers=2)
    for layer in range(2):
        key, value = some(2, 3, NUM_KV_HEADS, HEAD_DIM, seed=layer)
        reference.append("B", layer, 0, key, value)
    return reference


def test_k_and_v_are_kept_as_they_came_in_float64(reference):
    key, value = some(2, 3, NUM_KV_HEADS, HEAD_DIM, seed=1)
    assert torch.equal(reference.keys("B", 1), key.double())
    assert torch.equal(reference.values("B", 1), value.double())
    assert reference.keys("B", 0).dtype == torch.float64


def test_new_positions_go_behind_the_old_ones_layer_by_layer(reference):
    key, value = some(2, 1, NUM_KV_HEADS, HEAD_DIM, seed=9)
    reference.append("B", 0, 3, key, value)
    assert len(reference.keys("B", 0)) == 4
    assert torch.equal(reference.keys("B", 0)[3:], key.double())
    assert len(reference.keys("B", 1)) == 3


def test_positions_that_come_again_replace_what_was_there(reference):
    before = reference.keys("B", 0)
    key, value = some(2, 2, NUM_KV_HEADS, HEAD_DIM, seed=9)
    reference.append("B", 0, 1, key, value)
    assert torch.equal(reference.keys("B", 0), torch.cat([before[:1], key.double()]))
    assert torch.equal(reference.values("B", 0)[1:], value.double())


def test_later_changes_of_the_models_tensors_do_not_reach_it():
    reference = DenseReference(1)
    key, value = some(2, 3, NUM_KV_HEADS, HEAD_DIM)
    before = key.clone().double()
    reference.append("B", 0, 0, key, value)
    key.zero_()
    assert torch.equal(reference.keys("B", 0), before)


def test_attention_is_softmax_of_scaled_scores_times_v(reference):
    query = some(NUM_HEADS, HEAD_DIM, seed=5)
    result = reference.attend("B", 1, query, context_len=3)
    for head in range(NUM_HEADS):
        keys, values = (store("B", 1)[:, head // 2] for store in (reference.keys, reference.values))
        weights = torch.softmax(keys @ query[head].double() / HEAD_DIM**0.5, dim=0)
        torch.testing.assert_close(result.weights[head], weights)
        torch.testing.assert_close(result.out[head], weights @ values)


def test_a_query_sees_the_first_context_len_positions_only(reference):
    result = reference.attend("B", 0, some(NUM_HEADS, HEAD_DIM), context_len=2)
    assert result.weights.shape == (NUM_HEADS, 2)
    torch.testing.assert_close(result.weights.sum(dim=1), torch.ones(NUM_HEADS).double())


def test_a_fork_starts_equal_and_grows_on_its_own(reference):
    reference.fork("B", "R2")
    key, value = some(2, 1, NUM_KV_HEADS, HEAD_DIM, seed=9)
    reference.append("R2", 0, 3, key, value)
    assert torch.equal(reference.keys("R2", 0)[:3], reference.keys("B", 0))
    assert (len(reference.keys("R2", 0)), len(reference.keys("B", 0))) == (4, 3)
    assert len(reference.values("B", 0)) == 3


def test_a_dropped_request_is_forgotten_and_its_fork_is_not(reference):
    reference.fork("B", "R2")
    reference.drop("B")
    assert len(reference.keys("R2", 1)) == 3
    with pytest.raises(KeyError):
        reference.keys("B", 0)


def test_it_imports_nothing_of_the_cache_it_judges():
    tree = ast.parse(inspect.getsource(dense_reference))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert imported == {"dataclasses", "torch", "kernels"}
