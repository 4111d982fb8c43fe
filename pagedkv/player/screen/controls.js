/** The player bar: first, back, next, last, play, speed, the scrubber and the presentation. */

import { el, setAttr, setText } from "./dom.js";
import { icon } from "./icons.js";
import { makeScrubber } from "./scrubber.js";
import { fill } from "./text.js";

export function makeControls({ data }, playback, togglePresent) {
  const { words, frames } = data;
  const bar = {
    first: makeControl(words, "first", () => playback.move(0)),
    back: makeControl(words, "back", () => playback.move(playback.index - 1), words.back),
    next: makeControl(words, "next", () => playback.move(playback.index + 1), words.next),
    last: makeControl(words, "last", () => playback.move(playback.last)),
    play: makeControl(words, "play", () => playback.toggle(), words.play),
    speed: el("button", { type: "button", class: "control speed" }),
    step: el("span", { class: "step-label", "data-testid": "step-label" }),
    present: makeControl(words, "present", togglePresent),
    scrubber: makeScrubber(playback, words, frames),
  };
  bar.next.append(bar.next.firstChild); // its arrow stands behind the word
  bar.speed.addEventListener("click", () => playback.nextSpeed());
  bar.node = el(
    "div",
    { class: "bar-row", role: "group", "aria-label": words.player },
    el("div", { class: "controls" }, bar.first, bar.back, bar.next, bar.last, bar.play, bar.speed),
    bar.scrubber.node,
    bar.step,
    bar.present,
  );
  return bar;
}

/** A button with a picture, and with `text` beside it where that is given. */
function makeControl(words, name, action, text = null) {
  const node = el(
    "button",
    {
      type: "button",
      class: `control ${name}`,
      "aria-label": text ? null : words[name],
      title: words[name],
    },
    icon(name),
  );
  if (text) node.append(el("span", { text }));
  node.addEventListener("click", action);
  return node;
}

export function drawControls(bar, { words }, { index, last }) {
  const atFirst = index === 0 ? "true" : null;
  const atLast = index === last ? "true" : null;
  setText(bar.step, fill(words.step, { number: index + 1, count: last + 1 }));
  setAttr(bar.first, "aria-disabled", atFirst);
  setAttr(bar.back, "aria-disabled", atFirst);
  setAttr(bar.next, "aria-disabled", atLast);
  setAttr(bar.last, "aria-disabled", atLast);
  bar.scrubber.draw(index);
}

export function drawPlayState(bar, { words }, { playing, speed }) {
  const name = playing ? "pause" : "play";
  const times = `${speed}×`;
  bar.play.replaceChildren(icon(name), el("span", { text: words[name] }));
  setAttr(bar.play, "title", words[name]);
  setText(bar.speed, times);
  setAttr(bar.speed, "aria-label", fill(words.speed, { speed: times }));
  setAttr(bar.speed, "title", fill(words.speed, { speed: times }));
}
