/** The decisive moments of a match as text, above the line of turns. */

import { element } from "../shared/dom.js";
import { MARKS } from "./marks.js";

const MOST = 12;
const CANDIDATES = 48;
const GAP = 6;

/**
 * Maximum distance in pixels between a text and its mark; a fault in the last turn has the text of the end between
 * them.
 */
const FARTHEST = 60;
const FARTHEST_FAULT = 120;

/** Half the thumb of the line of turns, which never reaches the very ends. */
const EDGE = 8;

/** @typedef {import("./games/game.js").Event} Event */

/** Default weights of events by kind. */
const WEIGHTS = { end: 1000, fault: 40, lead: 15, capture: 5, death: 3 };

/** Weight of a fault in the last turn: it is why the match ended, or nearly so. */
const LAST_FAULT = 500;

/** Buttons that name the weightiest events and go to them, as many as fit. */
export class Moments {
  /**
   * @param {HTMLElement} list
   * @param {(turn: number) => void} visit
   */
  constructor(list, visit) {
    this.list = list;
    this.visit = visit;
    /** @type {Event[]} */
    this.events = [];
    this.last = 0;
    new ResizeObserver(() => this.arrange()).observe(list);
  }

  /**
   * Name the weightiest events.
   * @param {Event[]} events
   * @param {number} last the last turn
   */
  show(events, last) {
    this.last = last;
    this.events = weightiest(events, last);
    this.list.replaceChildren(...this.events.map((event) => this.item(event)));
    this.arrange();
  }

  /**
   * @param {Event} event
   * @returns {HTMLElement}
   */
  item({ turn, kind, text, short }) {
    const mark = element("span", `kind ${kind}`, MARKS[kind].sign);
    mark.setAttribute("aria-hidden", "true");
    const words = element("span", "words", short ?? text);
    const button = element("button", "moment", element("span", "unseen", `Turn ${turn}: `), mark, words);
    button.type = "button";
    button.title = `Turn ${turn}: ${text}`;
    button.addEventListener("click", () => this.visit(turn));
    return element("li", "", button);
  }

  /** Place the weightiest first, then others as long as there is room; the rest is hidden. */
  arrange() {
    const width = this.list.clientWidth;
    const items = /** @type {HTMLElement[]} */ ([...this.list.children]);
    items.forEach((item) => { item.hidden = false; });
    const widths = items.map((item) => item.offsetWidth);
    /** @type {{from: number, to: number}[]} */
    const spans = [];
    const weights = this.events.map((event) => weightOf(event, this.last));
    const order = items.map((_, index) => index).sort((one, other) => weights[other] - weights[one]);
    for (const index of order) {
      const at = EDGE + (this.events[index].turn / Math.max(1, this.last)) * (width - 2 * EDGE);
      const farthest = this.events[index].kind === "fault" ? FARTHEST_FAULT : FARTHEST;
      const from = spans.length < MOST ? placeFor(at, farthest, widths[index], width, spans) : null;
      items[index].hidden = from === null;
      if (from !== null) {
        spans.push({ from, to: from + widths[index] });
        items[index].style.left = `${from}px`;
      }
    }
  }
}

/**
 * Find room for a text: over its mark, or beside neighbouring texts if that is near enough.
 * @param {number} at position of the mark
 * @param {number} farthest
 * @param {number} size of the words
 * @param {number} width of the line
 * @param {{from: number, to: number}[]} spans
 * @returns {number | null}
 */
function placeFor(at, farthest, size, width, spans) {
  const middle = Math.max(0, Math.min(at - size / 2, width - size));
  const places = [middle, ...spans.flatMap(({ from, to }) => [from - GAP - size, to + GAP])];
  const free = places.filter((from) => from >= 0 && from + size <= width
    && from - farthest <= at && at <= from + size + farthest
    && spans.every((other) => from + size + GAP <= other.from || from >= other.to + GAP));
  return free.length ? free.reduce((one, other) => (Math.abs(other - middle) < Math.abs(one - middle) ? other : one)) : null;
}

/**
 * @param {Event} event
 * @param {number} last the last turn
 * @returns {number}
 */
function weightOf({ kind, turn, weight }, last) {
  return kind === "fault" && turn === last ? LAST_FAULT : weight ?? WEIGHTS[kind];
}

/**
 * Return the events that may be named: the weightiest in every part of the match, and the end.
 * @param {Event[]} events
 * @param {number} last the last turn
 * @returns {Event[]} in the order of turns
 */
function weightiest(events, last) {
  /** @type {Map<number, Event>} */
  const best = new Map();
  for (const event of events) {
    const part = event.kind === "end" ? Infinity : Math.floor((event.turn * CANDIDATES) / Math.max(1, last));
    const rival = best.get(part);
    if (!rival || weightOf(event, last) > weightOf(rival, last)) {
      best.set(part, event);
    }
  }
  return [...best.values()].sort((one, other) => one.turn - other.turn);
}
