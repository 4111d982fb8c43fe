/** One attention weight, worked out in figures. */

import { el } from "./dom.js";

export function workedParts(stage, view) {
  const lines = view.lines.map((text) => el("li", { text }));
  return [
    stage.canPoint(el("h3", {}, stage.tag(view.r, view.title)), { slot: view.slot }),
    el("p", { class: "quiet", text: view.where }),
    el("ol", { class: "arithmetic" }, ...lines),
    el("p", { class: "quiet", text: view.note }),
  ];
}
