/**
 * The lesson player: draws one frame of a lesson at a time and moves between them.
 *
 * What: `mountPlayer(root, data, options)` shows the view model that `pagedkv.player.player_data`
 * computes. Why here: every frame is in the browser, so a key press needs no server and is drawn
 * within one animation frame. It computes nothing about the engine, and it knows no framework.
 *
 *   root     an Element to draw into; it may be inside a shadow root
 *   data     the view model; equal `data.key` means equal content
 *   options  { index: 0,                  the frame to show
 *              present: false,            fill the whole window: board, caption and player only
 *              theme: 'auto',             'light', 'dark', or by the page's background
 *              heading: false,            also show the lesson's title and question
 *              onSettle: (index) => {},   250 ms after the learner's last move
 *              onPresent: (bool) => {} }  when the learner enters or leaves the presentation
 *   returns  { update(data, options), destroy() }
 *
 * `update` swaps the lesson in one go, without a flash, and keeps the place where the host says
 * nothing. An `index` or a `present` moves the player only if it is not what was last said between
 * the two, so an echo of what the host was told does not pull the learner back.
 *
 * A Streamlit page concatenates this file and an adapter, and gives both with `player.css` as the
 * texts of a components-v2 component:
 *
 *   const players = new WeakMap();
 *   export default function ({ parentElement, data, setStateValue }) {
 *     const options = { index: data.index, onSettle: (index) => setStateValue('step', index) };
 *     const player = players.get(parentElement);
 *     if (player) player.update(data.lesson, options);
 *     else players.set(parentElement, mountPlayer(parentElement, data.lesson, options));
 *     return () => { players.get(parentElement)?.destroy(); players.delete(parentElement); };
 *   }
 *
 * An exported page does the same with one `<script type="module">`. Text from data is only ever
 * text: nothing here parses HTML.
 */

const SETTLE_MS = 250;
const FRAME_MS = 3000; // how long a frame stays at speed 1: captions are to be read
const SPEEDS = [0.5, 1, 2, 4];

// --- small helpers -----------------------------------------------------------------------------

/** Create an element; `attributes` may hold `text`, `class` and anything setAttribute takes. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") node.textContent = value;
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const ICONS = {
  first: "M5 4h2.5v16H5zM20 4v16L9 12z",
  back: "M16.5 4v16L6 12z",
  next: "M7.5 4v16L18 12z",
  last: "M16.5 4H19v16h-2.5zM4 4v16l11-8z",
  play: "M6 3.5v17l14-8.5z",
  pause: "M6 4h4.5v16H6zM13.5 4H18v16h-4.5z",
  present: "M3 4h18v13H3zM5.2 6.2v8.6h13.6V6.2zM8 19h8v2H8z",
};

function icon(name) {
  const path = svg("path", { d: ICONS[name] });
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, path);
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute, or take it away when `value` is null. */
function setAttr(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

function show(node, visible) {
  node.hidden = !visible;
}

/** Fill the `{names}` of a template. */
function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (match, name) => (name in values ? values[name] : match));
}

function signed(number) {
  return number.toFixed(2).replace("-", "−");
}

// --- what all parts of the screen share --------------------------------------------------------

/** The lesson at hand, what the learner chose, and what can be pointed at. One per loaded lesson. */
class Stage {
  constructor(data, choice) {
    this.data = data;
    this.words = data.words;
    this.choice = choice;
    this.targets = new WeakMap(); // element -> what pointing at it means
    this.lit = [];
    this.chosen = [];
    this.frame = null;
    this.parts = {};
  }

  name(request) {
    return this.data.requests[request].name;
  }

  names(requests) {
    return requests.map((request) => this.name(request));
  }

  own(request) {
    return `own-${this.data.requests[request].colour}`;
  }

  group(request) {
    const place = this.frame.groups[request];
    return typeof place === "number" ? this.data.groups[place] : null;
  }

  block(id) {
    const place = this.frame.blocks[id];
    return place === undefined ? null : this.data.blocks[place];
  }

  canPoint(node, target) {
    this.targets.set(node, target);
    return node;
  }

  swatch(request) {
    return el("i", { class: `swatch ${this.own(request)}`, "aria-hidden": "true" });
  }

  tag(request, text) {
    return el("span", { class: "tag" }, this.swatch(request), text);
  }

  /** A word with an explanation; plain text where the vocabulary lacks it. */
  term(text, term) {
    if (!(term in this.data.terms)) return document.createTextNode(text);
    return el("dfn", { tabindex: "0", class: "term", "data-term": term, text });
  }

  /** Running text: strings as they are, words for things on the board as chips. */
  runs(runs) {
    return runs.map((run) => {
      if (typeof run === "string") return document.createTextNode(run);
      if (run.term) return this.term(run.t, run.term);
      const chip = el("span", { role: "button", tabindex: "0", class: "chip", text: run.t });
      if (run.request !== undefined) chip.prepend(this.swatch(run.request));
      return this.canPoint(chip, run);
    });
  }
}

// --- the pool: physical blocks -----------------------------------------------------------------

function makePool(stage) {
  const { words, data } = stage;
  const heading = el(
    "h2",
    { class: "board-heading" },
    stage.term(words.physical, "physical block"),
    el("span", { text: ` · ${words.physical_note}` }),
  );
  const cards = Array.from({ length: data.config.num_blocks }, (_, id) => makeCard(stage, id));
  const list = el(
    "div",
    { class: "cards", role: "region", tabindex: "0", "aria-label": words.physical },
    ...cards.map((card) => card.node),
  );
  if (data.config.no_blocks)
    list.append(el("p", { class: "no-blocks", text: data.config.no_blocks }));
  const draw = (frame) => {
    cards.forEach((card, id) => {
      if (card.shown === frame.blocks[id]) return;
      card.shown = frame.blocks[id];
      drawCard(stage, card, data.blocks[card.shown]);
    });
  };
  return { node: el("div", { class: "pool" }, heading, list), list, cards, draw };
}

function makeCard(stage, id) {
  const size = stage.data.config.block_size;
  const slots = Array.from({ length: size }, (_, offset) => makeSlot(stage, id, offset));
  const card = {
    shown: null,
    slots,
    label: el("span", { class: "block-label", text: `P${id}` }),
    ref: el("span", { class: "ref", "data-testid": `refcount-P${id}` }),
    origin: el("span", { class: "note" }),
    note: el("span", { class: "note" }),
    free: el("span", { class: "free-word" }),
    tags: el("span", { class: "tags" }),
  };
  const meta = el(
    "div",
    { class: "meta" },
    el("span", { class: "meta-line" }, card.ref, card.free, card.origin),
    el("span", { class: "meta-line" }, card.tags, card.note),
  );
  const cells = el("div", { class: "cells" }, ...slots.map((slot) => slot.node));
  card.node = el("div", { class: "card", role: "group" }, card.label, cells, meta);
  stage.canPoint(card.label, { block: id });
  stage.canPoint(meta, { block: id });
  return card;
}

function drawCard(stage, card, block) {
  card.node.className = `card${block.ref ? "" : " unused"}${block.changed ? " changed" : ""}`;
  setAttr(card.node, "aria-label", block.label);
  setText(card.ref, block.refText);
  setAttr(card.ref, "data-ref", block.ref);
  setText(card.free, block.free);
  setText(card.origin, block.origin);
  setText(card.note, block.note);
  card.tags.replaceChildren(
    ...block.owners.map(([request], i) => stage.tag(request, block.tags[i])),
  );
  block.slots.forEach((slot, offset) => drawSlot(stage, card.slots[offset], slot));
}

