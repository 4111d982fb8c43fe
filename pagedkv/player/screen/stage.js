/** What all parts of the screen share: the lesson at hand, the frame shown, words and pointers. */

import { el } from "./dom.js";

/**
 * The lesson at hand, what the learner chose, and what can be pointed at. One per board.
 *
 * `select(change)` takes over a change of the choice and redraws what shows it.
 */
export class Stage {
  constructor(data, choice, select) {
    this.data = data;
    this.words = data.words;
    this.choice = choice;
    this.select = select;
    this.targets = new WeakMap(); // element -> what pointing at it means
    this.lit = [];
    this.chosen = [];
    this.frame = null;
    this.parts = {}; // what makeParts made, by name
  }

  /** Choose an entry of the look-up, and with it its slot. */
  choose({ r, position, block, offset }) {
    this.select({ lookup: { r, position }, slot: [block, offset] });
  }

  name(request) {
    return this.data.requests[request].name;
  }

  names(requests) {
    return requests.map((request) => this.name(request));
  }

  own(request) {
    return `own-${this.data.requests[request].colour}`;
  }

  group(request) {
    const place = this.frame.groups[request];
    return typeof place === "number" ? this.data.groups[place] : null;
  }

  /** What is said in the place of a request's group, if it is not there: that it has ended. */
  ending(request) {
    const place = this.frame.groups[request];
    return typeof place === "string" ? place : null;
  }

  block(id) {
    const place = this.frame.blocks[id];
    return place === undefined ? null : this.data.blocks[place];
  }

  canPoint(node, target) {
    this.targets.set(node, target);
    return node;
  }

  swatch(request) {
    return el("i", { class: `swatch ${this.own(request)}`, "aria-hidden": "true" });
  }

  tag(request, text) {
    return el("span", { class: "tag" }, this.swatch(request), text);
  }

  /** A word with an explanation; plain text where the vocabulary lacks it. */
  term(text, term) {
    if (!(term in this.data.terms)) return document.createTextNode(text);
    return el("dfn", { tabindex: "0", class: "term", "data-term": term, text });
  }

  /** Running text: strings as they are, words for things on the board as chips. */
  runs(runs) {
    return runs.map((run) => {
      if (typeof run === "string") return document.createTextNode(run);
      if (run.term) return this.term(run.t, run.term);
      const chip = el("span", { role: "button", tabindex: "0", class: "chip", text: run.t });
      if (run.request !== undefined) chip.prepend(this.swatch(run.request));
      return this.canPoint(chip, run);
    });
  }
}

/** Whether `next` needs the board that `data` has: the same requests, rows and cards. */
export function canGoOn(data, next) {
  return boardOf(data) === boardOf(next);
}

function boardOf({ lesson, config, infeasible, requests, stage, heads }) {
  return JSON.stringify([lesson, config, infeasible, requests, stage, heads.layers]);
}
