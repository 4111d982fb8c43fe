/** The legend under the board: only the states that are on it. */

import { el } from "./dom.js";

const LEGEND_TERMS = {
  stored: "stored",
  empty: "empty",
  free: "free",
  stale: "stale",
  shared: "ref count",
  reserved: "reservation",
};

export function drawLegend(stage, legend, entries) {
  const key = JSON.stringify(entries);
  if (legend.dataset.shown === key) return;
  legend.dataset.shown = key;
  legend.replaceChildren(
    ...entries.map(([look, text]) => {
      const kind = look === "written" ? "stored now" : look;
      const sample = el("span", {
        class: `sample slot ${kind}`,
        "aria-hidden": "true",
        text: look === "stale" ? "a" : "",
      });
      const words =
        look in LEGEND_TERMS ? stage.term(text, LEGEND_TERMS[look]) : el("span", { text });
      return el("li", {}, sample, words);
    }),
  );
}
