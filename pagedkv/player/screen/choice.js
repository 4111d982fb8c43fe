/** What the learner chose to look at: a request, a layer, a head, a slot, an entry of a look-up. */

import { chosenLookup } from "./lookup.js";

export function newChoice() {
  return { request: null, layer: 0, head: 0, isHeadChosen: false, slot: null, lookup: null };
}

/** Take over a change that the learner made. */
export function change(choice, changes) {
  Object.assign(choice, changes);
  if ("layer" in changes || "head" in changes) choice.isHeadChosen = true;
}

/**
 * In another lesson places mean nothing. Layer and head stay as far as its model has them if the
 * learner chose them; else they are those that show most in that lesson.
 */
export function carryOver(choice, { heads }) {
  choice.lookup = null;
  choice.slot = null;
  const { layer, head } = choice.isHeadChosen ? choice : heads.start;
  choice.layer = heads.layers.includes(layer) ? layer : heads.start.layer;
  choice.head = Math.min(head, Math.max(heads.heads - 1, 0));
}

/** Where a frame is about one slot or one weight, the learner's choice starts there. */
export function followFrame(stage) {
  const { choice } = stage;
  const { lookup, worked } = stage.frame;
  if (lookup?.length) {
    const { block, offset } = lookup[chosenLookup(stage, lookup)];
    choice.slot = [block, offset];
  }
  if (worked) {
    const { slot, r: request, layer, head } = worked;
    Object.assign(choice, { slot, request, layer, head });
  }
}
