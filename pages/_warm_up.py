"""What the server does before its first visitor, and behind the scenes for the next ones."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Thread

import streamlit as st
import torch

from pagedkv.lessons import LESSONS
from pagedkv.settings import Settings
from pages._runs import run_store


@asynccontextmanager
async def warm_up(app: st.App) -> AsyncIterator[None]:
    """Make the first lesson before the port opens, and the others while the first is read.

    Torch gets one thread: the tensors are small, and the cores belong to the learners. What was
    imported is frozen, since the collector would otherwise walk all of it after every click.
    """
    print("pagedkv: recording the first lesson …", flush=True)
    torch.set_num_threads(1)
    run_store().get(LESSONS[0], Settings())
    gc.collect()
    gc.freeze()
    Thread(target=_record_the_others, daemon=True).start()
    yield


def _record_the_others() -> None:
    for lesson in LESSONS[1:]:
        run_store().get(lesson, Settings())
