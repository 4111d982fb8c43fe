"""What a lesson is: words for the learner, and a script that runs on the real engine.

Words and logic stay apart, so that another language is another set of words: ``frames`` maps a key
to a title and a caption template, and the script only names the key. Templates cite the frame by
path (see ``pagedkv.narration``); no number is typed in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pagedkv.settings import Settings

if TYPE_CHECKING:
    from pagedkv.recorder import Recorder


@dataclass(frozen=True, slots=True)
class Words:
    """The title and the caption template of one frame."""

    title: str
    caption: str


class Told(Protocol):
    """Whatever is told in frames: a lesson, or what a learner does on a page of their own."""

    @property
    def slug(self) -> str:
        """Its name in addresses and traces."""
        ...

    @property
    def figure(self) -> int | None:
        """The article's figure that it follows, or None."""
        ...

    @property
    def title(self) -> str:
        """Its name for people."""
        ...

    @property
    def question(self) -> str:
        """What to watch for."""
        ...

    @property
    def frames(self) -> Mapping[str, Words]:
        """Titles and caption templates by key."""
        ...


@dataclass(frozen=True, slots=True)
class Tale:
    """What a learner does on a page of their own: told as lessons are, but each frame brings its
    own words.
    """

    slug: str
    title: str
    question: str
    figure: int | None = None
    frames: Mapping[str, Words] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EngineNote:
    """How an engine in use does it, ``as_of`` which version and date."""

    text: str
    as_of: str


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings that show another case of a lesson, one click away."""

    label: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson: found by listing this folder, shown in ``order``.

    ``question`` is what to watch for, ``takeaway`` what to remember, ``minutes`` its share of a
    class. ``figure`` is the article's figure, or None. ``script`` drives the recorder.
    ``presets`` are offered beside the settings.
    """

    slug: str
    order: int
    figure: int | None
    title: str
    question: str
    takeaway: str
    minutes: int
    in_engines_today: tuple[EngineNote, ...]
    frames: Mapping[str, Words]
    script: "Callable[[Recorder], None]"
    presets: tuple[Preset, ...] = ()
