/** The pool, right on the board: one card per physical block, with its slots and its ref count. */

import { el, setAttr, setText } from "./dom.js";
import { drawSlot, makeSlot } from "./slot.js";

export function makePool(stage) {
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
  const draw = () => {
    cards.forEach((card, id) => {
      const block = stage.block(id);
      if (card.shown === block) return;
      card.shown = block;
      drawCard(stage, card, block);
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

/** On a board too long to see at once, bring a block into view. */
export function revealBlock({ list, cards }, id) {
  if (id === null || list.scrollHeight <= list.clientHeight) return;
  const card = cards[id].node;
  const top = card.offsetTop - list.offsetTop;
  const isInView =
    top >= list.scrollTop && top + card.offsetHeight <= list.scrollTop + list.clientHeight;
  if (!isInView) list.scrollTop = top - list.clientHeight / 2;
}
