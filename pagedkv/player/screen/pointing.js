/** What the learner points at, with a pointer or by focus, and what follows from it. */

import { light } from "./highlight.js";

export function pointed({ stage, shell, tip }, node, byPointer) {
  if (!stage?.frame) return;
  const term = node?.closest("[data-term]");
  if (term) tip.showFor(term);
  else tip.hide();
  const target = node && targetAt(stage, node, shell);
  if (target || byPointer) light(stage, target);
  const slot = target && slotOf(stage, target);
  if (slot) {
    stage.choice.slot = slot;
    stage.parts.slotValues.draw();
  }
}

/** A click on a slot, a logical cell or a bar looks its position up, where the frame offers that. */
export function clicked({ stage, shell }, node) {
  const target = targetAt(stage, node, shell);
  const { lookup } = stage.frame;
  const slot = target && slotOf(stage, target);
  if (!slot || !lookup) return;
  const owner = target.cell?.[0];
  const entry = lookup.find(
    (e) => e.block === slot[0] && e.offset === slot[1] && (owner === undefined || e.r === owner),
  );
  if (entry) stage.choose(entry);
}

/** A mouse click presses a button without focusing it, so that keys go on moving the lesson. */
export function keepFocus({ shell }, event) {
  if (!event.target.closest("button, .term, .chip")) return;
  event.preventDefault();
  const { activeElement } = shell.getRootNode();
  if (!shell.contains(activeElement)) shell.focus({ preventScroll: true });
}

function targetAt(stage, node, end) {
  for (let at = node; at && at !== end; at = at.parentElement) {
    if (stage.targets.has(at)) return stage.targets.get(at);
  }
  return null;
}

/** The physical slot behind a slot, a logical cell or a bar. */
function slotOf(stage, target) {
  if (target.slot) return target.slot;
  if (!target.cell) return null;
  const [request, logical, offset] = target.cell;
  const row = stage.group(request)?.rows[logical];
  return row ? [row.b, offset] : null;
}
