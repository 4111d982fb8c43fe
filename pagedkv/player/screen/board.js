/** The board: contiguous strip, logical blocks, curves, pool and legend, each made elsewhere. */

import { makeContiguous } from "./contiguous.js";
import { makeCurves } from "./curves.js";
import { el } from "./dom.js";
import { drawLegend } from "./legend.js";
import { makeLogical } from "./logical.js";
import { makePool } from "./pool.js";

export function makeBoard(stage) {
  const logical = makeLogical(stage);
  const pool = makePool(stage);
  const curves = makeCurves(stage, logical, pool);
  const contiguous = makeContiguous(stage);
  const legend = el("ul", { class: "legend", "aria-label": stage.words.legend });
  const views = el("div", { class: "views" }, logical.node, pool.node, curves.node);
  const node = el("section", {
    class: "board",
    "data-testid": "board",
    "aria-label": stage.words.board,
  });
  if (stage.data.stage.contiguous) node.append(contiguous.node);
  node.append(views, legend);
  const scrolled = () => {
    curves.forget();
    curves.draw();
  };
  for (const list of [logical.list, pool.list])
    list.addEventListener("scroll", scrolled, { passive: true });
  return {
    node,
    logical,
    pool,
    curves,
    draw(frame) {
      if (stage.data.stage.contiguous) contiguous.draw(frame);
      logical.draw();
      pool.draw();
      drawLegend(stage, legend, frame.legend);
    },
  };
}
