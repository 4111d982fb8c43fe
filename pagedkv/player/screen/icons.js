/** The pictures on the buttons of the player bar. */

import { svg } from "./dom.js";

const ICONS = {
  first: "M5 4h2.5v16H5zM20 4v16L9 12z",
  back: "M16.5 4v16L6 12z",
  next: "M7.5 4v16L18 12z",
  last: "M16.5 4H19v16h-2.5zM4 4v16l11-8z",
  play: "M6 3.5v17l14-8.5z",
  pause: "M6 4h4.5v16H6zM13.5 4H18v16h-4.5z",
  present: "M3 4h18v13H3zM5.2 6.2v8.6h13.6V6.2zM8 19h8v2H8z",
};

export function icon(name) {
  const path = svg("path", { d: ICONS[name] });
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, path);
}
