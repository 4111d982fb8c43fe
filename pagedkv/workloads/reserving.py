"""Contiguous reservation: each answer gets a chunk for all it may become, before it starts.

The region is the lessons' own, with a buddy allocator for its placement. Three ways to say how long
an answer may become, as in the paper (Kwon et al. 2023, section 6.1): *max* reserves the model's
maximum length, *pow2* the answer's length rounded up to a power of two, behind the prompt, and
*oracle* just what will be filled, as if the length were known.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pagedkv.contiguous import ContiguousRegion
from pagedkv.contiguous_buddy import Buddy, power_of_two_for
from pagedkv.workloads.running import Running
from pagedkv.workloads.usage import Usage
from pagedkv.workloads.workload import Request

Reserve = Callable[[Request, int], int]  # a request and the maximum length -> slots


def reserve_max(_: Request, max_length: int) -> int:
    """The model's maximum length, whatever is asked."""
    return max_length


def reserve_pow2(request: Request, max_length: int) -> int:
    """The prompt, and the answer rounded up to a power of two: 25 -> 32; at most the maximum."""
    return min(request.num_inputs + power_of_two_for(request.num_outputs), max_length)


def reserve_oracle(request: Request, _: int) -> int:
    """What prompt and answer will fill, known beforehand."""
    return request.num_positions


RESERVATIONS: Mapping[str, Reserve] = MappingProxyType(
    {"max": reserve_max, "pow2": reserve_pow2, "oracle": reserve_oracle}
)


class ReservingMemory:
    """``num_slots`` slots in one region; ``reserve`` says how many each answer is given.

    The region knows who has which slots; how many of them are filled is counted here.
    """

    def __init__(self, reserve: Reserve, num_slots: int, num_answers: int, max_length: int) -> None:
        self._reserve = reserve
        self._num_answers = num_answers
        self._max_length = max_length
        self.region = ContiguousRegion(num_slots, place=Buddy)
        self._fits: dict[int, bool] = {}  # size of a chunk -> whether an empty region has it
        self._num_sequences = 0
        # `stored` at iteration 0, if each running answer is traced back at one slot an iteration:
        # stored(now) = this + now × sequences.
        self._stored_at_0 = 0
        self._to_be_filled = 0  # slots that the running requests will have filled in the end
        self._never_filled = 0

    def could_hold(self, request: Request) -> bool:
        """Whether an empty region has room for all answers beside each other."""
        chunk = power_of_two_for(self._reserve(request, self._max_length))
        if chunk not in self._fits:
            empty = Buddy(self.region.capacity)
            takes = (empty.take(chunk) for _ in range(self._num_answers))
            self._fits[chunk] = all(start is not None for start in takes)
        return self._fits[chunk]

    def grow(self, now: int) -> bool:
        """Nothing to do: whoever runs has room for all it may become."""
        return True

    def admit(self, running: Running) -> bool:
        """Reserve for every answer, or for none."""
        size = self._reserve(running.request, self._max_length)
        names = self._names(running)
        for index, name in enumerate(names):
            if not self.region.can_reserve(size):
                for reserved in names[:index]:
                    self.region.release(reserved)
                return False
            self.region.reserve(name, size)
        self._count(running, size, 1)
        return True

    def release(self, running: Running, now: int) -> None:
        """End every answer; its whole reservation is free again, filled or not."""
        for name in self._names(running):
            self.region.release(name)
        self._count(running, self._reserve(running.request, self._max_length), -1)

    def iterations_until_growth(self, now: int) -> int | None:
        """Nobody will need more."""
        return None

    def usage(self, now: int) -> Usage:
        """What is stored, what will be, and what never is; rounding up counts as external."""
        stored = self._stored_at_0 + now * self._num_sequences
        return Usage(
            num_slots=self.region.capacity,
            stored=stored,
            reserved=self._to_be_filled - stored,
            internal=self._never_filled,
            unshared=self._to_be_filled + self._never_filled,
            growth=self._num_sequences,
        )

    def _names(self, running: Running) -> list[str]:
        return [f"{running.request.number}.{answer}" for answer in range(self._num_answers)]

    def _count(self, running: Running, size: int, sign: int) -> None:
        answers = sign * self._num_answers
        positions = running.request.num_positions
        self._num_sequences += answers
        self._stored_at_0 += answers * (running.stored_then - running.admitted)
        self._to_be_filled += answers * positions
        self._never_filled += answers * (size - positions)
