/** The scrubber: the frames as dots on a track, to be clicked, dragged or moved by keys. */

import { el, setAttr } from "./dom.js";
import { fill } from "./text.js";

export function makeScrubber(playback, words, frames) {
  const last = Math.max(frames.length - 1, 1);
  const place = (index) => `${(index / last) * 100}%`;
  const dots = frames.map((frame, index) =>
    el("i", { class: "dot", style: `left:${place(index)}`, title: frame.title }),
  );
  const done = el("i", { class: "done" });
  const thumb = el("i", { class: "thumb" });
  const track = el("div", { class: "track" }, done, ...dots, thumb);
  const node = el(
    "div",
    {
      class: "scrubber",
      role: "slider",
      tabindex: "0",
      title: words.keys,
      "aria-label": words.scrubber,
      "aria-valuemin": 1,
      "aria-valuemax": frames.length,
    },
    track,
  );
  followPointer(node, track, (share) => playback.move(Math.round(share * (frames.length - 1))));
  const draw = (index) => {
    thumb.style.left = place(index);
    done.style.width = place(index);
    setAttr(node, "aria-valuenow", index + 1);
    setAttr(
      node,
      "aria-valuetext",
      `${fill(words.step, { number: index + 1, count: frames.length })}: ${frames[index].title}`,
    );
  };
  return { node, draw };
}

/** Tell `move` where on the track a pressed pointer is, from 0 to 1. */
function followPointer(node, track, move) {
  const follow = (event) => {
    const box = track.getBoundingClientRect();
    move(box.width ? (event.clientX - box.left) / box.width : 0);
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    node.setPointerCapture(event.pointerId);
    follow(event);
  });
  node.addEventListener("pointermove", (event) => {
    if (node.hasPointerCapture(event.pointerId)) follow(event);
  });
}
