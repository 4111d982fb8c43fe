/** Attention: whose query, which layer and head, and the weights with their dense reference. */

import { el, show } from "./dom.js";
import { selector } from "./selector.js";
import { fill } from "./text.js";
import { drawWeights } from "./weights.js";

export function makeAttention(stage) {
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
    const layer = view.layers.find((own) => own.layer === stage.choice.layer) ?? view.layers[0];
    head.replaceChildren(...attentionHead(stage, frame, view, layer));
    part.bars = drawWeights(stage, chart, view, layer, headOf(stage, layer));
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
  return el(
    "div",
    { class: "selectors" },
    selector(
      words.layer,
      view.layers.map((own) => own.layer),
      layer.layer,
      String,
      (value) => stage.select({ layer: value }),
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
    el(
      "span",
      { class: "key-part" },
      el("i", { class: `key-bar ${stage.own(view.r)}`, "aria-hidden": "true" }),
      words.kernel,
    ),
    " ",
    el(
      "span",
      { class: "key-part" },
      el("i", { class: "key-line", "aria-hidden": "true" }),
      stage.term(words.dense, "dense reference"),
    ),
  );
}
