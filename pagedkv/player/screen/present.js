/** The presentation lies above all of the page. Its look is CSS; its sizes are in layout.js. */

/** Whatever stacking and transforms the page has; without popovers, CSS does what it can. */
export function enterTopLayer(shell, present) {
  if (typeof shell.showPopover !== "function") return;
  if (present) {
    shell.popover = "manual";
    shell.showPopover();
  } else {
    shell.hidePopover();
    shell.popover = null;
  }
}
