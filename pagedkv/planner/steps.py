"""Each line of the arithmetic with its numbers, for whoever wants to check it by hand."""

from dataclasses import dataclass
from decimal import Decimal

from pagedkv.planner.caveats import unshared_words
from pagedkv.planner.choices import Choices
from pagedkv.planner.groups import Group, blocks_needed, seen_at_once
from pagedkv.planner.memory import GIB, GpuMemory
from pagedkv.planner.plan import Plan

LEAST_PLAIN = 1e-6  # a smaller number is written with an exponent
UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


@dataclass(frozen=True, slots=True)
class Step:
    """One line: what is worked out, from which numbers, and what comes out."""

    label: str
    formula: str
    result: str


def make_steps(plan: Plan) -> tuple[Step, ...]:
    """The whole arithmetic of a plan, in order."""
    return (
        *_bytes(plan),
        *_block(plan),
        *_blocks(plan),
        *_needs(plan),
        *_requests(plan),
    )


def steps_without_memory(plan: Plan) -> tuple[Step, ...]:
    """The lines that are the same for every memory of the GPU."""
    return (*_bytes(plan), *_block(plan), *_needs(plan))


def size_words(num_bytes: int) -> str:
    """Bytes as they are counted, and in a larger unit from 1 KiB on.

    >>> size_words(2_097_152), size_words(656)
    ('2,097,152 B = 2 MiB', '656 B')
    """
    for unit, name in UNITS:
        if abs(num_bytes) >= unit:
            about = num_bytes * 100 % unit != 0
            text = f"{num_bytes / unit:,.2f}".rstrip("0").rstrip(".")
            return _signed(f"{num_bytes:,} B {'≈' if about else '='} {text} {name}")
    return _signed(f"{num_bytes:,} B")


def _signed(text: str) -> str:
    """With the minus of the formulas, which is as wide as a plus."""
    return text.replace("-", "−")


def concurrency_words(plan: Plan) -> str:
    """Requests at once with two decimals, as vLLM prints them, and whether that is all of them."""
    about = plan.num_blocks * 100 % plan.blocks_per_request != 0
    return f"{'≈ ' if about else ''}{plan.max_concurrency:,.2f}"


def number_words(value: float) -> str:
    """A number with all its digits, so that what is worked out from them comes out to the byte.

    >>> number_words(1234.123456789), number_words(80.0)
    ('1,234.123456789', '80')
    """
    if 0 < value < LEAST_PLAIN:
        return repr(value)
    text = f"{abs(Decimal(repr(value))):,f}"  # -0.0 is a number of GiB, too
    return text.rstrip("0").rstrip(".") if "." in text else text


def _bytes(plan: Plan) -> list[Step]:
    choices, geometry = plan.choices, plan.choices.geometry
    per_layer = plan.page_bytes // choices.block_size
    size = choices.dtype_bytes
    if geometry.latent is not None:
        latent = geometry.latent
        what = f"One latent in one layer, whole on every GPU{_refusal(choices)}"
        lines = [Step(what, f"({latent.rank} + {latent.rope_dim}) × {size} B", f"{per_layer:,} B")]
    else:
        heads = geometry.heads_on_a_gpu(choices.tp)
        values = geometry.v_head_dim
        both = f"2 × {geometry.head_dim}" if values is None else f"({geometry.head_dim} + {values})"
        lines = [
            Step(
                f"KV heads on each GPU{_refusal(choices)}",
                f"max(1, {geometry.num_kv_heads} // {choices.tp})",
                f"{heads}",
            ),
            Step(
                "K and V of a position in one layer",
                f"{heads} × {both} × {size} B",
                f"{per_layer:,} B",
            ),
        ]
    formula = f"{_layers(geometry.num_layers)} × {per_layer:,} B"
    lines.append(Step("Bytes per token", formula, size_words(plan.bytes_per_token)))
    return lines


def _refusal(choices: Choices) -> str:
    """What engines have against so many GPUs, though the arithmetic rounds down and goes on."""
    heads = unshared_words(choices)
    return f"; engines refuse to share {heads} between {choices.tp}" if heads else ""


def _block(plan: Plan) -> list[Step]:
    choices = plan.choices
    per_layer = plan.page_bytes // choices.block_size
    lines = []
    if len(plan.groups) > 1:
        label = "Groups of equally many layers, which share blocks"
        lines.append(Step(label, _groups(plan), _group_words(plan)))
    formula = f"{choices.block_size:,} × {_layers(plan.group_size)} × {per_layer:,} B"
    lines.append(Step("One block", formula, size_words(plan.block_bytes)))
    return lines


