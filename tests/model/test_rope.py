import pytest
import torch

from pagedkv.model.rope import rotate, rotation

HEAD_DIM = 32


def turned(x: torch.Tensor, position: int) -> torch.Tensor:
    """Return `x` [head_dim] turned to `position`."""
    cosine, sine = rotation(torch.tensor([position]), HEAD_DIM, 10_000.0)
    return rotate(x[None, None], cosine, sine)[0, 0]


@pytest.fixture
def query_and_key() -> torch.Tensor:
    return torch.randn(2, HEAD_DIM, generator=torch.Generator().manual_seed(1))


def test_a_score_depends_on_the_distance_only(query_and_key):
    query, key = query_and_key
    near = turned(query, 9) @ turned(key, 4)
    far = turned(query, 205) @ turned(key, 200)
    torch.testing.assert_close(near, far, atol=1e-4, rtol=0)


def test_a_score_does_depend_on_the_distance(query_and_key):
    query, key = query_and_key
    assert abs(turned(query, 9) @ turned(key, 4) - turned(query, 9) @ turned(key, 5)) > 1e-2


def test_position_zero_leaves_a_vector_as_it_is(query_and_key):
    assert torch.equal(turned(query_and_key[0], 0), query_and_key[0])


def test_turning_keeps_lengths(query_and_key):
    torch.testing.assert_close(turned(query_and_key[0], 137).norm(), query_and_key[0].norm())


def test_the_first_pair_turns_by_one_radian_a_position():
    x = torch.zeros(HEAD_DIM)
    x[0] = 1.0
    result = turned(x, 1)
    assert result[0].item() == pytest.approx(0.540302, abs=1e-6)  # cos 1
    assert result[HEAD_DIM // 2].item() == pytest.approx(0.841471, abs=1e-6)  # sin 1


def test_positions_may_have_leading_dimensions():
    cosine, sine = rotation(torch.arange(6).reshape(2, 3), HEAD_DIM, 10_000.0)
    assert cosine.shape == sine.shape == (2, 3, 1, HEAD_DIM // 2)
