"""The course's model, for pages that drive an engine themselves."""

import streamlit as st

import kernels
from pagedkv.model import CharGPT, load_model


@st.cache_resource(show_spinner=False)
def model() -> CharGPT:
    """Loaded once for the whole class; nobody changes it."""
    return load_model(kernels.runtime()["device"])
