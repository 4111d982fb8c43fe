/**
 * The lesson player: draws one frame of a lesson at a time and moves between them.
 *
 * What: `mountPlayer(root, data, options)` shows the view model that `pagedkv.player.player_data`
 * computes. Why here: every frame is in the browser, so a key press needs no server and is drawn
 * within one animation frame. It computes nothing about the engine, and it knows no framework.
 * Each part of the screen is a module of its own in screen/, and its look a file in styles/.
 *
 *   root     an Element to draw into; it may be inside a shadow root
 *   data     the view model; equal `data.key` means equal content
 *   options  { index: 0,                  the frame to show
 *              present: false,            fill the whole window: board, caption and player only
 *              theme: 'auto',             'light', 'dark', or by the page's background
 *              heading: false,            also show the lesson's title and question
 *              onDraw: (index) => {},     whenever a frame is drawn
 *              onSettle: (index) => {},   250 ms after the learner's last move
 *              onPresent: (bool) => {} }  when the learner enters or leaves the presentation
 *   returns  { update(data, options), index(), destroy() }
 *
 * `update` swaps the lesson in one go, without a flash, and keeps the place where the host says
 * nothing. An `index` or a `present` moves the player only if it is not what was last said between
 * the two, so an echo of what the host was told does not pull the learner back.
 *
 * A browser can load this file as the module that it is. Who needs one text takes `player_js()`,
 * which joins it with all that it imports, and `player_css()`. A Streamlit page puts an adapter
 * behind the first and gives both texts to a components-v2 component:
 *
 *   const players = new WeakMap();
 *   export default function ({ parentElement, data }) {
 *     const lesson = JSON.parse(data.lesson);
 *     const player = players.get(parentElement);
 *     if (player) player.update(lesson, { index: data.index });
 *     else players.set(parentElement, mountPlayer(parentElement, lesson, { index: data.index }));
 *     return () => { players.get(parentElement)?.destroy(); players.delete(parentElement); };
 *   }
 *
 * An exported page does the same with one `<script type="module">`. Text from data is only ever
 * text: nothing here parses HTML.
 */

import { arrange, makeParts } from "./screen/arrangement.js";
import { carryOver, change, followFrame, newChoice } from "./screen/choice.js";
import { drawControls, drawPlayState, makeControls } from "./screen/controls.js";
import { el, setAttr } from "./screen/dom.js";
import { light, markChosen } from "./screen/highlight.js";
import { pressed } from "./screen/keys.js";
import { layOut } from "./screen/layout.js";
import { Playback } from "./screen/playback.js";
import { clicked, keepFocus, pointed } from "./screen/pointing.js";
import { revealBlock } from "./screen/pool.js";
import { enterTopLayer } from "./screen/present.js";
import { makeRuntime } from "./screen/runtime.js";
import { canGoOn, Stage } from "./screen/stage.js";
import { themeOf } from "./screen/theme.js";
import { makeTip } from "./screen/tip.js";

class Player {
  constructor(root) {
    this.options = {};
    this.present = false;
    this.choice = newChoice();
    this.playback = new Playback({
      moved: () => this.draw(),
      settled: (index) => this.settled(index),
      changed: () => drawPlayState(this.bar, this.stage.data, this.playback),
    });
    this.shell = el("div", { class: "pagedkv-player", "data-testid": "player", tabindex: "-1" });
    this.listen();
    root.append(this.shell);
    this.resizer = new ResizeObserver(() => this.measured());
    this.resizer.observe(this.shell);
  }

