/** One slot of a physical block: whose K and V it holds, and of which position. */

import { el, setAttr, setText } from "./dom.js";

export function makeSlot(stage, block, offset) {
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
export function lookOf(slot) {
  return slot.s === "stored" && slot.o.length > 1 ? "shared" : slot.s;
}

export function drawSlot(stage, view, slot) {
  const owners = slot.o || [];
  const own = owners.length === 1 ? ` ${stage.own(owners[0])}` : "";
  const leftover = slot.was === undefined ? "" : " leftover";
  view.node.className = `slot ${lookOf(slot)}${leftover}${own}${slot.n ? " now" : ""}`;
  const names = stage.names(owners).join(" ");
  setAttr(view.node, "data-state", slot.s);
  setAttr(view.node, "data-owners", names);
  setAttr(view.node, "data-position", slot.p ?? "");
  setAttr(view.node, "data-token", slot.c ?? "");
  setAttr(view.node, "aria-label", slot.label);
  setText(view.char, slot.c ?? slot.was ?? "");
  setText(view.position, slot.p === undefined ? "" : String(slot.p));
  if (view.owners !== names) {
    view.owners = names;
    view.bands.replaceChildren(...owners.map((request) => el("i", { class: stage.own(request) })));
  }
}
