"""Pages without a browser: the script runs, widgets can be set, JavaScript does not run."""

from pathlib import Path
from typing import Any

import pytest
from app_pages import PATIENCE, Open, go_to
from streamlit.testing.v1 import AppTest


@pytest.fixture
def open_page(project: Path) -> Open:
    """Open the page at ``/slug`` with query parameters, as the first request of a session."""

    def open_it(slug: str, **query: Any) -> AppTest:
        app = AppTest.from_file(str(project / "pages" / "course.py"), default_timeout=PATIENCE)
        for name, value in query.items():
            app.query_params[name] = value
        return go_to(app, slug)

    return open_it
