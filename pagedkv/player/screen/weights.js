/** One bar per attention weight, with the dense value as a marker, bracketed by physical block. */

import { el } from "./dom.js";
import { fill } from "./text.js";

const SLIGHT = 0.05; // a bar as low as that can hardly be seen

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
      { class: "run", style: `flex-grow:${count};max-width:${count * 90}px;min-width:${count * 23 - 3}px` },
      el("div", { class: "bars" }, ...members),
      stage.canPoint(el("div", { class: "bracket", text: label }), { block }),
    );
  });
  chart.className = `chart ${stage.own(view.r)}`;
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
  const [height, denseHeight] = [value ?? 0, dense[position] ?? 0]; // a broken cache can give NaN
  const figures = { paged: inFigures(value, 4), dense: inFigures(dense[position], 4) };
  const values = { position, block, ...figures };
  const bar = el(
    "div",
    {
      class: `weight${rankOf(paged, position)}`,
      role: "img",
      "data-testid": `weight-${position}`,
      "data-value": value,
      "data-dense": dense[position],
      "aria-label": fill(stage.words.bar, values),
    },
    el(
      "div",
      { class: "column" },
      el("i", { class: "bar", style: `height:${height * 100}%` }),
      el("i", { class: "marker", style: `bottom:${denseHeight * 100}%` }),
      el("span", {
        class: "value",
        style: `bottom:${Math.max(height, denseHeight) * 100}%`,
        text: inFigures(value, 2),
      }),
    ),
    el("span", { class: "bar-char", text: tokens[position] ?? "" }),
    el("span", { class: "bar-position", text: String(position) }),
  );
  return stage.canPoint(bar, { cell: [request, Math.floor(position / size), position % size] });
}

/** What narrow bars leave unwritten: see the styles. */
function rankOf(weights, position) {
  const value = weights[position] ?? 1; // what is no number is always written
  const [before, after] = [weights[position - 1] ?? 0, weights[position + 1] ?? 0];
  const slight = value < SLIGHT ? " slight" : "";
  const peak = value > before && value >= after ? " peak" : "";
  return `${slight}${peak}${position % 2 ? " odd" : ""}`;
}

/** A weight to so many digits; data has null for what is no number. */
function inFigures(weight, digits) {
  return weight === null ? "nan" : weight.toFixed(digits);
}
