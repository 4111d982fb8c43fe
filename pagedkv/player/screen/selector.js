/** Buttons that choose: one of a row, or the earlier and the later. */

import { el } from "./dom.js";

export function stepper(label, sign, action) {
  const button = el("button", {
    type: "button",
    class: "stepper",
    "aria-label": label,
    "data-focus": label,
    text: sign,
  });
  button.addEventListener("click", action);
  return button;
}

/** A row of buttons of which one is pressed. `name` names the group where no label is shown. */
export function selector(label, values, chosen, text, action, name = label) {
  const buttons = values.map((value) => {
    const button = el("button", {
      type: "button",
      class: "option",
      "aria-pressed": String(value === chosen),
      "aria-label": `${name} ${text(value)}`,
      "data-focus": `${name}-${value}`,
      text: text(value),
    });
    button.addEventListener("click", () => action(value));
    return button;
  });
  return el(
    "div",
    { class: "selector", role: "group", "aria-label": name },
    label ? el("span", { text: label }) : null,
    ...buttons,
  );
}
