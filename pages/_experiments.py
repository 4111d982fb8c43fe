"""The four experiments of the kernel page: a button or a choice each, and what came of it."""

from collections.abc import Callable

import streamlit as st

from pagedkv.experiments import (
    FAULTS,
    FaultResult,
    Scene,
    find_fault,
    run_block_sizes,
    run_fault,
    run_poison,
    run_shuffle,
)
from pagedkv.experiments.captions import (
    effect_caption,
    fault_verdict,
    poison_caption,
    report_caption,
    shuffle_caption,
    sizes_caption,
)
from pagedkv.experiments.tables import shuffle_table, sizes_table, tokens, weight_table
from pagedkv.figures import weights_beside_alt, weights_beside_figure
from pages._figures import is_dark, show_figure, show_numbers


def show_experiments(scene: Scene) -> None:
    """One experiment under the other, each a fragment of its own."""
    one_click("Poison every unused slot", ":material/science:", show_poison, scene)
    one_click("Shuffle the physical blocks", ":material/shuffle:", show_shuffle, scene)
    label = "Store the same context at five block sizes"
    one_click(label, ":material/view_module:", show_block_sizes, scene)
    show_faults(scene)


@st.fragment
def one_click(label: str, icon: str, show: Callable[[Scene], None], scene: Scene) -> None:
    """A button, and below it what ``show`` makes of a click."""
    if st.button(label, icon=icon):
        show(scene)


def show_poison(scene: Scene) -> None:
    """Fill what nobody may read with NaN, then with a large number."""
    st.markdown(poison_caption(run_poison(scene)))


def show_shuffle(scene: Scene) -> None:
    """Move every block, and let the tables follow."""
    result = run_shuffle(scene)
    st.dataframe(shuffle_table(result), hide_index=True)
    st.markdown(shuffle_caption(result))


def show_block_sizes(scene: Scene) -> None:
    """The same context at five block sizes."""
    result = run_block_sizes(model=scene.engine.model)
    st.dataframe(sizes_table(result), hide_index=True)
    st.markdown(sizes_caption(result))


@st.fragment
def show_faults(scene: Scene) -> None:
    """Switch on one documented fault, and see what goes wrong and by how much."""
    slugs = {fault.slug: fault.title for fault in FAULTS}
    slug = st.selectbox(
        "Fault",
        slugs,
        index=None,
        format_func=slugs.__getitem__,
        placeholder="none is switched on",
        key="kernel_fault",
    )
    if slug is None:
        return
    result = run_fault(scene, find_fault(slug))
    st.markdown(report_caption(result.fault))
    st.markdown(effect_caption(result))
    st.markdown(fault_verdict(result))
    if result.has_effect:
        show_weights(result)


def show_weights(result: FaultResult) -> None:
    """Right and faulty weights beside each other: drawn, in words and in numbers."""
    right, faulty = result.right_weights, result.faulty_weights
    figure = weights_beside_figure(right, faulty, tokens(result), result.misread, dark=is_dark())
    alt = weights_beside_alt(right, faulty, result.misread)
    show_figure(figure, alt, "kernel_weights")
    show_numbers(weight_table(result))
