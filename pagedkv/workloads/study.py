"""A study: one workload under several setups, one after the other, and what came of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock

from pagedkv.workloads.kinds import StudyKind
from pagedkv.workloads.outcome import Outcome
from pagedkv.workloads.setup import Setup
from pagedkv.workloads.simulation import OnProgress, Simulation
from pagedkv.workloads.workload import Workload

BLOCK_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # those of the paper's figure 18b
NUMBERS_OF_ANSWERS = (2, 4, 6)  # those of its figure 15


@dataclass(frozen=True, slots=True)
class StudyDescription:
    """What a study is of. ``recipe`` is the made workload's, None for a trace.

    ``rate`` is in requests a second, None where all are there from the beginning or a trace says.
    """

    kind: StudyKind
    title: str
    recipe: str | None
    rate: float | None
    is_saturated: bool
    num_requests: int
    mean_input: float
    mean_output: float


@dataclass(frozen=True, slots=True)
class Findings:
    """What came of a study. ``outcomes`` lacks setups that a stop left no time for."""

    about: StudyDescription
    outcomes: tuple[Outcome, ...]
    num_setups: int

    @property
    def was_stopped(self) -> bool:
        """Whether something is missing, or the last simulation did not come to its end."""
        return len(self.outcomes) < self.num_setups or self.outcomes[-1].was_stopped


class Study:
    """``kind`` says what is varied of ``setup``: ``policies``, block sizes, or answers that share.

    ``turn`` is for callers in several threads: who goes on with a study, or asks what came of it,
    holds that lock meanwhile. Raises ``WorkloadError`` for what is no kind.
    """

    def __init__(
        self,
        kind: StudyKind,
        workload: Workload,
        setup: Setup,
        *,
        policies: Sequence[str] = (),
        recipe: str | None = None,
        rate: float | None = None,
    ) -> None:
        kind = StudyKind(kind)
        self.about = StudyDescription(
            kind,
            workload.name,
            recipe,
            rate,
            workload.is_saturated,
            len(workload),
            workload.mean_input,
            workload.mean_output,
        )
        self.turn = Lock()
        self._workload = workload
        self._setups = _varied(kind, setup, policies)
        self._ended: list[Outcome] = []
        self._simulation: Simulation | None = None

    @property
    def current(self) -> Setup | None:
        """What is simulated now, None when all is done."""
        done = len(self._ended)
        return self._setups[done] if done < len(self._setups) else None

    def run(self, on_progress: OnProgress | None = None) -> None:
        """Go on to the end; an error that ``on_progress`` raises stops, and ``run`` goes on later.

        It is told how many requests are done, of how many, over all setups.
        """
        each = len(self._workload)
        while (setup := self.current) is not None:
            before = each * len(self._ended)
            if self._simulation is None:
                self._simulation = Simulation(self._workload, setup)
            if on_progress is None:
                self._simulation.run()
            else:
                self._simulation.run(_of_all(on_progress, before, each * len(self._setups)))
            self._ended.append(self._simulation.outcome())
            self._simulation = None

    def findings(self) -> Findings | None:
        """What there is so far; None before the first iteration."""
        outcomes = list(self._ended)
        if self._simulation is not None and self._simulation.now:
            outcomes.append(self._simulation.outcome())
        return Findings(self.about, tuple(outcomes), len(self._setups)) if outcomes else None


def _of_all(tell: OnProgress, before: int, total: int) -> OnProgress:
    """Whom a simulation has to tell, so that ``tell`` hears of all simulations together."""

    def tell_of_all(done: int, _: int) -> None:
        tell(before + done, total)

    return tell_of_all


def _varied(kind: StudyKind, setup: Setup, policies: Sequence[str]) -> tuple[Setup, ...]:
    paged = replace(setup, policy="paged")
    match kind:
        case StudyKind.POLICIES:
            return tuple(replace(setup, policy=policy) for policy in policies)
        case StudyKind.BLOCK_SIZES:
            fitting = (size for size in BLOCK_SIZES if size <= setup.slots)
            return tuple(replace(paged, block_size=size) for size in fitting)
        case StudyKind.SHARING:
            return tuple(replace(paged, answers=answers) for answers in NUMBERS_OF_ANSWERS)
