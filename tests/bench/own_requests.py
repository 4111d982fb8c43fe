"""What a learner waits for on the pages with requests of their own, in Chromium."""

from collections.abc import Iterator
from time import perf_counter

from playwright.sync_api import Browser, expect

from pagedkv.sandbox.actions import Action, DecodeToken, Finish, Fork, NewRequest
from pagedkv.sandbox.as_link import to_link
from pagedkv.sandbox.script import Pool, Script
from tests.bench.measured import Measured, milliseconds
from tests.bench.screen import STEPPED, STOPWATCH, timed
from tests.browser.browser_tools import LessonPage

PROMPTS = ("RO", "JU", "En", "To")  # four requests
TIMES = 10
LINKS = 5
ROOMY = Pool(4, 64)  # for all that is done here
ANSWER = ".st-key-generate_running [data-testid=stText]"
WRITTEN = f"() => document.querySelector('{ANSWER}')?.innerText.trim().length > 0"


def measure_own_requests(browser: Browser, server: str) -> Iterator[Measured]:
    """Lines for the sandbox and for the page that generates."""
    page = LessonPage(browser.new_page(), server)
    begin_with(page, tuple(map(NewRequest, PROMPTS)))
    yield action(page)
    yield old_frames(page)
    yield links(page)
    yield first_text(page)
    page.page.close()


def begin_with(page: LessonPage, actions: tuple[Action, ...]) -> None:
    """Open the session of these actions; wait until its last frame is on the board."""
    page.go_to(f"/sandbox?s={to_link(Script(ROOMY, actions))}")
    expect(page.step_label).to_have_text(f"{len(actions) + 1} of {len(actions) + 1}")


def action(page: LessonPage) -> Measured:
    """A button pressed until the action's frame is on the board, in turn for one and for all."""
    page.page.evaluate(STOPWATCH)
    seconds = []
    for label in ("Decode one token", "One engine step") * TIMES:
        page.wait_until_idle()
        page.page.get_by_role("button", name=label, exact=True).focus()
        before = page.step_label.inner_text()
        seconds.append(timed(page.page, "Enter", STEPPED.format(before=before)))
    return milliseconds("sandbox: action pressed → new frame painted, 4 requests", 300, seconds)


def old_frames(page: LessonPage) -> Measured:
    """Back pressed until the frame before is painted."""
    page.by_id("player").focus()
    seconds = []
    for _ in range(2 * TIMES):
        before = page.step_label.inner_text()
        seconds.append(timed(page.page, "ArrowLeft", STEPPED.format(before=before)))
    return milliseconds("sandbox: ← pressed → old frame painted", 30, seconds)


def links(page: LessonPage) -> Measured:
    """Links that nobody opened before: 40 actions, 20 of which decode, four requests at last."""
    seconds = []
    for number in range(LINKS):
        new = tuple(NewRequest(prompt[number:] + prompt[:number]) for prompt in PROMPTS)
        steps = tuple(DecodeToken(1 + i % 4, "abcde"[number]) for i in range(20))
        forks = [done for fork in range(8) for done in (Fork(1), Finish(5 + fork))]
        before = perf_counter()
        begin_with(page, (*new, *steps, *forks))
        seconds.append(perf_counter() - before)
    return milliseconds("sandbox: link of 40 actions, 20 decoding → painted", 2500, seconds)


def first_text(page: LessonPage) -> Measured:
    """Generate pressed until the first character of an answer is painted."""
    seconds = []
    for seed in range(LINKS):
        page.go_to("/generate").wait_for_title()
        page.page.evaluate(STOPWATCH)
        page.page.get_by_role("spinbutton", name="Seed").fill(str(seed))
        page.page.get_by_role("spinbutton", name="New tokens").fill("60")
        page.page.get_by_role("button", name="Generate", exact=True).focus()
        seconds.append(timed(page.page, "Enter", WRITTEN))
        page.page.get_by_text("forward pass that knows no cache").wait_for()
        page.wait_until_idle()
    return milliseconds("generate: pressed → first characters painted", 1000, seconds)
