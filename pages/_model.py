"""The models, for pages that drive an engine themselves: each loaded once for the whole class."""

import streamlit as st

import kernels
from pagedkv.generate import LARGE, ChoiceError
from pagedkv.language_model import LanguageModel
from pagedkv.llama import FoundLlama, Llama, find_llama, load_llama
from pagedkv.model import CharGPT, load_model


@st.cache_resource(show_spinner=False)
def model() -> CharGPT:
    """The course's own; nobody changes it."""
    return load_model(kernels.runtime()["device"])


def model_of(choice: str) -> LanguageModel:
    """The model of one of ``pagedkv.generate.MODELS``.

    Raises ``ChoiceError`` where the large one is missing or broken.
    """
    if choice != LARGE:
        return model()
    found = large_model()
    try:
        return _load(str(found.folder))
    except ValueError as error:
        raise ChoiceError(f"{found.name}: {error}") from error


def large_model() -> FoundLlama:
    """The real LLM of this machine, or what is missing; looked for anew each time."""
    return find_llama()


@st.cache_resource(show_spinner="Loading the model", max_entries=1)
def _load(folder: str) -> Llama:
    return load_llama(folder, kernels.runtime()["device"])
