/** Logical blocks, left on the board: each request's positions in order, and its block table. */

import { el, setAttr, setText } from "./dom.js";
import { isDense } from "./layout.js";

export function makeLogical(stage) {
  const { words, data } = stage;
  const heading = el(
    "h2",
    { class: "board-heading" },
    stage.term(words.logical, "logical block"),
    el("span", { text: ` · ${isDense(data) ? words.curves_on_demand : words.logical_note}` }),
  );
  const groups = data.requests.map((_, request) => makeGroup(stage, request));
  const list = el(
    "div",
    { class: "groups", role: "region", tabindex: "0", "aria-label": words.logical },
    ...lanesOf(data.stage.lanes, groups),
  );
  const draw = () => {
    groups.forEach((group, request) => {
      const view = stage.group(request);
      const ending = stage.ending(request);
      const shown = view ?? ending;
      if (group.shown === shown) return;
      group.shown = shown;
      drawGroup(stage, group, view, ending);
    });
  };
  return { node: el("div", { class: "logical" }, heading, list), list, groups, draw };
}

/** Requests that follow one another share a lane: their groups lie on top of each other. */
function lanesOf(lanes, groups) {
  const count = Math.max(-1, ...lanes.filter((lane) => lane !== null)) + 1;
  return Array.from({ length: count }, (_, lane) =>
    el(
      "div",
      { class: "lane" },
      ...groups.filter((_group, request) => lanes[request] === lane).map((group) => group.node),
    ),
  );
}

function makeGroup(stage, request) {
  const rows = Array.from({ length: stage.data.stage.rows[request] }, (_, i) =>
    makeRow(stage, request, i),
  );
  const group = {
    request,
    rows,
    shown: undefined,
    name: el("span", { class: "group-name" }, stage.swatch(request), stage.name(request)),
    prompt: el("span", { class: "group-prompt" }),
    count: el("span", { class: "group-count" }),
    pending: makePending(stage),
  };
  const head = el("div", { class: "group-head" }, group.name, group.prompt, group.count);
  stage.canPoint(head, { request });
  group.node = el(
    "div",
    { class: `group ${stage.own(request)}` },
    head,
    el("div", { class: "rows" }, ...rows.map((row) => row.node)),
  );
  if (stage.data.stage.pending[request]) group.node.append(group.pending.node);
  return group;
}

function makeRow(stage, request, logical) {
  const cells = Array.from({ length: stage.data.config.block_size }, (_, offset) => {
    const char = el("span", { class: "char" });
    const position = el("span", { class: "position" });
    const node = el("div", {}, char, position);
    stage.canPoint(node, { cell: [request, logical, offset] });
    return { node, char, position };
  });
  const entry = el("span", { class: "entry" });
  const label = el("span", { class: "block-label", text: `L${logical}` });
  const node = el(
    "div",
    { class: "row", role: "group" },
    label,
    el("div", { class: "cells" }, ...cells.map((cell) => cell.node)),
    entry,
  );
  stage.canPoint(entry, { entries: [[request, logical]] });
  stage.canPoint(label, { entries: [[request, logical]] });
  return { node, cells, entry };
}

function makePending(stage) {
  const char = el("span", { class: "pending-char" });
  const node = el(
    "div",
    { class: "pending" },
    char,
    stage.term(stage.words.pending, "pending token"),
    el("span", { text: ` · ${stage.words.pending_note}` }),
  );
  return { node, char };
}

function drawGroup(stage, group, view, ending) {
  group.node.classList.toggle("absent", view === null && ending === null);
  group.node.classList.toggle("ended", ending !== null);
  setText(group.prompt, view ? `“${view.prompt}”` : "");
  setText(group.count, view ? view.count : ending ?? "");
  group.rows.forEach((row, i) => drawRow(stage, group.request, i, row, view?.rows[i] ?? null));
  const pending = view?.pending ?? null;
  group.pending.node.classList.toggle("absent", pending === null);
  setAttr(
    group.pending.node,
    "data-testid",
    pending === null ? null : `pending-${stage.name(group.request)}`,
  );
  setText(group.pending.char, pending ?? "");
  group.pending.char.classList.toggle("low", pending === "␣");
}

function drawRow(stage, request, logical, row, view) {
  row.node.className = `row${view ? "" : " absent"}${view?.changed ? " changed" : ""}`;
  setAttr(row.node, "aria-label", view?.label ?? null);
  setAttr(row.entry, "data-testid", view ? `table-${stage.name(request)}-L${logical}` : null);
  setAttr(row.entry, "data-block", view ? view.b : null);
  setText(row.entry, view ? `→ P${view.b}` : "");
  row.cells.forEach((cell, offset) => drawCell(cell, view?.cells[offset] ?? null));
}

function drawCell(cell, view) {
  cell.node.className = `cell ${view?.s ?? "empty"}${view?.n ? " now" : ""}`;
  setText(cell.char, view?.c ?? "");
  setText(cell.position, view?.p === undefined ? "" : String(view.p));
}
