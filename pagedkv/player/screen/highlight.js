/** What belongs together lights up together: slot, logical cell, table entry, curve and bar. */

/** Everything that belongs to what is pointed at. */
function elementsFor(stage, target) {
  if (target.slot) return slotElements(stage, ...target.slot);
  if (target.cell) return cellElements(stage, ...target.cell);
  if (target.entries)
    return target.entries.flatMap(([request, logical]) => entryElements(stage, request, logical));
  if (target.block !== undefined) return blockElements(stage, target.block);
  if (target.request !== undefined) return requestElements(stage, target.request);
  return [];
}

function slotElements(stage, id, offset) {
  const owners = stage.block(id)?.owners ?? [];
  return [
    stage.parts.board.pool.cards[id]?.slots[offset].node,
    ...owners.flatMap(([request, logical]) => ownPlace(stage, request, logical, offset)),
  ];
}

function cellElements(stage, request, logical, offset) {
  const row = stage.group(request)?.rows[logical];
  if (!row) return [];
  return [
    stage.parts.board.pool.cards[row.b].slots[offset].node,
    ...ownPlace(stage, request, logical, offset),
  ];
}

function ownPlace(stage, request, logical, offset) {
  const { board, attention } = stage.parts;
  const row = board.logical.groups[request].rows[logical];
  const position = logical * stage.data.config.block_size + offset;
  const bar = attention.request === request ? attention.bars[position] : null;
  return [row.cells[offset].node, row.entry, board.curves.paths[request][logical], bar];
}

function entryElements(stage, request, logical) {
  const row = stage.group(request)?.rows[logical];
  if (!row) return [];
  const { board } = stage.parts;
  return [
    board.logical.groups[request].rows[logical].entry,
    board.curves.paths[request][logical],
    board.pool.cards[row.b].node,
  ];
}

function blockElements(stage, id) {
  const card = stage.parts.board.pool.cards[id];
  const owners = stage.block(id)?.owners ?? [];
  return [
    card?.node,
    ...owners.flatMap(([request, logical]) => entryElements(stage, request, logical)),
  ];
}

function requestElements(stage, request) {
  const rows = stage.group(request)?.rows ?? [];
  return [
    stage.parts.board.logical.groups[request].name,
    ...rows.flatMap((_, logical) => entryElements(stage, request, logical)),
  ];
}

export function light(stage, target) {
  for (const node of stage.lit) node.classList.remove("lit");
  stage.lit = target ? elementsFor(stage, target).filter(Boolean) : [];
  for (const node of stage.lit) node.classList.add("lit");
}

/** Mark the slot that a look-up or a worked score is about. */
export function markChosen(stage) {
  for (const node of stage.chosen) node.classList.remove("chosen");
  const about = stage.frame.lookup?.length || stage.frame.worked;
  stage.chosen = about ? elementsFor(stage, { slot: stage.choice.slot }).filter(Boolean) : [];
  for (const node of stage.chosen) node.classList.add("chosen");
}
