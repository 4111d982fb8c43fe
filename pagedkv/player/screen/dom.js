/** Elements made and changed. Text is only ever text: nothing here parses HTML. */

/** Create an element; `attributes` may hold `text`, `class` and anything setAttribute takes. */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") node.textContent = value;
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute, or take it away when `value` is null. */
export function setAttr(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function show(node, visible) {
  node.hidden = !visible;
}
