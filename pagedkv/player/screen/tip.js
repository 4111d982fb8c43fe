/** Terms and their explanations, in a tooltip. */

import { el } from "./dom.js";

/** One tooltip for all terms of the screen; it shows on hover and focus and goes with Escape. */
export function makeTip(shell, terms) {
  const tip = el("div", { class: "tip", role: "tooltip", id: "pagedkv-tip", hidden: "" });
  const hide = () => {
    tip.hidden = true;
    shell.querySelector('[aria-describedby="pagedkv-tip"]')?.removeAttribute("aria-describedby");
  };
  const showFor = (node) => {
    hide();
    const term = node.dataset.term;
    tip.replaceChildren(el("b", { text: term }), ` ${terms[term]}`);
    tip.hidden = false;
    node.setAttribute("aria-describedby", tip.id);
    placeTip(shell, tip, node);
  };
  return { node: tip, hide, showFor };
}

function placeTip(shell, tip, node) {
  const frame = shell.getBoundingClientRect();
  const box = node.getBoundingClientRect();
  const left = Math.min(
    Math.max(box.left - frame.left, 4),
    Math.max(frame.width - tip.offsetWidth - 4, 4),
  );
  const above = box.top - tip.offsetHeight - 8;
  const top = above > 0 ? above : box.bottom + 8;
  tip.style.left = `${left + shell.scrollLeft}px`;
  tip.style.top = `${top - frame.top + shell.scrollTop}px`;
}
