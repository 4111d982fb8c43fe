/** The look-up: from a position through the block table to its slot, as four lines of figures. */

import { el } from "./dom.js";
import { stepper } from "./selector.js";
import { fill } from "./text.js";

/** The entry that the learner chose, or the last stored position of the first request. */
export function chosenLookup(stage, lookup) {
  const chosen = stage.choice.lookup;
  const match =
    chosen &&
    lookup.findIndex((entry) => entry.r === chosen.r && entry.position === chosen.position);
  if (chosen && match >= 0) return match;
  return lookup.filter((entry) => entry.r === lookup[0].r).length - 1;
}

export function lookupParts(stage, lookup) {
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
