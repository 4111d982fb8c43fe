/** Which keys do what, and which are left to whatever has the focus. */

import { pointed } from "./pointing.js";

const TYPED = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])';
const WITH_OWN_KEYS =
  "[role=slider], [role=spinbutton], [role=listbox], [role=option], [role=combobox], [role=textbox], " +
  "[role=menu], [role=menuitem], [role=tab], [role=radio], [role=radiogroup], [role=grid], [role=tree], [role=dialog], video, audio";
const PRESSED_BY_SPACE = "button, summary, a[href], [role=button], [role=checkbox], [role=switch]";

export function pressed(player, event) {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Tab" && player.present) return void goRound(player, event);
  if (event.shiftKey || pressedWord(player, event)) return;
  if (!player.shell.isConnected || keyIsTaken(player, event)) return;
  const action = actionFor(player, event.key);
  if (!action) return;
  event.preventDefault();
  action();
}

/** Enter or Space on a word of the caption does what pointing at it does. */
function pressedWord(player, event) {
  const word = event.composedPath()[0];
  const isPressed =
    (event.key === " " || event.key === "Enter") &&
    word instanceof Element &&
    word.matches(".term, .chip");
  if (!isPressed || !player.shell.contains(word)) return false;
  event.preventDefault();
  pointed(player, word, true);
  return true;
}

/** In the presentation Tab goes round the player: what has the focus behind it cannot be seen. */
function goRound({ shell }, event) {
  const places = [...shell.querySelectorAll("button, [tabindex='0']")].filter(
    (node) => node.getClientRects().length > 0,
  );
  const at = places.indexOf(shell.getRootNode().activeElement);
  const next = event.shiftKey ? (at < 0 ? -1 : at - 1) : at + 1;
  event.preventDefault();
  places.at(next % places.length)?.focus();
}

/** Does the focused element need this key for itself? Behind a presentation nothing does. */
function keyIsTaken({ present, shell, bar }, event) {
  const target = event.composedPath().find((node) => node instanceof Element);
  if (!target || (present && !shell.contains(target))) return false;
  if (target.closest(TYPED)) return true;
  if (target !== bar.scrubber.node && target.closest(WITH_OWN_KEYS)) return true;
  return event.key === " " && Boolean(target.closest(PRESSED_BY_SPACE));
}

function actionFor(player, key) {
  const { playback, tip } = player;
  const togglePresent = () => player.setPresent(!player.present, true);
  const actions = {
    ArrowRight: () => playback.move(playback.index + 1),
    ArrowLeft: () => playback.move(playback.index - 1),
    PageDown: () => playback.move(playback.index + 1),
    PageUp: () => playback.move(playback.index - 1),
    Home: () => playback.move(0),
    End: () => playback.move(playback.last),
    " ": () => playback.toggle(),
    p: togglePresent,
    P: togglePresent,
  };
  if (key === "Escape" && !tip.node.hidden) return () => tip.hide();
  if (key === "Escape" && player.present) return togglePresent;
  return Object.hasOwn(actions, key) ? actions[key] : null;
}
