/** Panels of evidence under the story; a frame shows those that it has. */

import { comparisonParts } from "./comparison.js";
import { el, show } from "./dom.js";
import { lookupParts } from "./lookup.js";
import { revealWrong, whatIfParts } from "./what-if.js";
import { workedParts } from "./worked-score.js";

export function makeEvidence(stage) {
  const whatIf = el("section", { class: "panel what-if", "data-testid": "what-if" });
  const lookup = el("section", { class: "panel lookup", "data-testid": "lookup" });
  const worked = el("section", { class: "panel worked", "data-testid": "worked-score" });
  const comparison = el("section", { class: "panel comparison", "data-testid": "comparison" });
  const draw = (frame) => {
    drawPanel(whatIf, frame.whatIf, whatIfParts.bind(null, stage));
    revealWrong(whatIf);
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
