/** How far K and V of one character are apart after two beginnings, layer by layer. */

import { el } from "./dom.js";

export function comparisonParts(stage, view) {
  const { words } = stage;
  const prompts = view.prompts.map((tokens) =>
    el(
      "p",
      { class: "prompt" },
      ...tokens.map((token, i) => (i === view.position ? el("mark", { text: token }) : token)),
    ),
  );
  const row = (cells, tag) =>
    el(
      "tr",
      {},
      ...cells.map((text) => el(tag, { text: String(text), scope: tag === "th" ? "col" : null })),
    );
  const table = el(
    "table",
    {},
    el("thead", {}, row([words.comparison_layer, words.comparison_k, words.comparison_v], "th")),
    el("tbody", {}, ...view.layers.map((layer) => row(layer, "td"))),
  );
  return [el("h3", { text: view.title }), el("div", { class: "prompts" }, ...prompts), table];
}
