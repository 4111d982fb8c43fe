"""Which machine the figures are from."""

import os
import platform
from pathlib import Path

import streamlit
import torch

import kernels


def machine() -> str:
    """Processor, cores, load, versions, and the code behind the kernels, in one paragraph."""
    runtime = kernels.runtime()
    load = f", load average {os.getloadavg()[0]:.1f} before the first" if os.name == "posix" else ""
    return (
        f"{_processor()}, {os.cpu_count()} cores{load}; {platform.system()} "
        f"{platform.release()}; Python {platform.python_version()}, torch {torch.__version__}, "
        f"Streamlit {streamlit.__version__}; kernels: {runtime['backend']} on "
        f"{runtime['gpu'] or runtime['device']}."
    )


def _processor() -> str:
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