function makeSlot(stage, block, offset) {
  const bands = el("span", { class: "bands" });
  const char = el("span", { class: "char" });
  const position = el("span", { class: "position" });
  const node = el(
    "div",
    { role: "img", "data-testid": `slot-P${block}-${offset}` },
    bands,
    char,
    position,
  );
  stage.canPoint(node, { slot: [block, offset] });
  return { node, bands, char, position, owners: "" };
}

/** How a slot looks: its state, or "shared" when one copy serves several requests. */
function lookOf(slot) {
  return slot.s === "stored" && slot.o.length > 1 ? "shared" : slot.s;
}

function drawSlot(stage, view, slot) {
  const owners = slot.o || [];
  const own = owners.length === 1 ? ` ${stage.own(owners[0])}` : "";
  view.node.className = `slot ${lookOf(slot)}${own}${slot.n ? " now" : ""}`;
  const names = stage.names(owners).join(" ");
  setAttr(view.node, "data-state", slot.s);
  setAttr(view.node, "data-owners", names);
  setAttr(view.node, "data-position", slot.p ?? "");
  setAttr(view.node, "data-token", slot.c ?? "");
  setAttr(view.node, "aria-label", slot.label);
  setText(view.char, slot.c ?? "");
  setText(view.position, slot.p === undefined ? "" : String(slot.p));
  if (view.owners !== names) {
    view.owners = names;
    view.bands.replaceChildren(...owners.map((request) => el("i", { class: stage.own(request) })));
  }
}

// --- each request's own order: logical blocks --------------------------------------------------

