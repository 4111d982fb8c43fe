"""A field for a whole number that takes all that people write for one, and never half of it.

Streamlit's own field for whole numbers reads "1e6" as 1 and "2.5" as 2, without a word. So this one
is Streamlit's field for numbers of any kind.
"""

from typing import Any, Literal, cast

import streamlit as st


def whole_number(
    label: str, allowed: range, usual: int | Literal["min"] | None, *, key: str, **looks: Any
) -> int | None:
    """Draw the field; None where it is empty, as it may be if ``usual`` is None.

    ``usual`` is "min" where the session always holds a number for it. ``looks`` are other arguments
    of ``st.number_input``. A number that is not whole comes back as the float that it is: whoever
    gets it refuses it by name.
    """
    value = st.number_input(
        label,
        float(allowed[0]),
        float(allowed[-1]),
        float(usual) if isinstance(usual, int) else usual,
        1.0,
        format="%g",
        key=key,
        **looks,
    )
    is_whole = value is not None and float(value).is_integer()
    return int(value) if is_whole else cast(int | None, value)
