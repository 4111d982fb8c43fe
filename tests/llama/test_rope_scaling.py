"""RoPE for longer contexts: against the definitions, pair by pair, and refused where unclear."""

import math

import numpy as np
import pytest
import torch
from tiny_llama import (
    CONFIG,
    FREQUENCIES,
    random_weights,
    reference_logits,
    some_ids,
    write_folder,
)

import kernels
from pagedkv.engine import Engine
from pagedkv.llama import load_llama
from pagedkv.llama.config import config_from
from pagedkv.llama.rope_scaling import LinearScaling, Llama3Scaling
from pagedkv.model.train import dense_causal_attend

DEVICE = kernels.runtime()["device"]
LINEAR = {"type": "linear", "factor": 3.0}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 0.5,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
# Of Llama 3.2 1B as it is published: what its long contexts need.
PUBLISHED = {**LLAMA3, "factor": 32.0, "low_freq_factor": 1.0}
PUBLISHED |= {"original_max_position_embeddings": 8192}


def lowered(frequency: float, fields: dict) -> float:
    """The definition in terms of wavelengths, for one pair."""
    if "low_freq_factor" not in fields:
        return frequency / fields["factor"]
    wavelength = 2 * math.pi / frequency
    context = fields["original_max_position_embeddings"]
    low, high = fields["low_freq_factor"], fields["high_freq_factor"]
    if wavelength < context / high:
        return frequency
    if wavelength > context / low:
        return frequency / fields["factor"]
    smooth = (context / wavelength - low) / (high - low)
    return (1 - smooth) * frequency / fields["factor"] + smooth * frequency


@pytest.mark.parametrize("fields", [LINEAR, LLAMA3, PUBLISHED], ids=["linear", "llama3", "3.2"])
def test_frequencies_are_those_of_the_definition(fields):
    scaling = config_from(CONFIG | {"rope_scaling": fields}).rope_scaling
    frequencies = 500_000.0 ** (-np.arange(0, 64, 2) / 64)
    expected = np.array([lowered(frequency, fields) for frequency in frequencies])
    found = scaling(torch.from_numpy(frequencies)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_of_the_published_scaling_all_three_cases_occur():
    """Else the test above would prove less than it says."""
    frequencies = 500_000.0 ** (-np.arange(0, 64, 2) / 64)
    ratios = {round(lowered(frequency, PUBLISHED) / frequency, 6) for frequency in frequencies}
    assert {1.0, round(1 / 32, 6)} < ratios


@pytest.mark.parametrize("name", ["rope_scaling", "rope_parameters"])
@pytest.mark.parametrize("fields", [LINEAR, LLAMA3], ids=["linear", "llama3"])
def test_logits_are_those_of_the_definitions(tmp_path, name, fields):
    weights = random_weights()
    folder = write_folder(tmp_path / "m", weights, CONFIG | {name: fields})
    ids = some_ids(40)
    positions = torch.arange(len(ids), device=DEVICE)
    found = load_llama(folder, DEVICE)(torch.tensor(ids).to(DEVICE), positions, dense_causal_attend)
    frequencies = [lowered(frequency, fields) for frequency in FREQUENCIES]
    expected = reference_logits(weights, ids, frequencies=frequencies)
    assert (found.cpu() - expected).abs().max() < 1e-3
    assert (reference_logits(weights, ids) - expected).abs().max() > 0.1  # scaling is noticed


def test_it_holds_through_the_paged_cache(tmp_path):
    weights = random_weights()
    llama = load_llama(write_folder(tmp_path / "m", weights, CONFIG | {"rope_scaling": LLAMA3}))
    engine = Engine(llama.to(DEVICE), block_size=4, num_blocks=16)
    engine.admit("B", "The fifth is 125, the é")
    engine.execute("B")
    ids = llama.tokenizer.encode("The fifth is 125, the é")
    frequencies = [lowered(frequency, LLAMA3) for frequency in FREQUENCIES]
    expected = reference_logits(weights, ids, frequencies=frequencies)[-1]
    assert (engine.logits("B") - expected).abs().max() < 1e-3


def test_older_and_newer_fields_are_read():
    assert config_from(CONFIG | {"rope_scaling": LINEAR}).rope_scaling == LinearScaling(3.0)
    newer = {**LLAMA3, "rope_theta": 7e5}
    config = config_from(CONFIG | {"rope_parameters": newer, "rope_scaling": LLAMA3})
    assert config.rope_scaling == Llama3Scaling(8.0, 0.5, 4.0, 32)
    assert config.rope_base == 7e5
    assert config_from(CONFIG).rope_scaling is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"factor": None}, "rope_scaling: factor is None; it must be a number of at least 1"),
        ({"factor": 0.5}, "factor is 0.5"),
        ({"factor": True}, "factor is True"),
        ({"factor": "8"}, "factor is '8'"),
        ({"factor": float("nan")}, "factor is nan"),
        ({"low_freq_factor": -1}, "low_freq_factor is -1"),
        ({"low_freq_factor": 4}, "high_freq_factor is 4; it must be above low_freq_factor 4"),
        ({"high_freq_factor": None}, "high_freq_factor is None"),
        ({"original_max_position_embeddings": None}, "position_embeddings is None"),
        ({"original_max_position_embeddings": 32.0}, r"position_embeddings is 32\.0"),
        ({"original_max_position_embeddings": 0}, "position_embeddings is 0"),
    ],
)
def test_numbers_that_make_no_sense_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        config_from(CONFIG | {"rope_scaling": {**LLAMA3, **changes}})


def test_two_scalings_that_differ_are_refused():
    with pytest.raises(ValueError, match="different scalings"):
        config_from(CONFIG | {"rope_scaling": LINEAR, "rope_parameters": LLAMA3})
