"""The course: page settings, and one page per lesson on top of the start page."""

from functools import partial

import streamlit as st

from pagedkv.lessons import LESSONS
from pages._lesson import show_lesson
from pages._start import show_start

st.set_page_config(page_title="pagedkv", page_icon=":material/grid_view:", layout="wide")
st.html("pages/_style.css")

# Every page may link to every other, so each is handed the whole table, its own entry included.
pages = {}
pages[""] = st.Page(partial(show_start, pages), title="Start", url_path="", default=True)
for lesson in LESSONS:
    pages[lesson.slug] = st.Page(
        partial(show_lesson, lesson, pages), title=lesson.title, url_path=lesson.slug
    )
st.navigation(list(pages.values()), position="top").run()
