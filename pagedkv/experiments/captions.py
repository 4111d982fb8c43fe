"""What came of an experiment, in Markdown, computed from its result."""

import math

from pagedkv.experiments.block_sizes import BlockSizesResult
from pagedkv.experiments.faults import Fault, FaultResult
from pagedkv.experiments.poison import LARGE, PoisonResult
from pagedkv.experiments.say_positions import say_positions
from pagedkv.experiments.shuffle import ShuffleResult
from pagedkv.narration import join
from pagedkv.trace.errors import DENSE_TOLERANCE
from pagedkv.trace.written import Phrases, small

_WORDS = Phrases(
    {
        "agrees": "**The dense reference agrees**: {differences}; up to {bound} counts as equal.",
        "objects": "**The dense reference objects**: {differences}; up to {bound} would count as "
        "equal.",
        "differences": "largest difference of weights {weights}, of outputs {outputs}",
        "difference": "largest difference of weights and outputs {largest}",
        "identical": "bitwise the same",
        "not_identical": "**not the same**",
        "poison": "{num_poisoned} of {num_slots} slots hold nothing in use, {num_free} of them in "
        "free blocks. Filled with NaN, then with {large:,.0f}, the answer is {same}.",
        "too_far_is_nan": "The counter-check: had the kernel read one slot more than B has "
        "positions, the answer would be NaN. So the poison lies where a slip would find it.",
        "too_far_unseen": "**The counter-check fails**: reading one slot too far did not make the "
        "answer NaN, so this experiment would miss such a slip.",
        "no_slot_too_far": "There is no counter-check at this block size: B's positions fill its "
        "last block, so no slot of it lies one too far.",
        "shuffle": "Largest difference to the answer before: {before}, {same}.",
        "left_behind": "The counter-check: with the old table on the moved blocks the difference "
        "to dense would be {difference}.",
        "sizes": "The answers at {sizes} differ from the one at {first} by at most {largest}.",
        "report": "{explanation} A report {relation}: {says} [{name}]({url})",
        "misread": "{account} K or V were misread at {positions}, for {heads}.",
        "idle": "{account} **Here this fault can do nothing.**",
        "heads": "query head {heads}|query heads {heads}",
        "all_heads": "its one query head|all {count} query heads",
    }
)


def verdict(agrees: bool, differences: str) -> str:
    """The sentence that ends every experiment: whether the dense reference agrees, how nearly."""
    key = "agrees" if agrees else "objects"
    return _WORDS.say(key, differences=differences, bound=small(DENSE_TOLERANCE))


def poison_caption(result: PoisonResult) -> str:
    """How much was poisoned, whether the answer noticed, and whether it could have."""
    counter_checks = {True: "too_far_is_nan", False: "too_far_unseen", None: "no_slot_too_far"}
    poison = _WORDS.say(
        "poison",
        num_poisoned=result.num_poisoned,
        num_slots=result.num_slots,
        num_free=result.num_in_free_blocks,
        large=LARGE,
        same=_same(result.all_identical),
    )
    counter_check = _WORDS.say(counter_checks[result.one_too_far_is_nan])
    return f"{poison} {_verdict(result)} {counter_check}"


def shuffle_caption(result: ShuffleResult) -> str:
    """Whether the answer noticed that all blocks moved, and that it would without the tables."""
    before, same = _number(result.difference_to_before), _same(result.is_identical)
    moved = _WORDS.say("shuffle", before=before, same=same)
    left = _WORDS.say("left_behind", difference=_number(result.left_behind_difference))
    return f"{moved} {_verdict(result)} {left}"


def sizes_caption(result: BlockSizesResult) -> str:
    """How far the answers at the sizes lie apart, and from the dense reference's."""
    first, *others = [str(size.block_size) for size in result.sizes]
    if not others:
        return _verdict(result)
    largest = _number(result.difference_to_first)
    apart = _WORDS.say("sizes", sizes=join(others), first=first, largest=largest)
    return f"{_verdict(result)} {apart}"


def report_caption(fault: Fault) -> str:
    """What the fault is, and the report of it or of its kind."""
    report = fault.report
    return _WORDS.say(
        "report",
        explanation=fault.explanation,
        relation=report.relation,
        says=report.says,
        name=report.name,
        url=report.url,
    )


def effect_caption(result: FaultResult) -> str:
    """What went wrong here, at which positions and for which query heads, or that nothing did."""
    if not result.has_effect:
        return _WORDS.say("idle", account=result.account)
    return _WORDS.say(
        "misread",
        account=result.account,
        positions=say_positions(result.wrong_positions),
        heads=_heads(result.wrong_heads, len(result.right_weights)),
    )


def fault_verdict(result: FaultResult) -> str:
    """What the dense reference says of the faulty attention."""
    weights, outputs = _number(result.weight_difference), _number(result.output_difference)
    differences = _WORDS.say("differences", weights=weights, outputs=outputs)
    return verdict(result.dense_agrees, differences)


def _verdict(result: PoisonResult | ShuffleResult | BlockSizesResult) -> str:
    largest = _number(result.difference_to_dense)
    return verdict(result.dense_agrees, _WORDS.say("difference", largest=largest))


def _heads(heads: tuple[int, ...], num_heads: int) -> str:
    if len(heads) == num_heads:
        return _WORDS.say_count("all_heads", num_heads)
    return _WORDS.say_count("heads", len(heads), heads=join([str(head) for head in heads]))


def _same(is_identical: bool) -> str:
    return _WORDS.say("identical" if is_identical else "not_identical")


def _number(difference: float) -> str:
    return "NaN" if math.isnan(difference) else small(difference)
