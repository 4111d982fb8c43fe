"""What a learner waits for, in Chromium: a step, other settings, a new server's first lesson."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from playwright.sync_api import Browser, Page

from pagedkv.lessons import LESSONS
from tests.bench.measured import Measured, milliseconds
from tests.browser.browser_server import running_server
from tests.browser.browser_tools import LessonPage

# From a key press to the frame after the one in which `done` first held: it has been painted then.
STOPWATCH = """() => {
  window.stopwatch = (done) => new Promise((resolve) => {
    let begun;
    addEventListener('keydown', () => { begun = performance.now(); }, {capture: true, once: true});
    const look = () => {
      if (begun === undefined || !done()) return requestAnimationFrame(look);
      const channel = new MessageChannel();
      channel.port1.onmessage = () => resolve((performance.now() - begun) / 1000);
      channel.port2.postMessage(null);
    };
    requestAnimationFrame(look);
  });
  let host = null;  // looking for it in every frame would itself take time
  window.inPlayer = (selector) => {
    if (!host?.isConnected || !host.shadowRoot.querySelector(selector))
      host = [...document.querySelectorAll('*')].find(
        (node) => node.shadowRoot?.querySelector(selector));
    return host?.shadowRoot.querySelector(selector);
  };
}"""
STEPPED = "() => inPlayer('[data-testid=step-label]')?.textContent !== {before!r}"
ADDRESS = "() => new URLSearchParams(location.search).get({name!r}) === {value}"


def measure_screen(browser: Browser, server: str) -> Iterator[Measured]:
    """Lines for stepping, for five quick presses, and for other settings."""
    lesson = LessonPage(browser.new_page(), server).go_to("/growth").wait_for_player()
    lesson.page.evaluate(STOPWATCH)
    yield step(lesson)
    yield five_presses(lesson)
    yield from other_settings(lesson)
    yield extremes(lesson)


def timed(page: Page, key: str, done: str) -> float:
    """Seconds from pressing ``key`` until ``done`` holds and is painted."""
    page.evaluate(f"() => {{ window.measured = stopwatch({done}); }}")
    page.keyboard.press(key)
    seconds: float = page.evaluate("() => window.measured")
    return seconds


def step(lesson: LessonPage) -> Measured:
    """Next pressed until the new frame is painted."""
    seconds = []
    while len(seconds) < 23:
        before = lesson.step_label.inner_text()
        at_end = before.split(" of ")[0] == before.split(" of ")[1]
        key = "Home" if at_end else "ArrowRight"
        seconds.append(timed(lesson.page, key, STEPPED.format(before=before)))
    return milliseconds("Next pressed → new frame painted", 33, seconds[3:])


def five_presses(lesson: LessonPage) -> Measured:
    """Five presses, 30 ms apart."""
    lesson.press("Home")
    for _ in range(5):
        lesson.press("ArrowRight")
        lesson.page.wait_for_timeout(30)
    lesson.page.wait_for_timeout(500)
    arrived = int(lesson.step_label.inner_text().split(" of ")[0]) - 1
    return Measured("five presses of → 30 ms apart", "5 arrive", f"{arrived} arrived", arrived == 5)


def other_settings(lesson: LessonPage) -> Iterator[Measured]:
    """Each slider one notch up from the defaults and back, in every lesson."""
    new, known = [], []
    for slug in (item.slug for item in LESSONS):
        lesson.go_to(f"/{slug}").wait_for_player()
        lesson.page.evaluate(STOPWATCH)
        for name, value in {"block_size": 5, "capacity": 25, "prompt_length": 7}.items():
            lesson.slider(name).focus()
            to_new = ADDRESS.format(name=name, value=f"'{value}'")
            to_default = ADDRESS.format(name=name, value="null")
            new.append(timed(lesson.page, "ArrowRight", to_new))
            known.append(timed(lesson.page, "ArrowLeft", to_default))
            known.append(timed(lesson.page, "ArrowRight", to_new))
            known.append(timed(lesson.page, "ArrowLeft", to_default))
    yield milliseconds("one notch from the defaults → new board painted, new trace", 900, new)
    yield milliseconds("the same, trace known", 250, known)


def extremes(lesson: LessonPage) -> Measured:
    """The largest corner of the ranges, three times: each seed has a trace of its own."""
    seconds: dict[str, list[float]] = {}
    largest = ADDRESS.format(name="prompt_length", value="'64'")
    for slug in (item.slug for item in LESSONS):
        seconds[slug] = []
        for seed in range(3):
            query = f"block_size=32&capacity=256&prompt_length=63&seed={seed}"
            lesson.go_to(f"/{slug}?{query}").wait_for_player()
            lesson.page.evaluate(STOPWATCH)
            lesson.slider("prompt_length").focus()
            seconds[slug].append(timed(lesson.page, "ArrowRight", largest))
    slowest = max(seconds, key=lambda slug: median(seconds[slug]))
    middle, worst = median(seconds[slowest]), max(map(max, seconds.values()))
    value = f"{middle:.1f} s ({slowest}), at most {worst:.1f} s ({len(seconds)} lessons, 3 times)"
    what = "block size 32, capacity 256, prompts of 64, new trace"
    return Measured(what, "≤ 4 s", value, middle <= 4)


def measure_start(browser: Browser, project: Path) -> Measured:
    """From starting the server until the first lesson has been stepped."""
    page = browser.new_page()
    with TemporaryDirectory() as folder:
        before = perf_counter()
        with running_server(project, Path(folder) / "log.txt") as server:
            lesson = LessonPage(page, server).go_to(f"/{LESSONS[0].slug}").wait_for_player()
            lesson.press("ArrowRight")
            lesson.expect_step(1)
            seconds = perf_counter() - before
    page.close()
    what = "server start → first lesson can be stepped"
    return Measured(what, "≤ 10 s", f"{seconds:.1f} s", seconds <= 10)
