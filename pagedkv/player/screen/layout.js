/** How much room each part gets: decided from the measured width, the rest is CSS. */

import { setAttr } from "./dom.js";

const SIDE_WIDTH = 1060; // from here on the story may stand beside the board
const STACK_WIDTH = 640; // from here on logical and physical stand side by side
const CELL_LEAST = 46; // px for a character, its position and the gap
const CELL_LEAST_PRESENT = 66;
const LONG_CELL_LEAST = 76; // px where tokens are longer than a character
const LONG_CELL_LEAST_PRESENT = 104;
const WHAT_IF_HEIGHT = 112; // px of a what-if in the presentation
const LEGEND_HEIGHT = 84; // two lines, where many states are on screen
const BESIDE_CELLS = 112; // px of a logical row that its label and its table entry take

/** Decide by the room at hand and return the layout; everything else about it is CSS. */
export function layOut(shell, data, present) {
  const dense = isDense(data);
  const layout = layOutAs(dense, shell, data, present);
  const isTooHigh = present && presentedHeight(shell, data) > roomToPresent(shell);
  return isTooHigh && !dense ? layOutAs(true, shell, data, present) : layout;
}

/** A dense board has lists that scroll, so it fits any room. */
function layOutAs(dense, shell, data, present) {
  const width = shell.clientWidth;
  const { block_size: size } = data.config;
  const least = cellLeast(data.stage.longTokens, present);
  const cellsIn = (column) => Math.max(1, Math.min(8, Math.floor((column - BESIDE_CELLS) / least)));
  const isSide = width >= SIDE_WIDTH && !dense && !present && size <= cellsIn(width * 0.258);
  const layout = isSide ? "side" : width >= STACK_WIDTH ? "stack" : "narrow";
  const column = isSide
    ? width * 0.258
    : layout === "narrow"
      ? width
      : width * (dense ? 0.35 : 0.43);
  const lines = Math.ceil(size / cellsIn(column));
  setAttr(shell, "data-layout", layout);
  setAttr(shell, "data-dense", dense ? "true" : null);
  setAttr(shell, "data-shared", data.stage.shared ? "true" : null);
  setAttr(shell, "data-long-blocks", size > 5 ? "true" : null);
  setAttr(shell, "data-long-tokens", data.stage.longTokens ? "true" : null);
  shell.style.setProperty("--cell-least", `${least}px`);
  shell.style.setProperty("--per-line", Math.ceil(size / lines));
  shell.querySelector(".live").style.minHeight = "";
  if (layout === "stack") reserveCaption(shell, data.frames);
  fitBoard(shell, data, layout, dense);
  return layout;
}

function cellLeast(longTokens, present) {
  if (longTokens) return present ? LONG_CELL_LEAST_PRESENT : LONG_CELL_LEAST;
  return present ? CELL_LEAST_PRESENT : CELL_LEAST;
}

function fitBoard(shell, data, layout, dense) {
  shell.style.removeProperty("--row");
  const board = shell.querySelector(".board");
  if (shell.dataset.present)
    fitRows(shell, [34, 84], () => presentedHeight(shell, data) <= roomToPresent(shell));
  else if (!dense && layout !== "narrow")
    fitRows(shell, [32, 56], () => board.offsetHeight <= roomForBoard(layout));
}

/** What the board needs in the presentation; a what-if takes the legend's place below it. */
function presentedHeight(shell, data) {
  const board = shell.querySelector(".board");
  const content =
    shell.querySelector(".views").getBoundingClientRect().bottom -
    board.getBoundingClientRect().top;
  return content + (data.stage.whatIf ? WHAT_IF_HEIGHT : LEGEND_HEIGHT);
}

function roomToPresent(shell) {
  return shell.querySelector(".live").offsetTop - shell.querySelector(".board").offsetTop;
}

/**
 * Keep as much room for captions as the longest one takes, so that nothing moves between frames.
 *
 * All are put up before the first is measured: the browser lays the page out once for all of them.
 */
function reserveCaption(shell, frames) {
  const live = shell.querySelector(".live");
  const room = document.createElement("div");
  room.style.cssText = `position:absolute;visibility:hidden;width:${live.offsetWidth}px`;
  const ghosts = frames.map((frame) => {
    const ghost = live.cloneNode(true);
    const [title, caption] = ghost.children;
    ghost.removeAttribute("aria-live");
    ghost.style.minHeight = 0;
    title.textContent = frame.title;
    caption.textContent = frame.caption.map((run) => run.t ?? run).join("");
    return ghost;
  });
  room.append(...ghosts);
  shell.append(room);
  const highest = Math.max(...ghosts.map((ghost) => ghost.offsetHeight));
  room.remove();
  live.style.minHeight = `${highest}px`;
}

/** What a window of 640 px leaves under a page's title and settings; more where there is more. */
function roomForBoard(layout) {
  const besides = layout === "side" ? 420 : 375; // page top, player bar; ledger; attention or caption
  return Math.min(Math.max(390, window.innerHeight - besides), 600);
}

/** Make rows as high as the room allows, within limits; below the least the board scrolls. */
function fitRows(shell, [least, most], fits) {
  let [low, high] = [least, most];
  while (high - low > 1) {
    const row = Math.round((low + high) / 2);
    shell.style.setProperty("--row", `${row}px`);
    if (fits()) low = row;
    else high = row;
  }
  shell.style.setProperty("--row", `${low}px`);
}

export function isDense(data) {
  const rows = data.stage.rows.reduce((sum, count) => sum + count, 0);
  return data.config.num_blocks > 8 || rows > 10 || data.config.block_size > 8;
}
