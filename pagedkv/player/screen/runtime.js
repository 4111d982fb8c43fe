/** What computed the frames, and whether its results equal the dense reference. */

import { el } from "./dom.js";

export function makeRuntime({ runtime }) {
  return el(
    "div",
    { class: `runtime${runtime.ok ? "" : " off"}`, "data-testid": "runtime", title: runtime.note },
    el("span", { text: runtime.text }),
    el("span", { class: "divider", text: " | " }),
    el("span", { text: runtime.check }),
  );
}
