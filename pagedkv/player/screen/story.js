/** The story: title, caption, requests that wait, an admission check, and the execution. */

import { el, setText, show } from "./dom.js";

export function makeStory(stage) {
  const title = el("h2", { class: "title" });
  const caption = el("p", { class: "caption", "data-testid": "caption" });
  const live = el(
    "div",
    { class: "live", "aria-live": "polite", "aria-label": stage.words.caption, role: "region" },
    title,
    caption,
  );
  const waiting = el("div", { class: "waiting" });
  const check = el("div", { class: "panel check" });
  const execution = el("div", { class: "panel execution" });
  const draw = (frame) => {
    setText(title, frame.title);
    caption.replaceChildren(...stage.runs(frame.caption));
    drawWaiting(stage, waiting, frame.waiting);
    drawCheck(stage, check, frame.check);
    drawExecution(stage, execution, frame.execution);
  };
  return { live, panels: [waiting, check, execution], draw };
}

function drawWaiting(stage, node, waiting) {
  show(node, waiting.length > 0);
  if (waiting.length === 0) return node.replaceChildren();
  const chips = waiting.map((request) =>
    el(
      "span",
      {
        class: `waiting-request ${stage.own(request)}`,
        "data-testid": `waiting-${stage.name(request)}`,
      },
      stage.tag(request, stage.name(request)),
    ),
  );
  return node.replaceChildren(
    stage.term(stage.words.waiting, "waiting"),
    ": ",
    ...chips,
    ` ${stage.words.waiting_note}`,
  );
}

function drawCheck(stage, node, check) {
  show(node, check !== null);
  if (check === null) return;
  const verdict = el("b", {
    class: check.fits ? "yes" : "no",
    text: `${check.fits ? "✓" : "✗"} ${check.verdict}`,
  });
  node.replaceChildren(
    el("h3", {}, stage.tag(check.r, check.title)),
    el("p", {}, ...check.steps.flatMap((step) => [...stage.runs([step]), " · "]), verdict),
  );
}

function drawExecution(stage, node, execution) {
  show(node, execution !== null);
  if (execution === null) return;
  const sum = execution.parts.flatMap(([request, count], i) => [
    i ? " + " : "",
    stage.tag(request, `${stage.name(request)} `),
    el("b", { text: String(count) }),
  ]);
  if (execution.parts.length > 1) sum.push(" = ", el("b", { text: String(execution.total[0]) }));
  node.replaceChildren(
    el("h3", {}, stage.term(execution.title, "execution")),
    el(
      "p",
      {},
      ...sum,
      ` ${execution.total[1]} · `,
      stage.term(execution.budget, "token budget"),
      execution.within ? " ✓" : " ✗",
    ),
  );
}