  listen() {
    this.abort = new AbortController();
    const on = (target, type, handler) =>
      target.addEventListener(type, handler, { signal: this.abort.signal });
    on(window, "keydown", (event) => pressed(this, event));
    on(this.shell, "mousedown", (event) => keepFocus(this, event));
    on(this.shell, "pointerover", (event) => pointed(this, event.target, true));
    on(this.shell, "pointerleave", () => pointed(this, null, true));
    on(this.shell, "focusin", (event) => pointed(this, event.target, false));
    on(this.shell, "focusout", () => pointed(this, null, false));
    on(this.shell, "click", (event) => clicked(this, event.target));
    on(window, "resize", () => this.measured());
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.setTheme());
  }

  // --- lesson and options ---

  update(data, options = {}) {
    this.options = { ...this.options, ...options };
    const isNew = data.key !== this.stage?.data.key;
    const isMoved = this.playback.follow(options.index, data.frames.length);
    if (isNew) this.build(data);
    this.setTheme();
    if (options.present !== undefined && options.present !== this.hostPresent)
      this.setPresent(options.present, false);
    if (isNew) this.resized(true);
    if (isNew || isMoved) this.draw();
  }

  build(data) {
    this.playback.pause();
    carryOver(this.choice, data);
    if (this.stage && canGoOn(this.stage.data, data)) this.goOn(data);
    else this.begin(data);
    drawPlayState(this.bar, data, this.playback);
  }

  /** Build all parts for a lesson. */
  begin(data) {
    const stage = new Stage(data, this.choice, (change) => this.select(change));
    stage.parts = makeParts(stage);
    this.stage = stage;
    this.bar = this.newBar();
    this.runtime = makeRuntime(data);
    this.foot = el("div", { class: "foot" }, stage.parts.ledger.node);
    this.tip = makeTip(this.shell, data.terms);
    this.shell.replaceChildren(...arrange(stage, this, Boolean(this.options.heading)));
  }

  /** More frames of the same: the board stands, so the browser need not lay it out anew. */
  goOn(data) {
    const { stage, bar, runtime } = this;
    stage.data = data;
    this.bar = this.newBar();
    this.runtime = makeRuntime(data);
    bar.node.replaceWith(this.bar.node);
    runtime.replaceWith(this.runtime);
  }

  newBar() {
    return makeControls(this.stage, this.playback, () => this.setPresent(!this.present, true));
  }

  // --- drawing ---

  draw() {
    const { stage, playback } = this;
    const { board, story, evidence, ledger, slotValues, attention } = stage.parts;
    const frame = (stage.frame = stage.data.frames[playback.index]);
    this.tip.hide();
    light(stage, null);
    followFrame(stage);
    drawControls(this.bar, stage.data, playback);
    board.draw(frame);
    board.curves.draw();
    story.draw(frame);
    evidence.draw(frame);
    ledger.draw(frame);
    attention.draw(frame);
    slotValues.draw();
    markChosen(stage);
    setAttr(this.shell, "data-index", playback.index);
    setAttr(this.shell, "data-what-if", frame.whatIf ? "true" : null);
    if (this.shell.dataset.dense) revealBlock(board.pool, frame.focus);
    this.options.onDraw?.(playback.index);
  }

  /** Take over a choice (request, layer, head, slot, look-up) and redraw what shows it. */
  select(changes) {
    const { stage } = this;
    const { attention, evidence, slotValues } = stage.parts;
    change(this.choice, changes);
    const focused = this.shell.getRootNode().activeElement;
    const place = focused?.closest?.(".panel, .attention");
    attention.draw(stage.frame);
    evidence.draw(stage.frame);
    slotValues.draw();
    if (changes.slot) light(stage, { slot: changes.slot });
    if (changes.lookup) markChosen(stage);
    if (place && focused.dataset.focus)
      place.querySelector(`[data-focus="${focused.dataset.focus}"]`)?.focus();
  }

  /** Frames differ in height; only another width or window asks for another layout. */
  measured() {
    const room = `${this.shell.clientWidth} ${window.innerHeight}`;
    if (room === this.room) return;
    this.room = room;
    this.resized();
  }

  resized(silently = false) {
    if (!this.stage) return;
    const layout = layOut(this.shell, this.stage.data, this.present);
    if (layout === "side") this.bar.present.before(this.runtime);
    else this.foot.append(this.runtime);
    const { curves } = this.stage.parts.board;
    curves.forget();
    if (!silently && this.stage.frame) curves.draw();
  }

  setTheme() {
    setAttr(this.shell, "data-theme", themeOf(this.shell, this.options.theme));
  }

  // --- telling the host ---

  settled(index) {
    this.setTheme();
    this.options.onSettle?.(index);
  }

  setPresent(present, tellHost) {
    this.hostPresent = present;
    if (present === this.present) return;
    this.present = present;
    setAttr(this.shell, "data-present", present ? "true" : null);
    enterTopLayer(this.shell, present);
    if (present) this.shell.focus({ preventScroll: true }); // not on what is now behind it
    setAttr(this.bar.present, "aria-pressed", String(present));
    setAttr(this.bar.present, "title", this.stage.words[present ? "leave_present" : "present"]);
    this.resized();
    if (tellHost) this.options.onPresent?.(present);
  }

  destroy() {
    this.playback.stop();
    this.abort.abort();
    this.resizer.disconnect();
    this.shell.remove();
  }
}

/** Draw a lesson into `root`; see the top of this file. */
export function mountPlayer(root, data, options = {}) {
  const player = new Player(root);
  player.update(data, { index: 0, present: false, ...options });
  return {
    update: (newData, newOptions = {}) => player.update(newData, newOptions),
    index: () => player.playback.index, // at this very moment, settled or not
    destroy: () => player.destroy(),
  };
}
