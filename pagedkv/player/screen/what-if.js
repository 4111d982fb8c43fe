/** A what-if: what would be read if the engine did it otherwise. Never on the real board. */

import { el } from "./dom.js";
import { lookOf } from "./slot.js";

export function whatIfParts(stage, view) {
  const blocks = view.blocks.map((block) =>
    el(
      "div",
      { class: "what-if-block" },
      el("div", { class: "part-cells" }, ...block.cells.map((cell) => whatIfCell(stage, cell))),
      el("div", { class: "part-text", text: block.label }),
    ),
  );
  return [
    el("h3", {}, el("span", { class: "if-mark", text: stage.words.if }), view.title),
    el(
      "div",
      { class: "what-if-blocks", role: "group", tabindex: "0", "aria-label": view.title },
      ...blocks,
    ),
    el("p", {}, ...stage.runs(view.text)),
  ];
}

/** In a strip too long to see at once, bring into view where it first goes wrong. */
export function revealWrong(panel) {
  const strip = panel.querySelector(".what-if-blocks");
  const wrong = strip?.querySelector(".wrong");
  if (!wrong || strip.scrollWidth <= strip.clientWidth) return;
  const place = wrong.getBoundingClientRect().left - strip.getBoundingClientRect().left;
  strip.scrollLeft += place - strip.clientWidth / 2;
}

function whatIfCell(stage, cell) {
  const own = cell.o.length === 1 ? stage.own(cell.o[0]) : "";
  const wanted = cell.wanted.map((request, i) =>
    el(
      "span",
      { class: "wanted" },
      stage.swatch(request),
      cell.wantedTokens[i] ?? cell.wantedPosition ?? "",
    ),
  );
  return el(
    "div",
    { class: `what-if-cell${cell.wrong ? " wrong" : ""}` },
    el(
      "div",
      { class: `slot ${lookOf(cell)} ${own}` },
      el("span", { class: "char", text: cell.c ?? "" }),
      el("span", { class: "position", text: cell.p === null ? "" : String(cell.p) }),
    ),
    cell.wrong ? el("b", { class: "cross", text: "✗" }) : null,
    el("div", { class: "wants" }, ...wanted),
  );
}
