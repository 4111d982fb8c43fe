"""What a session looks at: the address it arrived by, and the settings it has chosen since.

The address is read once, when a learner arrives at a lesson. From then on the sliders hold the
settings, the player holds the frame, and the browser keeps the address in step (``_adapter.js``):
the server never writes it. A lesson opened from the menu therefore starts at the defaults, as its
plain address does for everybody: on every screen of a class the same numbers.
"""

from dataclasses import dataclass

import streamlit as st

from pagedkv.settings import Settings
from pages._permalink import SETTING_NAMES, AskedFor, nearest_step, read_query

PLACE = "place"  # in the session: which page without lesson reads its own address


@dataclass(frozen=True, slots=True)
class Arrival:
    """One arrival at a lesson. ``number`` tells two arrivals of a session apart."""

    slug: str
    number: int
    asked_for: AskedFor

    def notices(self, settings: Settings, num_frames: int) -> tuple[str, ...]:
        """What of the address could not be honoured; moot once other settings are chosen."""
        if settings != self.asked_for.settings:
            return ()
        return (*self.asked_for.notices, *nearest_step(self.asked_for.step, num_frames)[1])


def arrive(slug: str) -> Arrival:
    """Return this lesson's arrival; if the learner has just come, read the address first."""
    arrival: Arrival | None = st.session_state.get("arrival")
    if arrival is not None and arrival.slug == slug:
        return arrival
    leave()
    query = {name: st.query_params.get_all(name) for name in st.query_params}
    number = st.session_state.get("num_arrivals", 0) + 1
    arrival = Arrival(slug, number, read_query(query))
    st.session_state["arrival"] = arrival
    st.session_state["num_arrivals"] = number
    choose(arrival.asked_for.settings)
    return arrival


def leave() -> None:
    """Note that no page with an address of its own is open: coming back to one is an arrival."""
    st.session_state["arrival"] = None
    st.session_state[PLACE] = None


def choose(settings: Settings) -> None:
    """Set the sliders. To be called before they are drawn, or in a callback."""
    st.session_state["settings"] = settings
    for name in SETTING_NAMES:
        st.session_state[name] = getattr(settings, name)


def keep_choice() -> None:
    """Let sliders be as they were where the browser sent none. To be called before they are drawn.

    A browser that has not drawn all sliders yet sends only some of them.
    """
    before: Settings = st.session_state["settings"]
    for name in SETTING_NAMES:
        st.session_state.setdefault(name, getattr(before, name))
    st.session_state["settings"] = chosen()


def chosen() -> Settings:
    """The settings as they stand now, once ``keep_choice`` has run."""
    return Settings(**{name: st.session_state[name] for name in SETTING_NAMES})
