"""The model that is planned for: one of the table, one's own, or one from its ``config.json``."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pagedkv.planner import (
    LARGEST_CONFIG,
    Geometry,
    Latent,
    Model,
    PlanError,
    find_model,
    read_config,
)
from pagedkv.planner.geometry import describe
from pages._plan_fields import HEADS, LATENT, OWN, TABLE, key
from pages._plan_widgets import from_list, one_of, optional_whole, required_whole

UPLOAD = "plan_config"
TOLD = "plan_config_told"  # what came of the last file: in the session
KILOBYTES = LARGEST_CONFIG // 1000


@dataclass(frozen=True, slots=True)
class FromFile:
    """What a file came to: a geometry, or in words why there is none."""

    geometry: Geometry | None
    problem: str


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """What the fields say of the model; ``all_weights_gib`` is None where that is not known.

    ``geometry`` is to be called once all fields are drawn: it raises ``PlanError`` for a geometry
    of one's own that cannot be.
    """

    geometry: Callable[[], Geometry]
    has_window: bool
    all_weights_gib: float | None


def choose_model() -> ChosenModel:
    """Let the visitor choose."""
    if one_of("source") == TABLE:
        model = find_model(from_list("model"))
        _show_source(model)
        has_window = model.geometry.windowed_layers > 0
        return ChosenModel(lambda: model.geometry, has_window, model.weights_gib)
    show_upload()
    return own_geometry()


def _show_source(model: Model) -> None:
    st.text(describe(model.geometry))
    if model.is_verified:
        st.text(model.source_words)
    else:
        st.warning(model.source_words, icon=":material/help:")
    if model.note:
        st.text(model.note)


def own_geometry() -> ChosenModel:
    """Draw the fields of a geometry of one's own."""
    kind = one_of("kind")
    with st.container(horizontal=True, gap="small"):
        layers = required_whole("layers")
        if kind == HEADS:
            kv_heads, head_dim = required_whole("kv_heads"), required_whole("head_dim")
            values, heads = optional_whole("v_head_dim"), optional_whole("num_heads")
            latent = None
        else:
            latent = (required_whole("rank"), required_whole("rope"))
            # How long K and V of a head would be is asked only where there are heads to compare.
            kv_heads, head_dim, values, heads = 1, sum(latent), None, optional_whole("num_heads")
            if heads is not None:
                kv_heads, head_dim = int(heads), required_whole("head_dim")
                values = optional_whole("v_head_dim")
        windowed = required_whole("windowed")
        window = optional_whole("window") if windowed else None

    def geometry() -> Geometry:
        return Geometry(
            num_layers=layers,
            num_kv_heads=kv_heads,
            head_dim=head_dim,
            num_heads=heads,
            v_head_dim=values,
            windowed_layers=windowed,
            window=window,
            latent=None if latent is None else Latent(*latent),
        )

    return ChosenModel(geometry, has_window=windowed > 0, all_weights_gib=None)


def show_upload() -> None:
    """Let a file fill the fields; a bad one is told, and the fields stay as they were."""
    st.file_uploader(
        f"Fill in from a config.json (up to {KILOBYTES:,} KB)",
        key=UPLOAD,
        on_change=_read_upload,
        max_upload_size=1,
    )
    told: FromFile | None = st.session_state.get(TOLD)
    if told is None:
        return
    if told.geometry is None:
        st.warning("This file says nothing that can be planned for:", icon=":material/block:")
        st.text(told.problem)  # may repeat what the file says: no Markdown
    else:
        st.text(f"Read from the file: {describe(told.geometry)}.")


def _read_upload() -> None:
    upload = st.session_state[UPLOAD]
    if upload is None:
        st.session_state[TOLD] = None
        return
    try:
        geometry = read_config(upload.getvalue())
    except PlanError as error:
        st.session_state[TOLD] = FromFile(None, str(error))
        return
    st.session_state[TOLD] = FromFile(geometry, "")
    fill_in(geometry)


def fill_in(geometry: Geometry) -> None:
    """Put a geometry into the fields, and so into the address. To be called in a callback."""
    latent = geometry.latent
    filled: dict[str, object] = {
        "source": OWN,
        "kind": HEADS if latent is None else LATENT,
        "layers": geometry.num_layers,
        "num_heads": geometry.num_heads,
        "v_head_dim": geometry.v_head_dim,
        "windowed": geometry.windowed_layers,
        "window": geometry.window,
        "kv_heads": geometry.num_kv_heads,
        "head_dim": geometry.head_dim,
    }
    if latent is not None:
        filled |= {"rank": latent.rank, "rope": latent.rope_dim}
    for name, value in filled.items():
        st.session_state[key(name)] = value
