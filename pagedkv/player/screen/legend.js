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

const SAMPLES = { written: "stored now", leftover: "empty leftover" };
const OLD_BYTES = ["stale", "leftover"];

export function drawLegend(stage, legend, entries) {
  const key = JSON.stringify(entries);
  if (legend.dataset.shown === key) return;
  legend.dataset.shown = key;
  legend.replaceChildren(
    ...entries.map(([look, text]) => {
      const kind = SAMPLES[look] ?? look;
      const sample = el("span", {
        class: `sample slot ${kind}`,
        "aria-hidden": "true",
        text: OLD_BYTES.includes(look) ? "a" : "",
      });
      const words =
        look in LEGEND_TERMS ? stage.term(text, LEGEND_TERMS[look]) : el("span", { text });
      return el("li", {}, sample, words);
    }),
  );
}
