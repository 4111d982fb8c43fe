"""A package on the index is called ``kernels``, as ours is: what we import must not mean that one.

From the project's folder ``import kernels`` finds ours, whoever asks. So a package that uses the
other one would get ours, and break or worse.
"""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
LOADED = "import sys; import {}; print([n for n in sys.modules if n.split('.')[0] == 'kernels'])"


def kernels_after_importing(name: str) -> str:
    """The modules called kernels that are loaded when only this has been imported."""
    command = [sys.executable, "-c", LOADED.format(name)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "name", ["gguf", "gguf.quants", "tokenizers", "safetensors", "safetensors.torch"]
)
def test_what_reads_a_real_llm_imports_nothing_called_kernels(name: str) -> None:
    assert kernels_after_importing(name) == "[]"


def test_ours_would_be_noticed() -> None:
    """So that the test above proves something."""
    assert "'kernels.ops'" in kernels_after_importing("kernels")
