/** The parts of the screen, and which stands inside which; what stands beside what is CSS. */

import { makeAttention } from "./attention.js";
import { makeBoard } from "./board.js";
import { el, show } from "./dom.js";
import { makeEvidence } from "./evidence.js";
import { makeLedger } from "./ledger.js";
import { makeSlotValues } from "./slot-values.js";
import { makeStory } from "./story.js";

export function makeParts(stage) {
  return {
    board: makeBoard(stage),
    story: makeStory(stage),
    evidence: makeEvidence(stage),
    ledger: makeLedger(stage),
    slotValues: makeSlotValues(stage),
    attention: makeAttention(stage),
  };
}

/** What the shell holds; `foot` is the row under the board. */
export function arrange({ data, parts }, { bar, foot, tip }, hasHeading) {
  const { board, story, evidence, slotValues, attention } = parts;
  const left = el("div", { class: "left" }, board.node, foot);
  if (data.stage.attention) left.append(attention.node);
  const side = el(
    "div",
    { class: "side" },
    story.live,
    ...story.panels,
    ...evidence.panels,
    slotValues.node,
  );
  return [
    makeHeading(data, hasHeading),
    bar.node,
    makeInfeasible(data),
    el("div", { class: "main" }, left, side),
    tip.node,
  ];
}

function makeHeading({ lesson }, isShown) {
  const node = el(
    "header",
    { class: "heading" },
    el("h1", { text: lesson.title }),
    el("p", { text: lesson.question }),
  );
  show(node, isShown);
  return node;
}

/** Why the lesson cannot be told at these settings. */
function makeInfeasible({ infeasible }) {
  const node = el("p", { class: "infeasible", role: "note", text: infeasible ?? "" });
  show(node, infeasible !== null);
  return node;
}
