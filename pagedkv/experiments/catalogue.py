"""All faults that can be tried, in the order of the page."""

from pagedkv.experiments.faults import Fault
from pagedkv.experiments.wrong_reads import WRONG_READS
from pagedkv.experiments.wrong_writes import WRONG_WRITES

FAULTS: tuple[Fault, ...] = (*WRONG_READS, *WRONG_WRITES)


def find_fault(slug: str) -> Fault:
    """Return the fault of this name. Raises KeyError if there is none."""
    for fault in FAULTS:
        if fault.slug == slug:
            return fault
    raise KeyError(f"no fault {slug!r}; there are {', '.join(fault.slug for fault in FAULTS)}")
