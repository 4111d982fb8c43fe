/** Numbers as colours: the strip of a vector, in Cividis. */

import { el } from "./dom.js";

// Cividis, sampled; between samples the colour is mixed.
const CIVIDIS = [
  [0, 34, 78],
  [18, 53, 112],
  [59, 73, 108],
  [87, 93, 109],
  [112, 113, 115],
  [138, 134, 120],
  [165, 156, 116],
  [195, 179, 105],
  [225, 204, 85],
  [254, 232, 56],
];

function cividis(share) {
  const place = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const mixed = CIVIDIS[low].map((part, i) =>
    Math.round(part + (CIVIDIS[low + 1][i] - part) * (place - low)),
  );
  return `rgb(${mixed.join(",")})`;
}

export function heatStrip(values) {
  const most = Math.max(...values.map(Math.abs), 1e-9);
  const step = 100 / values.length;
  const stops = values.map((value, i) => {
    const colour = cividis((value / most + 1) / 2);
    return `${colour} ${i * step}% ${(i + 1) * step}%`;
  });
  return el("span", {
    class: "heat",
    "aria-hidden": "true",
    style: `background:linear-gradient(to right,${stops.join(",")})`,
  });
}
