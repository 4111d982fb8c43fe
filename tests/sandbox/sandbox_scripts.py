"""Random sandbox scripts, for Hypothesis, and how they are played."""

from collections.abc import Callable

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pagedkv.model.tokenizer import VOCABULARY
from pagedkv.sandbox.actions import Action, DecodeToken, EngineStep, Finish, Fork, NewRequest
from pagedkv.sandbox.script import FREE_ORDERS, Pool, Script
from pagedkv.sandbox.session import Session

Play = Callable[[Script], Session]

# A session takes long to draw and to play on a busy machine, and its fixtures hold no state.
RELAXED = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

pools = st.builds(
    Pool,
    block_size=st.sampled_from([1, 2, 3, 4, 5, 32]),
    capacity=st.integers(4, 40),
    free_order=st.sampled_from(FREE_ORDERS),
)


@st.composite
def scripts(draw: st.DrawFn, most: int = 12, longest_prompt: int = 12) -> Script:
    """A pool, and actions about requests that were asked for before them."""
    actions: list[Action] = []
    born = 0
    for _ in range(draw(st.integers(0, most))):
        prompts = st.text(VOCABULARY, min_size=1, max_size=longest_prompt)
        kinds: list[st.SearchStrategy[Action]] = [
            st.builds(NewRequest, prompts),
            st.just(EngineStep()),
        ]
        if born:
            who = st.integers(1, born)
            token = st.none() | st.sampled_from(VOCABULARY)
            kinds += [
                st.builds(DecodeToken, who, token),
                st.builds(DecodeToken, who, token),
                st.builds(Fork, who),
                st.builds(Finish, who),
            ]
        action = draw(st.one_of(kinds))
        actions.append(action)
        born += isinstance(action, NewRequest | Fork)
    return Script(draw(pools), tuple(actions))
