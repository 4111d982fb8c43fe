"""The widgets of the planner's page, each drawn by its field's name.

They are bound to the address: Streamlit writes it, reads it, and takes only what a widget can hold.
A whole number may come back as the float that was typed: the planner refuses it by name.
"""

import streamlit as st

from pages._plan_fields import (
    CHOICES,
    MEASURES,
    OPTIONAL_MEASURES,
    OPTIONAL_WHOLES,
    WHOLES,
    AnyMeasure,
    AnyWhole,
    key,
)
from pages._whole_number import whole_number

WIDTH = 140  # pixels of a number: three of them stand beside each other


def required_whole(name: str) -> int:
    """Draw a whole number of ``WHOLES``, which is never empty."""
    field = WHOLES[name]
    value = _whole(name, field)
    return field.usual if value is None else value


def optional_whole(name: str) -> int | None:
    """Draw a whole number of ``OPTIONAL_WHOLES``; None where it is empty."""
    return _whole(name, OPTIONAL_WHOLES[name])


def required_measure(name: str) -> float:
    """Draw a number of ``MEASURES``, which is never empty."""
    field = MEASURES[name]
    value = _measure(name, field, None, field.help)
    return field.usual if value is None else value


def optional_measure(name: str, placeholder: str, explanation: str) -> float | None:
    """Draw a number of ``OPTIONAL_MEASURES``; None where it is empty, as the placeholder says."""
    return _measure(name, OPTIONAL_MEASURES[name], placeholder, explanation)


def _whole(name: str, field: AnyWhole) -> int | None:
    return whole_number(
        field.label,
        field.allowed,
        field.usual,
        key=key(name),
        help=field.help,
        width=WIDTH,
        placeholder="none" if field.usual is None else None,
        bind="query-params",
        persist_state="session",
    )


def _measure(
    name: str, field: AnyMeasure, placeholder: str | None, explanation: str | None
) -> float | None:
    value = st.number_input(
        field.label,
        field.least,
        field.most,
        field.usual,
        field.step,
        format="%.2f",
        key=key(name),
        help=explanation,
        width=WIDTH,
        placeholder=placeholder,
        bind="query-params",
        persist_state="session",
    )
    return None if value is None else float(value)


def one_of(name: str) -> str:
    """Draw a few words to choose from, beside each other."""
    field = CHOICES[name]
    return st.segmented_control(
        field.label,
        list(field.words),
        format_func=field.words.__getitem__,
        default=field.usual,
        required=True,
        key=key(name),
        bind="query-params",
        persist_state="session",
    )


def from_list(name: str) -> str:
    """Draw a list to choose from."""
    field = CHOICES[name]
    options = list(field.words)
    return st.selectbox(
        field.label,
        options,
        options.index(field.usual),
        format_func=field.words.__getitem__,
        key=key(name),
        bind="query-params",
        persist_state="session",
    )
