/** What the learner chose to look at: a request, a layer, a head, a slot, an entry of a look-up. */

import { chosenLookup } from "./lookup.js";

export function newChoice() {
  return { request: null, layer: 0, head: 0, slot: null, lookup: null };
}

/** In another lesson places mean nothing; layer and head stay as far as its model has them. */
export function carryOver(choice, { heads }) {
  choice.lookup = null;
  choice.slot = null;
  choice.layer = Math.min(choice.layer, Math.max(heads.layers - 1, 0));
  choice.head = Math.min(choice.head, Math.max(heads.heads - 1, 0));
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
