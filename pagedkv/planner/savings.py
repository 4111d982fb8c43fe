"""What sharing K and V among query heads saves against MHA: a K and a V for each of them."""

from dataclasses import dataclass, replace

from pagedkv.planner.plan import Plan, plan


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to keep K and V: its kind ("MHA", "GQA", "MQA", "MLA"), and what it comes to.

    Bytes and requests are those of one GPU. ``is_planned`` marks the model as it is.
    """

    kind: str
    bytes_per_token: int
    requests_at_once: float
    is_planned: bool


def savings(made: Plan) -> tuple[Variant, ...]:
    """The model as MHA, and as it is, or once if that is the same.

    Empty where the query heads are not known.
    """
    geometry = made.choices.geometry
    as_mha = geometry.as_mha()
    if as_mha is None:
        return ()
    planned = _variant(made, is_planned=True)
    if as_mha == geometry:
        return (planned,)
    return _variant(plan(replace(made.choices, geometry=as_mha))), planned


def _variant(made: Plan, *, is_planned: bool = False) -> Variant:
    return Variant(
        kind=made.choices.geometry.kind,
        bytes_per_token=made.bytes_per_token,
        requests_at_once=made.requests_at_once,
        is_planned=is_planned,
    )
