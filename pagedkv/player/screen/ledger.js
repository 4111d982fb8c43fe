/** The ledger: sums over blocks and slots that visibly hold. */

import { el } from "./dom.js";

export function makeLedger(stage) {
  const node = el("div", {
    class: "ledger",
    "data-testid": "ledger",
    role: "group",
    "aria-label": stage.words.ledger,
  });
  const draw = (frame) => node.replaceChildren(...frame.ledger.map(ledgerSum));
  return { node, draw };
}

function ledgerSum(entry) {
  if (entry.text) return el("span", { class: "sum", text: entry.text });
  const numbers = [...entry.parts, entry.total];
  const node = el("span", { class: "sum", "data-sum": entry.id });
  numbers.forEach(([value, word], i) => {
    const sign = i === 0 ? "" : i === numbers.length - 1 ? ` ${entry.sign} ` : " + ";
    const changed = entry.changed.includes(i) ? "changed" : null;
    node.append(sign, el("b", { class: changed, text: String(value) }), ` ${word}`);
  });
  return node;
}
