"""Over which iterations the means of an outcome go, and why not over others."""

from enum import StrEnum

from pagedkv.trace.written import Phrases
from pagedkv.workloads.names import setup_words
from pagedkv.workloads.outcome import Outcome
from pagedkv.workloads.simulation import WARM_UP
from pagedkv.workloads.study import Findings


class Stretch(StrEnum):
    """The iterations that were measured."""

    STEADY = "steady"  # from the 500th until the last request has left the queue
    STEADY_SO_FAR = "steady so far"  # it was stopped before the queue had ended
    SHORT = "short"  # all, for the queue ended too early
    IDLE = "idle"  # all, for nobody ran from the 500th on while the queue lasted
    EARLY = "early"  # all, for it was stopped too early
    NONE = "none"  # nobody ran


WORDS = Phrases(
    {
        Stretch.STEADY: "means over the iterations from number {first} until the last request has "
        "left the queue.",
        Stretch.STEADY_SO_FAR: "means over the iterations from number {first} until it was "
        "stopped.",
        Stretch.SHORT: "means over all iterations, for the last request had left the queue by "
        "number {first}.",
        Stretch.IDLE: "means over all iterations, for nobody ran from number {first} until the "
        "last request left the queue.",
        Stretch.EARLY: "means over all iterations until it was stopped, for nobody had run from "
        "number {first} on.",
        Stretch.NONE: "nobody ran.",
    }
)


def stretch_of(outcome: Outcome) -> Stretch:
    """Which iterations were measured."""
    if not outcome.measured:
        return Stretch.NONE
    if outcome.is_steady:
        return Stretch.STEADY_SO_FAR if outcome.queue_ended is None else Stretch.STEADY
    if outcome.queue_ended is None:
        return Stretch.EARLY
    return Stretch.SHORT if outcome.queue_ended <= WARM_UP else Stretch.IDLE


def stretch_notes(findings: Findings) -> list[str]:
    """A line for each kind of stretch, with those that have it; without if all have the same."""
    kind, of_stretch = findings.about.kind, dict[Stretch, list[str]]()
    for outcome in findings.outcomes:
        names = of_stretch.setdefault(stretch_of(outcome), [])
        names.append(setup_words(kind, outcome.setup))
    said = [
        (", ".join(names), WORDS.say(stretch, first=WARM_UP))
        for stretch, names in of_stretch.items()
    ]
    if len(said) == 1:
        words = said[0][1]
        return [words[0].upper() + words[1:]]
    return [f"{names}: {words}" for names, words in said]
