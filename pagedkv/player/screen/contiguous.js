/** The contiguous strip above the board: the same requests with one reservation each. */

import { el, setText } from "./dom.js";

const MOST_CELLS = 40; // beyond, a piece is one bar in proportion

export function makeContiguous(stage) {
  const strip = el("div", { class: "strip" });
  const refused = el("b", { class: "refused" });
  const sum = el("span");
  const heading = el(
    "h2",
    { class: "board-heading" },
    stage.term(stage.words.contiguous, "reservation"),
    sum,
    refused,
  );
  const node = el("div", { class: "contiguous" }, heading, strip);
  const draw = (frame) => {
    const view = frame.contiguous;
    node.classList.toggle("absent", view === null);
    if (view === null) {
      strip.replaceChildren(); // a place kept free must not answer to a test id
      setText(refused, "");
      return;
    }
    sum.replaceChildren(" · ", ...stage.runs(view.sum));
    strip.replaceChildren(...view.pieces.map((piece) => stripPiece(stage, piece, view.capacity)));
    setText(refused, view.refused.map((text) => `✗ ${text}`).join(" "));
  };
  return { node, draw };
}

function stripPiece(stage, piece, capacity) {
  const reserved = piece.r !== undefined;
  const kinds = reserved
    ? [
        ["stored", piece.stored, piece.storedText],
        ["reserved", piece.length - piece.stored, piece.emptyText],
      ]
    : [["free", piece.length, piece.text]];
  const parts = kinds
    .filter(([, length]) => length > 0)
    .map(([kind, length, text]) => stripPart(piece, kind, length, text, capacity));
  return el(
    "div",
    {
      class: `piece${reserved ? ` ${stage.own(piece.r)}` : ""}`,
      style: `flex-grow:${piece.length}`,
      "data-testid": reserved ? `reservation-${stage.name(piece.r)}` : null,
      "data-start": piece.start,
      "data-reserved": reserved ? piece.length : null,
      "data-stored": reserved ? piece.stored : null,
    },
    ...parts,
  );
}

function stripPart(piece, kind, length, text, capacity) {
  const inCells = capacity <= MOST_CELLS;
  const cells = Array.from({ length: inCells ? length : 1 }, (_, i) => {
    const char = inCells && kind === "stored" ? (piece.chars[i] ?? "") : "";
    return el("span", { class: `slot ${kind}`, text: char });
  });
  return el(
    "div",
    { class: "part", style: `flex-grow:${length}` },
    el("div", { class: "part-cells" }, ...cells),
    el("div", { class: "part-text", text }),
  );
}