function makeLogical(stage) {
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
  const draw = (frame) => {
    groups.forEach((group, request) => {
      if (group.shown === frame.groups[request]) return;
      group.shown = frame.groups[request];
      drawGroup(stage, group, frame.groups[request]);
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

function drawGroup(stage, group, place) {
  const view = typeof place === "number" ? stage.data.groups[place] : null;
  group.node.classList.toggle("absent", view === null && typeof place !== "string");
  group.node.classList.toggle("ended", typeof place === "string");
  setText(group.prompt, view ? `“${view.prompt}”` : "");
  setText(group.count, view ? view.count : place || "");
  group.rows.forEach((row, i) => drawRow(stage, group.request, i, row, view?.rows[i] ?? null));
  const pending = view?.pending ?? null;
  group.pending.node.classList.toggle("absent", pending === null);
  setAttr(
    group.pending.node,
    "data-testid",
    pending === null ? null : `pending-${stage.name(group.request)}`,
  );
  setText(group.pending.char, pending ?? "");
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

// --- curves from table entries to blocks -------------------------------------------------------

function makeCurves(stage, logical, pool) {
  const node = svg("svg", { class: "curves", "aria-hidden": "true" });
  const paths = logical.groups.map((group) =>
    group.rows.map(() => svg("path", { class: `curve ${stage.own(group.request)}` })),
  );
  node.append(...paths.flat());
  const curves = { node, paths, anchors: null };
  curves.forget = () => {
    curves.anchors = null;
  };
  curves.draw = (frame) => {
    curves.anchors ??= measureAnchors(node, logical, pool);
    drawCurves(stage, curves, frame);
  };
  return curves;
}

/** Where curves start and end; measured once per layout, for rows and cards keep their places. */
function measureAnchors(node, logical, pool) {
  const box = node.getBoundingClientRect();
  const anchor = (element, list, xOf) => {
    const rect = element.getBoundingClientRect();
    const view = list.getBoundingClientRect();
    const middle = rect.top + rect.height / 2;
    const isInView = middle >= view.top && middle <= view.bottom;
    return isInView ? [xOf(rect) - box.left, middle - box.top] : null;
  };
  return {
    entries: logical.groups.map((group) =>
      group.rows.map((row) => anchor(row.entry, logical.list, (rect) => rect.right)),
    ),
    blocks: pool.cards.map((card) => anchor(card.label, pool.list, (rect) => rect.left - 3)),
  };
}

function drawCurves(stage, { paths, anchors }, frame) {
  const many = isDense(stage.data); // then only curves that changed or are pointed at are seen
  frame.groups.forEach((_, request) => {
    const rows = stage.group(request)?.rows ?? [];
    paths[request].forEach((path, logical) => {
      const row = rows[logical];
      const ends = row ? [anchors.entries[request][logical], anchors.blocks[row.b]] : [];
      path.classList.toggle("strong", Boolean(row?.changed));
      path.classList.toggle("quiet", many);
      setAttr(path, "d", ends[0] && ends[1] ? curve(...ends) : null);
    });
  });
}

function curve([x0, y0], [x1, y1]) {
  const bend = Math.max(24, (x1 - x0) * 0.5);
  return `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
}

// --- the contiguous strip ----------------------------------------------------------------------

const MOST_CELLS = 40; // beyond, a piece is one bar in proportion

function makeContiguous(stage) {
  const strip = el("div", { class: "strip" });
  const refused = el("b", { class: "refused" });
  const sum = el("span");
  const heading = el(
    "h2",
    { class: "board-heading" },
    stage.term(stage.words.contiguous, "reservation"),
    sum,
    refused,
  );
  const node = el("div", { class: "contiguous" }, heading, strip);
  const draw = (frame) => {
    const view = frame.contiguous;
    node.classList.toggle("absent", view === null);
    if (view === null) {
      strip.replaceChildren(); // a place kept free must not answer to a test id
      setText(refused, "");
      return;
    }
    setText(sum, ` · ${view.sum}`);
    strip.replaceChildren(...view.pieces.map((piece) => stripPiece(stage, piece, view.capacity)));
    setText(refused, view.refused.map((text) => `✗ ${text}`).join(" "));
  };
  return { node, draw };
}

function stripPiece(stage, piece, capacity) {
  const reserved = piece.r !== undefined;
  const kinds = reserved
    ? [
        ["stored", piece.stored, piece.storedText],
        ["reserved", piece.length - piece.stored, piece.emptyText],
      ]
    : [["free", piece.length, piece.text]];
  const parts = kinds
    .filter(([, length]) => length > 0)
    .map(([kind, length, text]) => stripPart(piece, kind, length, text, capacity));
  return el(
    "div",
    {
      class: `piece${reserved ? ` ${stage.own(piece.r)}` : ""}`,
      style: `flex-grow:${piece.length}`,
      "data-testid": reserved ? `reservation-${stage.name(piece.r)}` : null,
      "data-start": piece.start,
      "data-reserved": reserved ? piece.length : null,
      "data-stored": reserved ? piece.stored : null,
    },
    ...parts,
  );
}

function stripPart(piece, kind, length, text, capacity) {
  const inCells = capacity <= MOST_CELLS;
  const cells = Array.from({ length: inCells ? length : 1 }, (_, i) => {
    const char = inCells && kind === "stored" ? (piece.chars[i] ?? "") : "";
    return el("span", { class: `slot ${kind}`, text: char });
  });
  return el(
    "div",
    { class: "part", style: `flex-grow:${length}` },
    el("div", { class: "part-cells" }, ...cells),
    el("div", { class: "part-text", text }),
  );
}

// --- the board: contiguous strip, logical left, curves, pool right, legend ---------------------

function makeBoard(stage) {
  const logical = makeLogical(stage);
  const pool = makePool(stage);
  const curves = makeCurves(stage, logical, pool);
  const contiguous = makeContiguous(stage);
  const legend = el("ul", { class: "legend", "aria-label": stage.words.legend });
  const views = el("div", { class: "views" }, logical.node, pool.node, curves.node);
  const node = el("section", {
    class: "board",
    "data-testid": "board",
    "aria-label": stage.words.board,
  });
  if (stage.data.stage.contiguous) node.append(contiguous.node);
  node.append(views, legend);
  const scrolled = () => {
    curves.forget();
    curves.draw(stage.frame);
  };
  for (const list of [logical.list, pool.list])
    list.addEventListener("scroll", scrolled, { passive: true });
  return {
    node,
    logical,
    pool,
    curves,
    draw(frame) {
      if (stage.data.stage.contiguous) contiguous.draw(frame);
      logical.draw(frame);
      pool.draw(frame);
      drawLegend(stage, legend, frame.legend);
    },
  };
}

const LEGEND_TERMS = {
  stored: "stored",
  empty: "empty",
  free: "free",
  stale: "stale",
  shared: "ref count",
  reserved: "reservation",
};

function drawLegend(stage, legend, entries) {
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

// --- ledger and runtime ------------------------------------------------------------------------

function makeLedger(stage) {
  const node = el("div", {
    class: "ledger",
    "data-testid": "ledger",
    role: "group",
    "aria-label": stage.words.ledger,
  });
  const draw = (frame) => node.replaceChildren(...frame.ledger.map(ledgerSum));
  return { node, draw };
}

function makeRuntime({ runtime }) {
  return el(
    "div",
    { class: `runtime${runtime.ok ? "" : " off"}`, "data-testid": "runtime", title: runtime.note },
    el("span", { text: runtime.text }),
    el("span", { class: "divider", text: " | " }),
    el("span", { text: runtime.check }),
  );
}

function ledgerSum(entry) {
  if (entry.text) return el("span", { class: "sum", text: entry.text });
  const numbers = [...entry.parts, entry.total];
  const node = el("span", { class: "sum", "data-sum": entry.id });
  numbers.forEach(([value, word], i) => {
    const sign = i === 0 ? "" : i === numbers.length - 1 ? ` ${entry.sign} ` : " + ";
    const changed = entry.changed.includes(i) ? "changed" : null;
    node.append(sign, el("b", { class: changed, text: String(value) }), ` ${word}`);
  });
  return node;
}

// --- the story: title, caption, waiting requests, check, execution -----------------------------

function makeStory(stage) {
  const title = el("h2", { class: "title" });
  const caption = el("p", { class: "caption", "data-testid": "caption" });
  const live = el(
    "div",
    { class: "live", "aria-live": "polite", "aria-label": stage.words.caption, role: "region" },
    title,
    caption,
  );
  const waiting = el("div", { class: "waiting" });
  const check = el("div", { class: "panel check" });
  const execution = el("div", { class: "panel execution" });
  const draw = (frame) => {
    setText(title, frame.title);
    caption.replaceChildren(...stage.runs(frame.caption));
    drawWaiting(stage, waiting, frame.waiting);
    drawCheck(stage, check, frame.check);
    drawExecution(stage, execution, frame.execution);
  };
  return { live, panels: [waiting, check, execution], draw };
}

function drawWaiting(stage, node, waiting) {
  show(node, waiting.length > 0);
  if (waiting.length === 0) return node.replaceChildren();
  const chips = waiting.map((request) =>
    el(
      "span",
      {
        class: `waiting-request ${stage.own(request)}`,
        "data-testid": `waiting-${stage.name(request)}`,
      },
      stage.tag(request, stage.name(request)),
    ),
  );
  return node.replaceChildren(
    stage.term(stage.words.waiting, "waiting"),
    ": ",
    ...chips,
    ` ${stage.words.waiting_note}`,
  );
}

function drawCheck(stage, node, check) {
  show(node, check !== null);
  if (check === null) return;
  const verdict = el("b", {
    class: check.fits ? "yes" : "no",
    text: `${check.fits ? "✓" : "✗"} ${check.verdict}`,
  });
  node.replaceChildren(
    el("h3", {}, stage.tag(check.r, check.title)),
    el("p", {}, `${check.steps.join(" · ")} · `, verdict),
  );
}

function drawExecution(stage, node, execution) {
  show(node, execution !== null);
  if (execution === null) return;
  const sum = execution.parts.flatMap(([request, count], i) => [
    i ? " + " : "",
    stage.tag(request, `${stage.name(request)} `),
    el("b", { text: String(count) }),
  ]);
  if (execution.parts.length > 1) sum.push(" = ", el("b", { text: String(execution.total[0]) }));
  node.replaceChildren(
    el("h3", {}, stage.term(execution.title, "execution")),
    el(
      "p",
      {},
      ...sum,
      ` ${execution.total[1]} · `,
      stage.term(execution.budget, "token budget"),
      execution.within ? " ✓" : " ✗",
    ),
  );
}

// --- evidence: what-if, look-up, worked score, comparison --------------------------------------

function makeEvidence(stage) {
  const whatIf = el("section", { class: "panel what-if", "data-testid": "what-if" });
  const lookup = el("section", { class: "panel lookup", "data-testid": "lookup" });
  const worked = el("section", { class: "panel worked", "data-testid": "worked-score" });
  const comparison = el("section", { class: "panel comparison", "data-testid": "comparison" });
  const draw = (frame) => {
    drawPanel(whatIf, frame.whatIf, whatIfParts.bind(null, stage));
    drawPanel(lookup, frame.lookup, lookupParts.bind(null, stage));
    drawPanel(worked, frame.worked, workedParts.bind(null, stage));
    drawPanel(comparison, frame.comparison, comparisonParts.bind(null, stage));
  };
  return { panels: [whatIf, lookup, worked, comparison], draw };
}

function drawPanel(node, view, parts) {
  show(node, view !== null);
  node.replaceChildren(...(view === null ? [] : parts(view)));
}

function whatIfParts(stage, view) {
  const blocks = view.blocks.map((block) =>
    el(
      "div",
      { class: "what-if-block" },
      el("div", { class: "part-cells" }, ...block.cells.map((cell) => whatIfCell(stage, cell))),
      el("div", { class: "part-text", text: `P${block.id}` }),
    ),
  );
  return [
    el("h3", {}, el("span", { class: "if-mark", text: stage.words.if }), view.title),
    el("div", { class: "what-if-blocks" }, ...blocks),
    el("p", {}, ...stage.runs(view.text)),
  ];
}

function whatIfCell(stage, cell) {
  const own = cell.o.length === 1 ? stage.own(cell.o[0]) : "";
  const look = cell.s === "stored" && cell.o.length > 1 ? "shared" : cell.s;
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
      { class: `slot ${look} ${own}` },
      el("span", { class: "char", text: cell.c ?? "" }),
      el("span", { class: "position", text: cell.p === null ? "" : String(cell.p) }),
    ),
    cell.wrong ? el("b", { class: "cross", text: "✗" }) : null,
    el("div", { class: "wants" }, ...wanted),
  );
}

/** The entry that the learner chose, or the last stored position of the first request. */
function chosenLookup(stage, lookup) {
  const chosen = stage.choice.lookup;
  const match =
    chosen &&
    lookup.findIndex((entry) => entry.r === chosen.r && entry.position === chosen.position);
  if (chosen && match >= 0) return match;
  return lookup.filter((entry) => entry.r === lookup[0].r).length - 1;
}

function lookupParts(stage, lookup) {
  const { words, data } = stage;
  if (lookup.length === 0) return [el("h3", { text: words.lookup })];
  const at = chosenLookup(stage, lookup);
  const entry = lookup[at];
  const values = { ...entry, block_size: data.config.block_size, request: stage.name(entry.r) };
  const turn = (by) => () => stage.choose(lookup[(at + by + lookup.length) % lookup.length]);
  const title = stage.tag(entry.r, fill(words.lookup_title, values));
  return [
    el("h3", {}, stepper(words.earlier, "‹", turn(-1)), stepper(words.later, "›", turn(1)), title),
    el("ol", { class: "arithmetic" }, ...lookupLines(words, entry, values)),
    el("p", { class: "quiet", text: words.lookup_hint }),
  ];
}

function lookupLines(words, entry, values) {
  const strong = (key) => el("b", { text: fill(words[key], values) });
  const proof = fill(entry.same ? words.lookup_same : words.lookup_error, values);
  const flat = ` (${fill(words.lookup_flat, values)})`;
  return [
    el("li", {}, strong("lookup_divide"), " → ", fill(words.lookup_logical, values)),
    el("li", {}, fill(words.lookup_table, values), " → ", el("b", { text: `P${entry.block}` })),
    el("li", {}, strong("lookup_place"), el("span", { class: "quiet", text: flat })),
    el("li", { class: entry.same ? "yes" : null, text: proof }),
  ];
}

function stepper(label, sign, action) {
  const button = el("button", {
    type: "button",
    class: "stepper",
    "aria-label": label,
    "data-focus": label,
    text: sign,
  });
  button.addEventListener("click", action);
  return button;
}

function workedParts(stage, view) {
  const lines = view.lines.map((text) => el("li", { text }));
  return [
    stage.canPoint(el("h3", {}, stage.tag(view.r, view.title)), { slot: view.slot }),
    el("p", { class: "quiet", text: view.where }),
    el("ol", { class: "arithmetic" }, ...lines),
    el("p", { class: "quiet", text: view.note }),
  ];
}

function comparisonParts(stage, view) {
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

// --- K and V of a slot -------------------------------------------------------------------------

/** K and V vectors, packed as float16; unpacked one by one, when someone looks. */
class Vectors {
  constructor({ shape, f16 }) {
    [this.count, , this.layers, this.kvHeads, this.dim] = shape;
    const bytes = Uint8Array.from(atob(f16), (char) => char.charCodeAt(0));
    this.view = new DataView(bytes.buffer);
  }

  /** `kind` 0 is K, 1 is V; returns `dim` numbers. */
  get(vector, kind, layer, kvHead) {
    const start = (((vector * 2 + kind) * this.layers + layer) * this.kvHeads + kvHead) * this.dim;
    return Array.from({ length: this.dim }, (_, i) =>
      halfToNumber(this.view.getUint16((start + i) * 2, true)),
    );
  }
}

function halfToNumber(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// Cividis, sampled; between samples the colour is mixed.
const CIVIDIS = [
  [0, 34, 78],
  [18, 53, 112],
  [59, 73, 108],
  [87, 93, 109],
  [112, 113, 115],
  [138, 134, 120],
  [165, 156, 116],
  [195, 179, 105],
  [225, 204, 85],
  [254, 232, 56],
];

function cividis(share) {
  const place = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const mixed = CIVIDIS[low].map((part, i) =>
    Math.round(part + (CIVIDIS[low + 1][i] - part) * (place - low)),
  );
  return `rgb(${mixed.join(",")})`;
}

function heatStrip(values) {
  const most = Math.max(...values.map(Math.abs), 1e-9);
  const step = 100 / values.length;
  const stops = values.map((value, i) => {
    const colour = cividis((value / most + 1) / 2);
    return `${colour} ${i * step}% ${(i + 1) * step}%`;
  });
  return el("span", {
    class: "heat",
    "aria-hidden": "true",
    style: `background:linear-gradient(to right,${stops.join(",")})`,
  });
}

function makeDock(stage) {
  const { words, data } = stage;
  const vectors = new Vectors(data.vectors);
  const title = el("h3");
  const body = el("div", { class: "dock-body" });
  const node = el(
    "section",
    { class: "panel dock", "data-testid": "slot-values", "aria-label": words.slot_values },
    el(
      "div",
      { class: "dock-head" },
      title,
      stepper(words.earlier_slot, "‹", () => stage.turnSlot(-1)),
      stepper(words.later_slot, "›", () => stage.turnSlot(1)),
    ),
    body,
  );
  let shown = null;
  const draw = () => {
    const [block, offset] = stage.choice.slot ?? firstStored(stage) ?? [null, null];
    const slot = block === null ? null : stage.block(block)?.slots[offset];
    const { layer, head } = stage.choice;
    const key = JSON.stringify([block, offset, slot, layer, head]);
    if (key === shown) return;
    shown = key;
    setText(title, slot ? slotTitle(stage, block, offset, slot) : words.slot_values);
    body.replaceChildren(
      ...(slot ? slotParts(stage, vectors, slot) : [el("p", { text: words.slot_hint })]),
    );
  };
  return { node, draw };
}

function storedSlots(stage) {
  return stage.frame.blocks.flatMap((_, block) =>
    stage
      .block(block)
      .slots.flatMap((slot, offset) => (slot.s === "stored" ? [[block, offset]] : [])),
  );
}

function firstStored(stage) {
  const stored = storedSlots(stage);
  const written = stored.find(([block, offset]) => stage.block(block).slots[offset].n);
  return written ?? stored[0];
}

function slotTitle(stage, block, offset, slot) {
  const { words } = stage;
  const owners = stage.names(slot.o || []).join(" + ");
  const place = fill(words.slot_title, { block, offset });
  return `${place}: ${fill(words[`slot_${slot.s}`], { owners, position: slot.p, token: slot.c })}`;
}

function slotParts(stage, vectors, slot) {
  const { words, choice } = stage;
  if (slot.v === undefined) return [el("p", { class: "quiet", text: words.slot_never })];
  const kvHead = kvHeadOf(stage, choice.head);
  const warning = slot.s === "stored" ? null : el("p", { class: "no", text: words.slot_old_bytes });
  return [
    warning,
    vectorSelectors(stage, kvHead),
    vectorLine(words, "K", vectors.get(slot.v, 0, choice.layer, kvHead)),
    vectorLine(words, "V", vectors.get(slot.v, 1, choice.layer, kvHead)),
  ].filter(Boolean);
}

/** The KV head that a query head reads. */
function kvHeadOf(stage, head) {
  const { heads, kv_heads: kvHeads } = stage.data.heads;
  return Math.floor(head / (heads / kvHeads));
}

function vectorSelectors(stage, kvHead) {
  const { words, data, choice } = stage;
  const upTo = (count) => Array.from({ length: count }, (_, i) => i);
  const perKvHead = data.heads.heads / data.heads.kv_heads;
  return el(
    "div",
    { class: "selectors" },
    selector(words.layer, upTo(data.heads.layers), choice.layer, String, (layer) =>
      stage.select({ layer }),
    ),
    selector(words.kv_head, upTo(data.heads.kv_heads), kvHead, String, (value) =>
      stage.select({ head: value * perKvHead }),
    ),
  );
}

function vectorLine(words, name, values) {
  const few = values.slice(0, 4).map(signed).join("  ");
  const range = fill(words.slot_range, {
    low: signed(Math.min(...values)),
    high: signed(Math.max(...values)),
  });
  return el(
    "div",
    { class: "vector" },
    el("b", { text: name }),
    heatStrip(values),
    el("span", { class: "figures", text: `${few} …  (${range})` }),
  );
}

// --- attention ---------------------------------------------------------------------------------

function makeAttention(stage) {
  const { words } = stage;
  const head = el("div", { class: "attention-head" });
  const chart = el("div", {
    class: "chart",
    role: "group",
    tabindex: "0",
    "aria-label": words.attention,
  });
  const none = el("p", { class: "quiet", text: words.attention_none });
  const node = el(
    "section",
    { class: "attention", "data-testid": "attention", "aria-label": words.attention },
    head,
    chart,
    none,
  );
  const part = { node, bars: [], request: null };
  part.draw = (frame) => {
    const view = attentionOf(stage, frame);
    show(head, view !== null);
    show(chart, view !== null);
    show(none, view === null);
    part.request = view?.r ?? null;
    part.bars = [];
    if (view === null) {
      chart.replaceChildren();
      head.replaceChildren();
      return;
    }
    const layer = view.layers[Math.min(stage.choice.layer, view.layers.length - 1)];
    head.replaceChildren(...attentionHead(stage, frame, view, layer));
    part.bars = drawBars(stage, chart, view, layer);
  };
  return part;
}

function attentionOf(stage, frame) {
  if (frame.attention === null) return null;
  return frame.attention.find((view) => view.r === stage.choice.request) ?? frame.attention[0];
}

function attentionHead(stage, frame, view, layer) {
  const parts = [
    attentionTitle(stage, frame, view),
    el("p", {}, stage.term(view.reads, "context length"), `, ${layer.sums[headOf(stage, layer)]}`),
  ];
  if (view.skipped) parts.push(el("p", { text: view.skipped }));
  return [
    ...parts,
    attentionSelectors(stage, view, layer),
    attentionKey(stage, view),
    el("p", { class: "max-error", "data-testid": "max-error", text: layer.error }),
  ];
}

function headOf(stage, layer) {
  return Math.min(stage.choice.head, layer.paged.length - 1);
}

/** Whose query; a choice where several requests attended. */
function attentionTitle(stage, frame, view) {
  const { words } = stage;
  const requests = frame.attention.map((entry) => entry.r);
  const who =
    requests.length === 1
      ? stage.tag(view.r, stage.name(view.r))
      : selector(
          "",
          requests,
          view.r,
          (request) => stage.name(request),
          (request) => stage.select({ request }),
          words.request,
        );
  return el(
    "h3",
    {},
    stage.term(words.attention, "attention"),
    who,
    fill(words.attention_of, { position: view.q }),
  );
}

function attentionSelectors(stage, view, layer) {
  const { words } = stage;
  const layers = view.layers.map((_, i) => i);
  return el(
    "div",
    { class: "selectors" },
    selector(words.layer, layers, layers[view.layers.indexOf(layer)], String, (value) =>
      stage.select({ layer: value }),
    ),
    selector(
      words.head,
      layer.paged.map((_, i) => i),
      headOf(stage, layer),
      String,
      (value) => stage.select({ head: value }),
    ),
  );
}

function attentionKey(stage, view) {
  const { words } = stage;
  return el(
    "p",
    { class: "key" },
    el("i", { class: `key-bar ${stage.own(view.r)}`, "aria-hidden": "true" }),
    `${words.kernel} `,
    el("i", { class: "key-line", "aria-hidden": "true" }),
    stage.term(words.dense, "dense reference"),
  );
}

/** A row of buttons of which one is pressed. `name` names the group where no label is shown. */
function selector(label, values, chosen, text, action, name = label) {
  const buttons = values.map((value) => {
    const button = el("button", {
      type: "button",
      class: "option",
      "aria-pressed": String(value === chosen),
      "aria-label": `${name} ${text(value)}`,
      "data-focus": `${name}-${value}`,
      text: text(value),
    });
    button.addEventListener("click", () => action(value));
    return button;
  });
  return el(
    "div",
    { class: "selector", role: "group", "aria-label": name },
    label ? el("span", { text: label }) : null,
    ...buttons,
  );
}

function drawBars(stage, chart, view, layer) {
  const head = headOf(stage, layer);
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

// --- pointing: what belongs together lights up together ----------------------------------------

function targetAt(stage, node, end) {
  for (let at = node; at && at !== end; at = at.parentElement) {
    if (stage.targets.has(at)) return stage.targets.get(at);
  }
  return null;
}

/** Everything that belongs to what is pointed at. */
function elementsFor(stage, target) {
  if (target.slot) return slotElements(stage, ...target.slot);
  if (target.cell) return cellElements(stage, ...target.cell);
  if (target.entries)
    return target.entries.flatMap(([request, logical]) => entryElements(stage, request, logical));
  if (target.block !== undefined) return blockElements(stage, target.block);
  if (target.request !== undefined) return requestElements(stage, target.request);
  return [];
}

function slotElements(stage, id, offset) {
  const owners = stage.block(id)?.owners ?? [];
  return [
    stage.parts.board.pool.cards[id]?.slots[offset].node,
    ...owners.flatMap(([request, logical]) => ownPlace(stage, request, logical, offset)),
  ];
}

function cellElements(stage, request, logical, offset) {
  const row = stage.group(request)?.rows[logical];
  if (!row) return [];
  return [
    stage.parts.board.pool.cards[row.b].slots[offset].node,
    ...ownPlace(stage, request, logical, offset),
  ];
}

function ownPlace(stage, request, logical, offset) {
  const { board, attention } = stage.parts;
  const row = board.logical.groups[request].rows[logical];
  const position = logical * stage.data.config.block_size + offset;
  const bar = attention.request === request ? attention.bars[position] : null;
  return [row.cells[offset].node, row.entry, board.curves.paths[request][logical], bar];
}

function entryElements(stage, request, logical) {
  const row = stage.group(request)?.rows[logical];
  if (!row) return [];
  const { board } = stage.parts;
  return [
    board.logical.groups[request].rows[logical].entry,
    board.curves.paths[request][logical],
    board.pool.cards[row.b].node,
  ];
}

function blockElements(stage, id) {
  const card = stage.parts.board.pool.cards[id];
  const owners = stage.block(id)?.owners ?? [];
  return [
    card?.node,
    ...owners.flatMap(([request, logical]) => entryElements(stage, request, logical)),
  ];
}

function requestElements(stage, request) {
  const rows = stage.group(request)?.rows ?? [];
  return [
    stage.parts.board.logical.groups[request].name,
    ...rows.flatMap((_, logical) => entryElements(stage, request, logical)),
  ];
}

function light(stage, target) {
  for (const node of stage.lit) node.classList.remove("lit");
  stage.lit = target ? elementsFor(stage, target).filter(Boolean) : [];
  for (const node of stage.lit) node.classList.add("lit");
}

// --- player bar --------------------------------------------------------------------------------

function makeControls(player, words, frames) {
  const button = (name, action, text = null) => {
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
  };
  const bar = {
    first: button("first", () => player.move(0)),
    back: button("back", () => player.move(player.index - 1), words.back),
    next: button("next", () => player.move(player.index + 1), words.next),
    last: button("last", () => player.move(frames.length - 1)),
    play: button("play", () => player.togglePlay(), words.play),
    speed: el("button", { type: "button", class: "control speed" }),
    step: el("span", { class: "step-label", "data-testid": "step-label" }),
    present: button("present", () => player.setPresent(!player.present, true)),
    scrubber: makeScrubber(player, words, frames),
    runtime: makeRuntime(player.stage.data),
  };
  bar.next.append(bar.next.firstChild); // its arrow stands behind the word
  bar.speed.addEventListener("click", () => player.nextSpeed());
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

function drawControls(bar, player) {
  const { words, frames } = player.stage.data;
  const last = frames.length - 1;
  setText(bar.step, fill(words.step, { number: player.index + 1, count: frames.length }));
  setAttr(bar.first, "aria-disabled", player.index === 0 ? "true" : null);
  setAttr(bar.back, "aria-disabled", player.index === 0 ? "true" : null);
  setAttr(bar.next, "aria-disabled", player.index === last ? "true" : null);
  setAttr(bar.last, "aria-disabled", player.index === last ? "true" : null);
  bar.scrubber.draw(player.index);
}

function drawPlayState(bar, player) {
  const { words } = player.stage.data;
  const name = player.playing ? "pause" : "play";
  bar.play.replaceChildren(icon(name), el("span", { text: words[name] }));
  setAttr(bar.play, "title", words[name]);
  setText(bar.speed, `${player.speed}×`);
  setAttr(bar.speed, "aria-label", fill(words.speed, { speed: `${player.speed}×` }));
  setAttr(bar.speed, "title", fill(words.speed, { speed: `${player.speed}×` }));
}

function makeScrubber(player, words, frames) {
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
  followPointer(node, track, (share) => player.move(Math.round(share * (frames.length - 1))));
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

// --- explanations of terms ---------------------------------------------------------------------

/** One tooltip for all terms of the screen; it shows on hover and focus and goes with Escape. */
function makeTip(shell, terms) {
  const tip = el("div", { class: "tip", role: "tooltip", id: "pagedkv-tip", hidden: "" });
  const hide = () => {
    tip.hidden = true;
    shell.querySelector('[aria-describedby="pagedkv-tip"]')?.removeAttribute("aria-describedby");
  };
  const showFor = (node) => {
    hide();
    const term = node.dataset.term;
    tip.replaceChildren(el("b", { text: term }), ` ${terms[term]}`);
    tip.hidden = false;
    node.setAttribute("aria-describedby", tip.id);
    placeTip(shell, tip, node);
  };
  return { node: tip, hide, showFor };
}

function placeTip(shell, tip, node) {
  const frame = shell.getBoundingClientRect();
  const box = node.getBoundingClientRect();
  const left = Math.min(
    Math.max(box.left - frame.left, 4),
    Math.max(frame.width - tip.offsetWidth - 4, 4),
  );
  const above = box.top - tip.offsetHeight - 8;
  const top = above > 0 ? above : box.bottom + 8;
  tip.style.left = `${left + shell.scrollLeft}px`;
  tip.style.top = `${top - frame.top + shell.scrollTop}px`;
}

// --- layout and theme --------------------------------------------------------------------------

const SIDE_WIDTH = 1060; // from here on the story may stand beside the board
const STACK_WIDTH = 640; // from here on logical and physical stand side by side
const CELL_LEAST = 46; // px for a character, its position and the gap
const CELL_LEAST_PRESENT = 66;
const WHAT_IF_HEIGHT = 112; // px of a what-if in the presentation
const LEGEND_HEIGHT = 52;
const BESIDE_CELLS = 112; // px of a logical row that its label and its table entry take

/** Decide by the room at hand and return the layout; everything else about it is CSS. */
function layOut(shell, data, present) {
  const width = shell.clientWidth;
  const { block_size: size } = data.config;
  const least = present ? CELL_LEAST_PRESENT : CELL_LEAST;
  const cellsIn = (column) => Math.max(1, Math.min(8, Math.floor((column - BESIDE_CELLS) / least)));
  const dense = isDense(data);
  const isSide = width >= SIDE_WIDTH && !dense && !present && size <= cellsIn(width * 0.258);
  const layout = isSide ? "side" : width >= STACK_WIDTH ? "stack" : "narrow";
  const column = isSide
    ? width * 0.258
    : layout === "narrow"
      ? width
      : width * (dense ? 0.35 : 0.43);
  const lines = Math.ceil(size / cellsIn(column));
  setAttr(shell, "data-layout", layout);
  setAttr(shell, "data-dense", dense ? "true" : null);
  setAttr(shell, "data-shared", data.stage.shared ? "true" : null);
  setAttr(shell, "data-long-blocks", size > 5 ? "true" : null);
  shell.style.setProperty("--per-line", Math.ceil(size / lines));
  shell.querySelector(".live").style.minHeight = "";
  if (layout === "stack") reserveCaption(shell, data.frames);
  fitBoard(shell, data, layout, dense);
  return layout;
}

function fitBoard(shell, data, layout, dense) {
  shell.style.removeProperty("--row");
  const board = shell.querySelector(".board");
  if (shell.dataset.present)
    fitRows(shell, [34, 84], () => presentedHeight(shell, data) <= roomToPresent(shell));
  else if (!dense && layout !== "narrow")
    fitRows(shell, [32, 56], () => board.offsetHeight <= roomForBoard(layout));
}

/** What the board needs in the presentation; a what-if takes the legend's place below it. */
function presentedHeight(shell, data) {
  const board = shell.querySelector(".board");
  const content =
    shell.querySelector(".views").getBoundingClientRect().bottom -
    board.getBoundingClientRect().top;
  return content + (data.stage.whatIf ? WHAT_IF_HEIGHT : LEGEND_HEIGHT);
}

function roomToPresent(shell) {
  return shell.querySelector(".live").offsetTop - shell.querySelector(".board").offsetTop;
}

/** Keep as much room for captions as the longest one takes, so that nothing moves between frames. */
function reserveCaption(shell, frames) {
  const live = shell.querySelector(".live");
  const ghost = live.cloneNode(true);
  const [title, caption] = ghost.children;
  ghost.removeAttribute("aria-live");
  ghost.style.cssText = `position:absolute;visibility:hidden;min-height:0;width:${live.offsetWidth}px`;
  shell.append(ghost);
  const heights = frames.map((frame) => {
    title.textContent = frame.title;
    caption.textContent = frame.caption.map((run) => run.t ?? run).join("");
    return ghost.offsetHeight;
  });
  ghost.remove();
  live.style.minHeight = `${Math.max(...heights)}px`;
}

/** What a window of 640 px leaves under a page's title and settings; more where there is more. */
function roomForBoard(layout) {
  const besides = layout === "side" ? 420 : 375; // page top, player bar; ledger; attention or caption
  return Math.min(Math.max(390, window.innerHeight - besides), 600);
}

/** Make rows as high as the room allows, within limits; below the least the board scrolls. */
function fitRows(shell, [least, most], fits) {
  let [low, high] = [least, most];
  while (high - low > 1) {
    const row = Math.round((low + high) / 2);
    shell.style.setProperty("--row", `${row}px`);
    if (fits()) low = row;
    else high = row;
  }
  shell.style.setProperty("--row", `${low}px`);
}

function isDense(data) {
  const rows = data.stage.rows.reduce((sum, count) => sum + count, 0);
  return data.config.num_blocks > 8 || rows > 10 || data.config.block_size > 8;
}

function themeOf(shell, asked) {
  if (asked === "light" || asked === "dark") return asked;
  const background = getComputedStyle(shell).getPropertyValue("--st-background-color").trim();
  const rgb = parseColour(background);
  if (rgb)
    return (0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]) / 255 < 0.4 ? "dark" : "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function parseColour(text) {
  const hex = /^#([0-9a-f]{6}|[0-9a-f]{3})/i.exec(text);
  if (hex) {
    const digits =
      hex[1].length === 3 ? [...hex[1]].map((digit) => digit + digit) : hex[1].match(/../g);
    return digits.map((pair) => parseInt(pair, 16));
  }
  const numbers = /^rgba?\(([^)]+)\)/i.exec(text);
  return numbers
    ? numbers[1]
        .split(/[\s,/]+/)
        .slice(0, 3)
        .map(Number)
    : null;
}

// --- keys --------------------------------------------------------------------------------------

const TYPED = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])';
const WITH_OWN_KEYS =
  "[role=slider], [role=spinbutton], [role=listbox], [role=option], [role=combobox], [role=textbox], " +
  "[role=menu], [role=menuitem], [role=tab], [role=radio], [role=radiogroup], [role=grid], [role=tree], [role=dialog], video, audio";
const PRESSED_BY_SPACE = "button, summary, a[href], [role=button], [role=checkbox], [role=switch]";

/** Does the focused element need this key for itself? `path` is where the event came from. */
function keyIsTaken(key, path, scrubber) {
  const target = path.find((node) => node instanceof Element);
  if (!target) return false;
  if (target.closest(TYPED)) return true;
  if (target !== scrubber && target.closest(WITH_OWN_KEYS)) return true;
  return key === " " && Boolean(target.closest(PRESSED_BY_SPACE));
}

// --- the player --------------------------------------------------------------------------------

class Player {
  constructor(root, options) {
    this.root = root;
    this.options = {};
    this.index = 0;
    this.present = false;
    this.playing = false;
    this.speed = 1;
    this.choice = { request: null, layer: 0, head: 0, slot: null, lookup: null };
    this.shell = el("div", { class: "pagedkv-player", "data-testid": "player", tabindex: "-1" });
    this.listen();
    root.append(this.shell);
    this.resizer = new ResizeObserver(() => this.measured());
    this.resizer.observe(this.shell);
  }

  // --- lesson and options ---

  update(data, options = {}) {
    this.options = { ...this.options, ...options };
    const isNew = data.key !== this.stage?.data.key;
    const asked = options.index !== undefined && options.index !== this.hostIndex;
    if (asked) this.index = this.hostIndex = options.index;
    this.index = Math.min(Math.max(this.index, 0), data.frames.length - 1);
    if (isNew) this.build(data);
    this.setTheme();
    if (options.present !== undefined && options.present !== this.hostPresent)
      this.setPresent(options.present, false);
    if (isNew) this.resized(true);
    if (isNew || asked) this.draw();
  }

  build(data) {
    this.pause();
    this.choice.lookup = null;
    this.choice.slot = null;
    const stage = new Stage(data, this.choice);
    this.limitChoice(data);
    stage.select = (change) => this.select(change);
    stage.choose = (entry) =>
      this.select({
        lookup: { r: entry.r, position: entry.position },
        slot: [entry.block, entry.offset],
      });
    stage.turnSlot = (by) => this.turnSlot(by);
    stage.parts = {
      board: makeBoard(stage),
      story: makeStory(stage),
      evidence: makeEvidence(stage),
      ledger: makeLedger(stage),
      dock: makeDock(stage),
      attention: makeAttention(stage),
    };
    this.stage = stage;
    this.bar = makeControls(this, data.words, data.frames);
    this.tip = makeTip(this.shell, data.terms);
    this.shell.replaceChildren(...this.arrange(data, stage.parts));
    drawPlayState(this.bar, this);
  }

  arrange(data, { board, story, evidence, ledger, dock, attention }) {
    const heading = el(
      "header",
      { class: "heading" },
      el("h1", { text: data.lesson.title }),
      el("p", { text: data.lesson.question }),
    );
    const infeasible = el("p", { class: "infeasible", role: "note", text: data.infeasible ?? "" });
    show(heading, Boolean(this.options.heading));
    show(infeasible, data.infeasible !== null);
    this.foot = el("div", { class: "foot" }, ledger.node);
    const left = el("div", { class: "left" }, board.node, this.foot);
    if (data.stage.attention) left.append(attention.node);
    const side = el(
      "div",
      { class: "side" },
      story.live,
      ...story.panels,
      ...evidence.panels,
      dock.node,
    );
    return [
      heading,
      this.bar.node,
      infeasible,
      el("div", { class: "main" }, left, side),
      this.tip.node,
    ];
  }

  limitChoice({ heads }) {
    this.choice.layer = Math.min(this.choice.layer, Math.max(heads.layers - 1, 0));
    this.choice.head = Math.min(this.choice.head, Math.max(heads.heads - 1, 0));
  }

  // --- drawing ---

  draw() {
    const { stage } = this;
    const { board, story, evidence, ledger, dock, attention } = stage.parts;
    const frame = (stage.frame = stage.data.frames[this.index]);
    this.tip.hide();
    light(stage, null);
    this.followFrame(frame);
    drawControls(this.bar, this);
    board.draw(frame);
    board.curves.draw(frame);
    story.draw(frame);
    evidence.draw(frame);
    ledger.draw(frame);
    attention.draw(frame);
    dock.draw();
    this.markChosen();
    setAttr(this.shell, "data-index", this.index);
    setAttr(this.shell, "data-what-if", frame.whatIf ? "true" : null);
    if (this.shell.dataset.dense) this.reveal(frame.focus);
  }

  /** Where a frame is about one slot or one weight, the learner's choice starts there. */
  followFrame({ lookup, worked }) {
    if (lookup?.length) {
      const { block, offset } = lookup[chosenLookup(this.stage, lookup)];
      this.choice.slot = [block, offset];
    }
    if (worked)
      Object.assign(this.choice, {
        slot: worked.slot,
        request: worked.r,
        layer: worked.layer,
        head: worked.head,
      });
  }

  /** Mark the slot that a look-up or a worked score is about. */
  markChosen() {
    const { stage } = this;
    for (const node of stage.chosen) node.classList.remove("chosen");
    const about = stage.frame.lookup?.length || stage.frame.worked;
    stage.chosen = about ? elementsFor(stage, { slot: this.choice.slot }).filter(Boolean) : [];
    for (const node of stage.chosen) node.classList.add("chosen");
  }

  /** On a board too long to see at once, bring the block that was written into view. */
  reveal(id) {
    const { pool } = this.stage.parts.board;
    if (id === null || pool.list.scrollHeight <= pool.list.clientHeight) return;
    const card = pool.cards[id].node;
    const top = card.offsetTop - pool.list.offsetTop;
    const isInView =
      top >= pool.list.scrollTop &&
      top + card.offsetHeight <= pool.list.scrollTop + pool.list.clientHeight;
    if (!isInView) pool.list.scrollTop = top - pool.list.clientHeight / 2;
  }

  /** Frames differ in height; only another width or window asks for another layout. */
  measured() {
    const room = `${this.shell.clientWidth} ${window.innerHeight}`;
    if (room === this.room) return;
    this.room = room;
    this.resized();
  }

  resized(silently = false) {
    if (!this.stage) return;
    const layout = layOut(this.shell, this.stage.data, this.present);
    if (layout === "side") this.bar.present.before(this.bar.runtime);
    else this.foot.append(this.bar.runtime);
    this.stage.parts.board.curves.forget();
    if (!silently && this.stage.frame) this.stage.parts.board.curves.draw(this.stage.frame);
  }

  setTheme() {
    setAttr(this.shell, "data-theme", themeOf(this.shell, this.options.theme));
  }

  // --- moving ---

  move(index) {
    this.pause();
    this.goTo(index);
  }

  goTo(index) {
    const wanted = Math.min(Math.max(index, 0), this.stage.data.frames.length - 1);
    if (wanted === this.index) return;
    this.index = wanted;
    this.draw();
    this.settle();
  }

  settle() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.setTheme();
      this.hostIndex = this.index;
      this.options.onSettle?.(this.index);
    }, SETTLE_MS);
  }

  togglePlay() {
    if (this.playing) return this.pause();
    this.playing = true;
    drawPlayState(this.bar, this);
    const isAtEnd = this.index === this.stage.data.frames.length - 1;
    this.goTo(isAtEnd ? 0 : this.index + 1);
    return this.tick();
  }

  tick() {
    clearTimeout(this.ticking);
    if (this.index === this.stage.data.frames.length - 1) return this.pause();
    this.ticking = setTimeout(() => {
      this.goTo(this.index + 1);
      this.tick();
    }, FRAME_MS / this.speed);
    return undefined;
  }

  pause() {
    clearTimeout(this.ticking);
    if (!this.playing) return;
    this.playing = false;
    drawPlayState(this.bar, this);
  }

  nextSpeed() {
    this.speed = SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length];
    drawPlayState(this.bar, this);
    if (this.playing) this.tick();
  }

  // --- choosing ---

  /** Take over a choice (request, layer, head, slot, look-up) and redraw what shows it. */
  select(change) {
    Object.assign(this.choice, change);
    const focused = this.shell.getRootNode().activeElement;
    const place = focused?.closest?.(".panel, .attention");
    const { attention, evidence, dock } = this.stage.parts;
    attention.draw(this.stage.frame);
    evidence.draw(this.stage.frame);
    dock.draw();
    if (change.slot) light(this.stage, { slot: change.slot });
    if (change.lookup) this.markChosen();
    if (place && focused.dataset.focus)
      place.querySelector(`[data-focus="${focused.dataset.focus}"]`)?.focus();
  }

  turnSlot(by) {
    const stored = storedSlots(this.stage);
    if (stored.length === 0) return;
    const [block, offset] = this.choice.slot ?? firstStored(this.stage);
    const at = stored.findIndex(([b, o]) => b === block && o === offset);
    this.select({ slot: stored[(at + by + stored.length) % stored.length] });
  }

  // --- presenting ---

  setPresent(present, tellHost) {
    this.hostPresent = present;
    if (present === this.present) return;
    this.present = present;
    setAttr(this.shell, "data-present", present ? "true" : null);
    this.enterTopLayer(present);
    setAttr(this.bar.present, "aria-pressed", String(present));
    setAttr(this.bar.present, "title", this.stage.words[present ? "leave_present" : "present"]);
    this.resized();
    if (tellHost) this.options.onPresent?.(present);
  }

  /** Above all of the page, whatever stacking and transforms it has; without popovers, CSS does it. */
  enterTopLayer(present) {
    if (typeof this.shell.showPopover !== "function") return;
    if (present) {
      this.shell.popover = "manual";
      this.shell.showPopover();
    } else {
      this.shell.hidePopover();
      this.shell.popover = null;
    }
  }

  // --- listening ---

  listen() {
    this.abort = new AbortController();
    const on = (target, type, handler) =>
      target.addEventListener(type, handler, { signal: this.abort.signal });
    on(window, "keydown", (event) => this.pressed(event));
    on(this.shell, "mousedown", (event) => this.keepFocus(event));
    on(this.shell, "pointerover", (event) => this.pointed(event.target, true));
    on(this.shell, "pointerleave", () => this.pointed(null, true));
    on(this.shell, "focusin", (event) => this.pointed(event.target, false));
    on(this.shell, "focusout", () => this.pointed(null, false));
    on(this.shell, "click", (event) => this.clicked(event.target));
    on(window, "resize", () => this.measured());
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.setTheme());
  }

  pressed(event) {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (this.pressedWord(event)) return;
    if (
      !this.shell.isConnected ||
      keyIsTaken(event.key, event.composedPath(), this.bar.scrubber.node)
    )
      return;
    const action = this.actionFor(event.key);
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** Enter or Space on a word of the caption does what pointing at it does. */
  pressedWord(event) {
    const word = event.composedPath()[0];
    const isPressed =
      (event.key === " " || event.key === "Enter") &&
      word instanceof Element &&
      word.matches(".term, .chip");
    if (!isPressed || !this.shell.contains(word)) return false;
    event.preventDefault();
    this.pointed(word, true);
    return true;
  }

  actionFor(key) {
    const actions = {
      ArrowRight: () => this.move(this.index + 1),
      ArrowLeft: () => this.move(this.index - 1),
      PageDown: () => this.move(this.index + 1),
      PageUp: () => this.move(this.index - 1),
      Home: () => this.move(0),
      End: () => this.move(this.stage.data.frames.length - 1),
      " ": () => this.togglePlay(),
      p: () => this.setPresent(!this.present, true),
      P: () => this.setPresent(!this.present, true),
    };
    if (key === "Escape" && !this.tip.node.hidden) return () => this.tip.hide();
    if (key === "Escape" && this.present) return () => this.setPresent(false, true);
    return Object.hasOwn(actions, key) ? actions[key] : null;
  }

  /** A mouse click presses a button without focusing it, so that keys go on moving the lesson. */
  keepFocus(event) {
    if (!event.target.closest("button, .term, .chip")) return;
    event.preventDefault();
    const { activeElement } = this.shell.getRootNode();
    if (!this.shell.contains(activeElement)) this.shell.focus({ preventScroll: true });
  }

  pointed(node, byPointer) {
    const { stage } = this;
    if (!stage?.frame) return;
    const term = node?.closest("[data-term]");
    if (term) this.tip.showFor(term);
    else this.tip.hide();
    const target = node && targetAt(stage, node, this.shell);
    if (target || byPointer) light(stage, target);
    const slot = target && this.slotOf(target);
    if (slot) {
      this.choice.slot = slot;
      stage.parts.dock.draw();
    }
  }

  /** The physical slot behind a slot, a logical cell or a bar. */
  slotOf(target) {
    if (target.slot) return target.slot;
    if (!target.cell) return null;
    const [request, logical, offset] = target.cell;
    const row = this.stage.group(request)?.rows[logical];
    return row ? [row.b, offset] : null;
  }

  clicked(node) {
    const target = targetAt(this.stage, node, this.shell);
    const { lookup } = this.stage.frame;
    const slot = target && this.slotOf(target);
    if (!slot || !lookup) return;
    const owner = target.cell?.[0];
    const entry = lookup.find(
      (e) => e.block === slot[0] && e.offset === slot[1] && (owner === undefined || e.r === owner),
    );
    if (entry) this.stage.choose(entry);
  }

  destroy() {
    this.pause();
    clearTimeout(this.settling);
    this.abort.abort();
    this.resizer.disconnect();
    this.shell.remove();
  }
}

/** Draw a lesson into `root`; see the top of this file. */
export function mountPlayer(root, data, options = {}) {
  const player = new Player(root, options);
  player.update(data, { index: 0, present: false, ...options });
  return {
    update: (newData, newOptions = {}) => player.update(newData, newOptions),
    destroy: () => player.destroy(),
  };
}
