"""The course on a port of this machine, ended by its own process id."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 120  # for a machine that runs other things; a quiet one needs a few


@contextmanager
def running_server(project: Path, log: Path) -> Iterator[str]:
    """The course on a free port of this machine; yields its address."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    with log.open("w") as output:
        server = subprocess.Popen(
            [*command, *options, "--server.headless", "true"],
            cwd=project,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_until_up(server, address, log)
            yield address
        finally:
            server.terminate()
            server.wait(timeout=START_SECONDS)


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_up(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    """Wait until the server answers; if it has died instead, say what it said."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the server did not come up:\n{log.read_text()}")
