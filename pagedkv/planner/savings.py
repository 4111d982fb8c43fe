"""What sharing K and V among query heads saves against MHA: a K and a V for each of them."""

from dataclasses import dataclass, replace

from pagedkv.planner.plan import Plan, make_plan


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to keep K and V: its kind ("MHA", "GQA", "MQA", "MLA"), and what it comes to.

    Bytes and requests are those of one GPU. ``is_planned`` marks the model as it is.
    """

    kind: str
    bytes_per_token: int
    requests_at_once: float
    is_planned: bool


def savings(plan: Plan) -> tuple[Variant, ...]:
    """The model as MHA, and as it is, or once if that is the same.

    Empty where the query heads are not known.
    """
    geometry = plan.choices.geometry
    as_mha = geometry.as_mha()
    if as_mha is None:
        return ()
    planned = _variant(plan, is_planned=True)
    if as_mha == geometry:
        return (planned,)
    return _variant(make_plan(replace(plan.choices, geometry=as_mha))), planned


def _variant(plan: Plan, *, is_planned: bool = False) -> Variant:
    return Variant(
        kind=plan.choices.geometry.kind,
        bytes_per_token=plan.bytes_per_token,
        requests_at_once=plan.requests_at_once,
        is_planned=is_planned,
    )
