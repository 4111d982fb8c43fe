"""The course: page settings, the start page, one page per lesson, and pages to try things on."""

from functools import partial
from pathlib import Path

import streamlit as st

from pagedkv.lessons import LESSONS
from pages._generate import show_generate
from pages._inside_kernel import show_kernel
from pages._lesson import show_lesson
from pages._plan import show_plan_page
from pages._sandbox import show_sandbox
from pages._start import show_start
from pages._workloads import show_workloads

HERE = Path(__file__).parent

# Every page may link to every other, so each is handed the whole table.
pages = {"": st.Page(lambda: show_start(pages), title="Start", url_path="", default=True)}
for lesson in LESSONS:
    show = partial(show_lesson, lesson, pages)
    pages[lesson.slug] = st.Page(show, title=lesson.title, url_path=lesson.slug)
pages["sandbox"] = st.Page(show_sandbox, title="Sandbox", url_path="sandbox")
pages["generate"] = st.Page(show_generate, title="Generate", url_path="generate")
pages["plan"] = st.Page(show_plan_page, title="Plan", url_path="plan")
pages["workloads"] = st.Page(show_workloads, title="Workloads", url_path="workloads")
pages["kernel"] = st.Page(show_kernel, title="Inside the kernel", url_path="kernel")

page = st.navigation(list(pages.values()), position="top")
st.set_page_config(f"{page.title} · pagedkv", page_icon=HERE / "_icon.svg", layout="wide")
st.html(HERE / "_style.css")
page.run()
