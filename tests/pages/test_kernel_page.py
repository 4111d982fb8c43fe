"""The page that opens the kernel: it steps, and every experiment ends in a verdict."""

import pytest
from app_pages import Open
from streamlit.testing.v1 import AppTest

from pagedkv.experiments import FAULTS, build_scene, run_fault, run_poison
from pagedkv.kernel_walk import read_kernel, record_launch, walk
from pagedkv.trace.written import small

BLOCK_SIZES = (4, 3)


def opened(open_page: Open, block_size: int) -> AppTest:
    app = open_page("kernel")
    assert not app.exception
    app.slider(key="kernel_block_size").set_value(block_size).run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    return "\n".join(markdown.value for markdown in app.markdown)


def html(app: AppTest, kind: str) -> str:
    (found,) = (h.proto.body for h in app.get("html") if f'class="{kind}"' in h.proto.body)
    return str(found)


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_a_step_shows_the_next_line_and_what_it_made(open_page: Open, block_size: int) -> None:
    app = opened(open_page, block_size)
    launch = record_launch(build_scene(block_size), tile=4)
    moments = walk(launch.steps, 0, 0, len(launch.texts[0]))
    source = read_kernel(launch.steps.constexprs)
    assert f">{source.before[0].first:>4}</b>" not in html(app, "kernel-state")
    press(app, "Next line")
    assert app.slider(key="kernel_line").value == 1
    press(app, "Next tile")
    assert app.slider(key="kernel_line").value == len(source.before)
    last = len(moments) - 1
    app.slider(key="kernel_line").set_value(last).run()
    ran = f'<span class="ran"><b>{moments[last].statement.first:>4}</b>'
    assert ran in html(app, "kernel-source")
    denominator = moments[last].denominator
    assert denominator is not None and f"{denominator:.3f}" in html(app, "kernel-state")
    assert f"**{small(launch.difference_to_dense(0, 0))}**" in shown(app)


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_the_tile_shows_the_blocks_of_the_table(open_page: Open, block_size: int) -> None:
    app = opened(open_page, block_size)
    launch = record_launch(build_scene(block_size), tile=4)
    moments = walk(launch.steps, 0, 0, len(launch.texts[0]))
    at = next(i for i, m in enumerate(moments) if m.tile == 1 and m.addresses is not None)
    app.slider(key="kernel_line").set_value(at).run()
    table = launch.block_tables[0]
    state = html(app, "kernel-state")
    for position in range(4, 8):
        assert f"<td>{table[position // block_size]}</td>" in state
    for address in moments[at].addresses or ():
        assert f"<td>{address}</td>" in state


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_the_experiments_that_must_not_matter(open_page: Open, block_size: int) -> None:
    app = opened(open_page, block_size)
    poison = run_poison(build_scene(block_size))
    press(app, "Poison every unused slot")
    assert f"{poison.num_poisoned} of {poison.num_slots} slots" in shown(app)
    assert "bitwise the same" in shown(app)
    press(app, "Shuffle the physical blocks")
    assert "Largest difference to the answer before: 0" in shown(app)
    press(app, "Store the same context at five block sizes")
    assert list(app.dataframe[0].value["block size"]) == [1, 2, 4, 8, 16]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.slug)
@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_each_fault_is_objected_to_and_names_its_report(
    open_page: Open, block_size: int, fault: object
) -> None:
    app = opened(open_page, block_size)
    chosen = next(f for f in FAULTS if f is fault)
    app.selectbox(key="kernel_fault").set_value(chosen.slug).run()
    assert not app.exception
    result = run_fault(build_scene(block_size), chosen)
    assert "**The dense reference objects**" in shown(app)
    assert small(result.weight_difference) in shown(app)
    assert f"[{chosen.report.name}]({chosen.report.url})" in shown(app)


def test_faults_are_off_until_one_is_switched_on(open_page: Open) -> None:
    assert "The dense reference" not in shown(open_page("kernel"))
