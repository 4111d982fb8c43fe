"""Which machine code runs behind the launchers: decided once, when ``kernels`` is imported.

Two environment variables ask, and ``runtime()`` says what came of it:

=================  =====================  ======================================================
variable           values                 ``auto`` means
=================  =====================  ======================================================
PAGEDKV_DEVICE     auto, cuda, cpu        CUDA if there is any, else the CPU
PAGEDKV_BACKEND    auto, triton, torch    Triton if it can be imported, else torch
=================  =====================  ======================================================

On a GPU Triton compiles the kernels. Without one its interpreter runs the same source with numpy.
Triton takes that decision while it is being imported, from ``TRITON_INTERPRET``; this module is
therefore the only one that may import Triton first, and it sets the variable itself.

What this module does not do: move tensors. It chooses code, never a place for data.
"""

import os
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TypedDict

import torch

DEVICES = ("auto", "cuda", "cpu")
BACKENDS = ("auto", "triton", "torch")


class Runtime(TypedDict):
    """What the app prints beside every number."""

    device: str  # "cuda" or "cpu"
    backend: str  # "triton-cuda", "triton-interpreter" or "torch"
    gpu: str | None  # the GPU's name


@dataclass(frozen=True, slots=True)
class Choice:
    """What this process runs on: the device, and whether Triton is there and interpreted."""

    device: str  # "cuda" or "cpu"
    has_triton: bool
    interpreted: bool  # Triton's interpreter runs the kernels; False without Triton

    @property
    def backend(self) -> str:
        """``triton-cuda``, ``triton-interpreter`` or ``torch``."""
        if not self.has_triton:
            return "torch"
        return "triton-interpreter" if self.interpreted else "triton-cuda"


def choose() -> Choice:
    """Read both variables and import Triton if it is wanted.

    Raises ``ValueError`` for a value that is not in the table above, ``RuntimeError`` for a wish
    that this machine or this process cannot grant.
    """
    device = _wanted_device()
    wanted = _variable("PAGEDKV_BACKEND", BACKENDS)
    if wanted == "torch":
        return Choice(device, has_triton=False, interpreted=False)
    if device == "cpu":
        _ask_for_the_interpreter()
    try:
        import_module("triton.language")
    except ImportError as error:
        if wanted == "triton":
            raise RuntimeError(
                f"PAGEDKV_BACKEND is 'triton', but Triton cannot be imported ({error}); "
                "install it or use 'auto' or 'torch'"
            ) from error
        return Choice(device, has_triton=False, interpreted=False)
    return Choice(device, has_triton=True, interpreted=_triton_interprets())


def runtime() -> Runtime:
    """Say what produces the numbers of this process, for the screen and for traces."""
    gpu = torch.cuda.get_device_name() if CHOICE.device == "cuda" else None
    return {"device": CHOICE.device, "backend": CHOICE.backend, "gpu": gpu}


def _variable(name: str, allowed: tuple[str, ...]) -> str:
    value = os.environ.get(name, "auto")
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}")
    return value


def _wanted_device() -> str:
    wanted = _variable("PAGEDKV_DEVICE", DEVICES)
    has_cuda = torch.cuda.is_available()
    if wanted == "cuda" and not has_cuda:
        raise RuntimeError("PAGEDKV_DEVICE is 'cuda', but torch finds no CUDA device; use 'auto'")
    return "cuda" if has_cuda and wanted != "cpu" else "cpu"


def _ask_for_the_interpreter() -> None:
    already_imported = sys.modules.get("triton") is not None
    if already_imported and not _triton_interprets():
        raise RuntimeError(
            "triton was imported before kernels and without TRITON_INTERPRET=1, so it can only "
            "compile, and the kernels are to run on the CPU; import kernels first, or set "
            "TRITON_INTERPRET=1 before triton is imported, or set PAGEDKV_BACKEND=torch"
        )
    os.environ["TRITON_INTERPRET"] = "1"


def _triton_interprets() -> bool:
    # Triton's own library functions are wrapped at its import; how tells which mode it is in.
    import triton.language as tl
    from triton import JITFunction

    return not isinstance(tl.cdiv, JITFunction)


CHOICE = choose()
