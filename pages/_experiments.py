"""The four experiments of the kernel page: a button each, and what came of it."""

import streamlit as st

from pagedkv.experiments import (
    FAULTS,
    Scene,
    find_fault,
    run_block_sizes,
    run_fault,
    run_poison,
    run_shuffle,
)
from pagedkv.trace.written import small


def show_experiments(scene: Scene) -> None:
    """One experiment under the other, each a fragment of its own."""
    show_poison(scene)
    show_shuffle(scene)
    show_block_sizes(scene)
    show_faults(scene)


@st.fragment
def show_poison(scene: Scene) -> None:
    """Fill what nobody may read with NaN, then with a large number."""
    if not st.button("Poison every unused slot", icon=":material/science:"):
        return
    result = run_poison(scene)
    verdict = "bitwise the same" if result.all_identical else "**not the same**"
    st.markdown(
        f"{result.num_poisoned} of {result.num_slots} slots hold nothing in use, "
        f"{result.num_in_free_blocks} of them in free blocks. Filled with NaN, then with 10,000, "
        f"the output is {verdict}. "
        f"Largest difference to dense: {small(result.difference_to_dense)}."
    )


@st.fragment
def show_shuffle(scene: Scene) -> None:
    """Move every block, and let the tables follow."""
    if not st.button("Shuffle the physical blocks", icon=":material/shuffle:"):
        return
    result = run_shuffle(scene)
    st.dataframe(
        {
            "request": [name for name, _ in result.old_tables],
            "table before": [str(list(table)) for _, table in result.old_tables],
            "table after": [str(list(table)) for _, table in result.new_tables],
        },
        hide_index=True,
    )
    st.markdown(
        f"Largest difference to the answer before: {small(result.difference_to_before)}, "
        f"to dense: {small(result.difference_to_dense)}. With the old table on the moved blocks it "
        f"would be {small(result.left_behind_difference)}."
    )


@st.fragment
def show_block_sizes(scene: Scene) -> None:
    """The same context at five block sizes."""
    if not st.button("Store the same context at five block sizes", icon=":material/view_module:"):
        return
    result = run_block_sizes(model=scene.engine.model)
    st.dataframe(
        {
            "block size": [size.block_size for size in result.sizes],
            "blocks": [size.num_blocks for size in result.sizes],
            "table": [str(list(size.table)) for size in result.sizes],
            "difference to dense": [small(size.difference_to_dense) for size in result.sizes],
            "to the first size": [small(size.difference_to_first) for size in result.sizes],
        },
        hide_index=True,
    )


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
    fault = result.fault
    st.markdown(
        f"{fault.explanation} {fault.report.says} [{fault.report.name}]({fault.report.url})"
    )
    st.markdown(result.account)
    verdict = (
        "The dense reference objects" if result.dense_objects else "The dense reference agrees"
    )
    st.markdown(
        f"**{verdict}**: largest difference of weights {small(result.weight_difference)}, "
        f"of outputs {small(result.output_difference)}."
    )
    heads = range(len(result.right_weights))
    st.dataframe(
        {
            "position": list(range(result.right_weights.shape[1])),
            "token": [*result.text, *[""] * (result.right_weights.shape[1] - len(result.text))],
            "wrong": [
                "wrong" if p in result.wrong_positions else ""
                for p in range(result.right_weights.shape[1])
            ],
            **{f"head {h}, right": result.right_weights[h] for h in heads},
            **{f"head {h}, faulty": result.faulty_weights[h] for h in heads},
        },
        hide_index=True,
    )
