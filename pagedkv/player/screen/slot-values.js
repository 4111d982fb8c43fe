/** The real K and V of the slot that the learner points at, for one layer and KV head. */

import { el, setText } from "./dom.js";
import { heatStrip } from "./heat.js";
import { selector, stepper } from "./selector.js";
import { fill, signed } from "./text.js";
import { Vectors } from "./vectors.js";

export function makeSlotValues(stage) {
  const { words } = stage;
  const title = el("h3");
  const body = el("div", { class: "slot-values-body" });
  const node = el(
    "section",
    { class: "panel slot-values", "data-testid": "slot-values", "aria-label": words.slot_values },
    el(
      "div",
      { class: "slot-values-head" },
      title,
      stepper(words.earlier_slot, "‹", () => turnSlot(stage, -1)),
      stepper(words.later_slot, "›", () => turnSlot(stage, 1)),
    ),
    body,
  );
  let shown = null;
  let [data, vectors] = [null, null];
  const draw = () => {
    if (data !== stage.data) {
      data = stage.data;
      vectors = new Vectors(data.vectors);
      shown = null;
    }
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

/** Choose the stored slot that comes so many places later. */
function turnSlot(stage, by) {
  const stored = storedSlots(stage);
  if (stored.length === 0) return;
  const [block, offset] = stage.choice.slot ?? firstStored(stage);
  const at = stored.findIndex(([b, o]) => b === block && o === offset);
  stage.select({ slot: stored[(at + by + stored.length) % stored.length] });
}

function slotTitle(stage, block, offset, slot) {
  const { words } = stage;
  const owners = stage.names(slot.o || []).join(" + ");
  const place = fill(words.slot_title, { block, offset });
  return `${place}: ${fill(words[`slot_${slot.s}`], { owners, position: slot.p, token: slot.c })}`;
}

function slotParts(stage, vectors, slot) {
  const { words, choice, data } = stage;
  if (slot.v === undefined) return [el("p", { class: "quiet", text: words.slot_never })];
  const kvHead = kvHeadOf(stage, choice.head);
  const layer = data.heads.layers.indexOf(choice.layer);
  const warning = slot.s === "stored" ? null : el("p", { class: "no", text: words.slot_old_bytes });
  return [
    warning,
    vectorSelectors(stage, kvHead),
    vectorLine(words, "K", vectors.get(slot.v, 0, layer, kvHead)),
    vectorLine(words, "V", vectors.get(slot.v, 1, layer, kvHead)),
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
    selector(words.layer, data.heads.layers, choice.layer, String, (layer) =>
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
