/** Curves across the board, from the entries of block tables to the physical blocks. */

import { setAttr, svg } from "./dom.js";
import { isDense } from "./layout.js";

export function makeCurves(stage, logical, pool) {
  const node = svg("svg", { class: "curves", "aria-hidden": "true" });
  const paths = logical.groups.map((group) =>
    group.rows.map(() => svg("path", { class: `curve ${stage.own(group.request)}` })),
  );
  node.append(...paths.flat());
  const curves = { node, paths, anchors: null };
  curves.forget = () => {
    curves.anchors = null;
  };
  curves.draw = () => {
    curves.anchors ??= measureAnchors(node, logical, pool);
    drawCurves(stage, curves);
  };
  return curves;
}

/** Where curves start and end; measured once per layout, for rows and cards keep their places. */
function measureAnchors(node, logical, pool) {
  const box = node.getBoundingClientRect();
  const anchor = (element, list, xOf) => {
    const rect = element.getBoundingClientRect();
    const view = list.getBoundingClientRect();
    const middle = rect.top + rect.height / 2;
    const isInView = middle >= view.top && middle <= view.bottom;
    return isInView ? [xOf(rect) - box.left, middle - box.top] : null;
  };
  return {
    entries: logical.groups.map((group) =>
      group.rows.map((row) => anchor(row.entry, logical.list, (rect) => rect.right)),
    ),
    blocks: pool.cards.map((card) => anchor(card.label, pool.list, (rect) => rect.left - 3)),
  };
}

function drawCurves(stage, { paths, anchors }) {
  const many = isDense(stage.data); // then only curves that changed or are pointed at are seen
  paths.forEach((own, request) => {
    const rows = stage.group(request)?.rows ?? [];
    own.forEach((path, logical) => {
      const row = rows[logical];
      const ends = row ? [anchors.entries[request][logical], anchors.blocks[row.b]] : [];
      path.classList.toggle("strong", Boolean(row?.changed));
      path.classList.toggle("quiet", many);
      setAttr(path, "d", ends[0] && ends[1] ? curve(...ends) : null);
    });
  });
}

function curve([x0, y0], [x1, y1]) {
  const bend = Math.max(24, (x1 - x0) * 0.5);
  return `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
}
