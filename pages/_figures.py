"""How every page shows a figure: with its description below it, and its numbers on request."""

import streamlit as st


def show_figure(figure: object, alt: str, key: str) -> None:
    """Draw a Plotly figure, and say in words what it shows."""
    st.plotly_chart(figure, theme=None, key=key, alt=alt, config={"displayModeBar": False})
    st.markdown(alt)


def show_numbers(table: object) -> None:
    """The figure's numbers, folded away."""
    with st.expander("The same in numbers"):
        st.dataframe(table, hide_index=True)


def is_dark() -> bool:
    """Whether the learner has chosen the dark theme."""
    return st.context.theme.type == "dark"
