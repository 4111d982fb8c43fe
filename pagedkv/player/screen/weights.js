/** One bar per attention weight, with the dense value as a marker, bracketed by physical block. */

import { el } from "./dom.js";
import { fill } from "./text.js";

export function drawWeights(stage, chart, view, layer, head) {
  const paged = layer.paged[head];
  const dense = (layer.dense ?? layer.paged)[head];
  const tokens = positionTokens(stage, view.r);
  const bars = [];
  const runs = view.runs.map(([block, count]) => {
    const members = Array.from({ length: count }, () => {
      const bar = makeBar(stage, view.r, bars.length, block, paged, dense, tokens);
      bars.push(bar);
      return bar;
    });
    const label = fill(stage.words.positions_in, { block, count });
    return el(
      "div",
      { class: "run", style: `flex-grow:${count};max-width:${count * 90}px` },
      el("div", { class: "bars" }, ...members),
      stage.canPoint(el("div", { class: "bracket", text: label }), { block }),
    );
  });
  chart.className = `chart ${stage.own(view.r)}${bars.length > 24 ? " crowded" : ""}`;
  const axis = el(
    "div",
    { class: "axis", "aria-hidden": "true" },
    ...["1", "0.5", "0"].map((text) => el("span", { text })),
  );
  chart.replaceChildren(axis, ...runs);
  return bars;
}

function positionTokens(stage, request) {
  const rows = stage.group(request)?.rows ?? [];
  return rows.flatMap((row) => row.cells.map((cell) => cell.c ?? ""));
}

function makeBar(stage, request, position, block, paged, dense, tokens) {
  const size = stage.data.config.block_size;
  const value = paged[position];
  const values = { position, block, paged: value.toFixed(4), dense: dense[position].toFixed(4) };
  const bar = el(
    "div",
    {
      class: "weight",
      role: "img",
      "data-testid": `weight-${position}`,
      "data-value": value,
      "data-dense": dense[position],
      "aria-label": fill(stage.words.bar, values),
    },
    el(
      "div",
      { class: "column" },
      el("i", { class: "bar", style: `height:${value * 100}%` }),
      el("i", { class: "marker", style: `bottom:${dense[position] * 100}%` }),
      el("span", {
        class: "value",
        style: `bottom:${Math.max(value, dense[position]) * 100}%`,
        text: value.toFixed(2),
      }),
    ),
    el("span", { class: "bar-char", text: tokens[position] ?? "" }),
    el("span", { class: "bar-position", text: String(position) }),
  );
  return stage.canPoint(bar, { cell: [request, Math.floor(position / size), position % size] });
}