def _blocks(plan: Plan) -> list[Step]:
    choices = plan.choices
    lines = [
        Step("Memory for KV", _memory(plan), size_words(choices.memory.kv_bytes)),
        Step(
            "Blocks",
            f"{max(choices.memory.kv_bytes, 0):,} // {plan.block_bytes:,}",
            f"{plan.num_blocks:,}",
        ),
        Step(
            "Positions" if len(plan.groups) == 1 else "Positions, if one group had all blocks",
            f"{plan.num_blocks:,} × {choices.block_size:,}",
            f"{plan.kv_tokens:,}",
        ),
    ]
    if len(plan.groups) > 1:
        formula = f"{plan.num_blocks:,} // {len(plan.groups)} groups × {choices.block_size:,}"
        lines.append(Step("Positions, as vLLM logs them", formula, f"{plan.cache_size_tokens:,}"))
    return lines


def _layers(count: int) -> str:
    return "1 layer" if count == 1 else f"{count} layers"


def _memory(plan: Plan) -> str:
    """GiB and how they become bytes; rounded down, where they are no whole number of bytes."""
    memory = plan.choices.memory
    if isinstance(memory, GpuMemory):
        parts = [memory.gpu_gib, memory.utilization, memory.weights_gib, memory.overhead_gib]
        total, share, weights, overhead = map(number_words, parts)
        gib = f"({total} × {share} − {weights} − {overhead}) GiB"
    else:
        gib = f"{number_words(memory.kv_gib)} GiB"
    formula = f"{gib} × {GIB:,}"
    return formula if memory.exact_gib * GIB == memory.kv_bytes else f"floor({formula})"


def _kinds(plan: Plan) -> list[tuple[int, Group]]:
    """How many groups there are of each kind, with one of them."""
    full = [group for group in plan.groups if group.window is None]
    windowed = [group for group in plan.groups if group.window is not None]
    return [(len(kind), kind[0]) for kind in (full, windowed) if kind]


def _groups(plan: Plan) -> str:
    geometry = plan.choices.geometry
    parts = [
        f"{count} × {plan.group_size} for {layers} {name}"
        for (count, _), layers, name in zip(
            _kinds(plan),
            (geometry.full_layers, geometry.windowed_layers),
            ("full", "windowed"),
            strict=True,
        )
    ]
    return ", ".join(parts)


def _group_words(plan: Plan) -> str:
    padding = plan.group_size * len(plan.groups) - plan.choices.geometry.num_layers
    empty = f", with {padding} empty place{'s' if padding > 1 else ''}" if padding else ""
    return f"{len(plan.groups)} groups{empty}"


def _requests(plan: Plan) -> list[Step]:
    choices = plan.choices
    return [
        Step(
            f"Requests of {choices.max_len:,} at once",
            f"{plan.num_blocks:,} / {plan.blocks_per_request:,}",
            concurrency_words(plan),
        ),
        _longest(plan),
        *_null_block(plan),
    ]


def _null_block(plan: Plan) -> list[Step]:
    """vLLM counts with all blocks, and keeps one back once it runs."""
    if plan.num_blocks == 0:
        return []
    label = "Left for requests: vLLM keeps one to stand for no block (the null block)"
    return [Step(label, f"{plan.num_blocks:,} − 1", f"{plan.num_blocks - 1:,}")]


def _needs(plan: Plan) -> list[Step]:
    """The blocks of one request of the maximum length: a line for a kind, and their sum."""
    choices = plan.choices
    lines, terms = [], []
    for count, group in _kinds(plan):
        seen = seen_at_once(group, choices.max_len, choices.batched_tokens)
        blocks = blocks_needed(group, choices.max_len, choices.block_size, choices.batched_tokens)
        formula = f"ceil({seen:,} / {choices.block_size:,})"
        if group.window is not None:
            reach = f"{group.window:,} − 1 + {choices.batched_tokens:,}"
            held = f"min({reach}, {choices.max_len:,})"
            lines.append(Step("Positions that a windowed layer holds", held, f"{seen:,}"))
            formula += " + 1"
        name = f"Blocks of one request of {choices.max_len:,}"
        if len(plan.groups) > 1:
            name += ", a group with a window" if group.window is not None else ", a full group"
        lines.append(Step(name, formula, f"{blocks:,}"))
        terms.append(f"{count} × {blocks:,}")
    if len(plan.groups) > 1:
        total = f"{plan.blocks_per_request:,}"
        lines.append(Step("Blocks of that request in all groups", " + ".join(terms), total))
    return lines


def _longest(plan: Plan) -> Step:
    label = "Longest request that fits"
    if plan.fits_any_length:
        return Step(label, "windows bound what a request needs", "any length")
    if plan.choices.geometry.windowed_layers:
        formula = f"the most whose blocks are at most {plan.num_blocks:,}"
    else:
        formula = f"{plan.num_blocks:,} × {plan.choices.block_size:,}"
    return Step(label, formula, f"{plan.max_len_that_fits:,}")
