"""The entry for ``streamlit run app.py``: the pages, and what is ready before the first visitor."""

import streamlit as st

from pages._warm_up import warm_up

app = st.App("pages/course.py", lifespan=warm_up)
