"""Sandbox sessions on a model so small that an action takes milliseconds."""

from dataclasses import replace

import pytest
import torch
from sandbox_scripts import Play

import kernels.backend
import kernels.ops
from pagedkv.model import CharGPT, ModelConfig
from pagedkv.sandbox.script import Script
from pagedkv.sandbox.session import Session


@pytest.fixture(autouse=True)
def quick_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions are long and many, and who gets which block is the same on every backend."""
    quick = replace(kernels.backend.CHOICE, has_triton=False, interpreted=False)
    for module in (kernels.backend, kernels.ops):
        monkeypatch.setattr(module, "CHOICE", quick)


@pytest.fixture(scope="session")
def small_model() -> CharGPT:
    torch.manual_seed(0)
    sizes = ModelConfig(
        num_layers=1, channels=16, num_heads=2, num_kv_heads=1, head_dim=16, mlp_channels=16
    )
    model = CharGPT(sizes).to(kernels.runtime()["device"])
    return model.eval().requires_grad_(False)


@pytest.fixture(scope="session")
def play(small_model: CharGPT) -> Play:
    """Do all that a script says, from the beginning."""

    def play_it(script: Script) -> Session:
        session = Session(script.pool, small_model)
        for action in script.actions:
            session.do(action)
        return session

    return play_it
