"""Random sandbox scripts, for Hypothesis, and how they are played."""

from collections.abc import Callable

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pagedkv.model.tokenizer import VOCABULARY
from pagedkv.sandbox.actions import Action, DecodeToken, EngineStep, Finish, Fork, NewRequest
from pagedkv.sandbox.script import FREE_ORDERS, LONGEST_PROMPT, Pool, Script
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
# Where several of the longest prompts fit, so that an execution's token budget binds.
large_pools = st.builds(Pool, block_size=st.integers(1, 32), capacity=st.integers(200, 256))

_PROMPTS = st.text(VOCABULARY, min_size=1, max_size=12)
_LONG_PROMPTS = st.integers(40, LONGEST_PROMPT).map("a".__mul__)


@st.composite
def scripts(
    draw: st.DrawFn,
    most: int = 40,
    prompts: st.SearchStrategy[str] = _PROMPTS,
    pools: st.SearchStrategy[Pool] = pools,
) -> Script:
    """A pool, and actions about requests that were asked for before them."""
    actions: list[Action] = []
    born = 0
    for _ in range(draw(st.integers(0, most))):
        kinds: list[st.SearchStrategy[Action]] = [
            st.builds(NewRequest, prompts),
            st.just(EngineStep()),
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


def crowded_scripts() -> st.SearchStrategy[Script]:
    """Sessions with long prompts, some of which wait for room in an execution."""
    return scripts(prompts=_PROMPTS | _LONG_PROMPTS, pools=large_pools)
