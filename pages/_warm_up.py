"""What the server does before its first visitor, and behind the scenes for the next ones."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from threading import Thread
from time import sleep

import streamlit as st
import torch

from pagedkv.lessons import LESSONS
from pagedkv.settings import Settings
from pages._runs import run_store
from pages._welcome import say_where

SECONDS_FOR_THE_FIRST_VISITOR = 3  # whose page would otherwise share Python with the other lessons
OBJECTS_BETWEEN_COLLECTIONS = 10_000


@asynccontextmanager
async def warm_up(app: st.App) -> AsyncIterator[None]:
    """Make the first lesson before anybody is let in, and the others while it is read.

    Torch gets one thread: the tensors are small, and the cores belong to the learners.
    """
    torch.set_num_threads(1)
    import_module("pages._lesson")  # all that pages need; else the first visitor waits for Plotly
    run_store().get(LESSONS[0], Settings())
    _keep_out_of_collections()
    Thread(target=_make_the_others, daemon=True).start()
    say_where()
    yield


def _make_the_others() -> None:
    sleep(SECONDS_FOR_THE_FIRST_VISITOR)
    for lesson in LESSONS[1:]:
        run_store().get(lesson, Settings())


def _keep_out_of_collections() -> None:
    """Take what is here to stay out of the collector's sight, once all of it is imported.

    Streamlit collects garbage after every run of a page; with torch in memory that would walk a
    million objects after every click. Runs need it not: they are kept as text and bytes. Nor is
    there much to find while one is made: it makes many objects and hardly a cycle, and looking
    after every 700 of them, as Python does, is a tenth of the whole time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
