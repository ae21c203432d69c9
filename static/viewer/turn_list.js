/** The list of all turns, of which the page contains only those in view: a match may have thousands. */

import { element } from "../shared/dom.js";
import { badge } from "./elements.js";
import { MARKS } from "./marks.js";

/** Maximum lines of a turn, one per active player. */
const MOST_LINES = 4;
const LINE = 20;
const ROOM = 11;

/** Height of the row of the start, in pixels. */
const START = LINE + ROOM;

/** Maximum number of turns in the list: browsers cannot scroll farther. */
const MOST_TURNS = 150_000;

/**
 * @typedef {import("./games/game.js").Happening} Happening
 * @typedef {import("./games/game.js").Event} Event
 */

/**
 * The data of the list.
 * @typedef {object} Source
 * @property {import("./replay.js").Replay} replay
 * @property {boolean} alternating whether one player moves per turn
 * @property {(turn: number) => Happening[]} actionsOf
 * @property {(turn: number) => Event[]} events
 */

/** Milliseconds of creating texts before the page gets control back. */
const SLICE = 6;

/**
 * A row of the page; `due` while its text is missing.
 * @typedef {{item: HTMLElement, button: HTMLButtonElement, turn: number, due: boolean}} Row
 */

/** Shows turns, and lets people choose one. */
export class TurnList {
  /**
   * @param {HTMLElement} scroller around the list
   * @param {HTMLElement} list
   * @param {(turn: number) => void} visit
   */
  constructor(scroller, list, visit) {
    this.scroller = scroller;
    this.list = list;
    this.visit = visit;
    /** @type {Source | null} */
    this.source = null;
    this.turn = 0;
    this.last = 0;
    this.height = START;
    this.lines = 1;
    /** @type {Row[]} */
    this.rows = [];
    this.working = false;
    scroller.addEventListener("scroll", () => this.fill());
    scroller.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => {
      this.follow();
      this.fill();
    }).observe(scroller);
  }

  /**
   * Start with a replay.
   * @param {Source} source
   */
  open(source) {
    this.source = source;
    this.lines = source.alternating ? 1 : Math.min(MOST_LINES, source.replay.seats.length);
    this.height = this.lines * LINE + ROOM;
    this.turn = 0;
    this.rows = [];
    this.list.replaceChildren();
    this.list.style.setProperty("--turn-height", `${this.height}px`);
    this.list.style.setProperty("--start-height", `${START}px`);
    this.scroller.scrollTop = 0;
  }

  /**
   * Mark the current turn, and keep it in view.
   * @param {number} turn
   * @param {number} last the last listed turn
   */
  show(turn, last) {
    const isOther = turn !== this.turn;
    this.turn = turn;
    this.last = Math.min(last, MOST_TURNS);
    this.list.style.height = `${this.topOf(this.last + 1)}px`;
    if (isOther) {
      this.follow();
    }
    this.fill();
  }

  /**
   * @param {number} turn
   * @returns {number} pixels from the top of the list to its row; the row of the start has one line
   */
  topOf(turn) {
    return turn === 0 ? 0 : START + (turn - 1) * this.height;
  }

  /** Scroll to the current turn if it is out of view, without scrolling the page. */
  follow() {
    const { scroller, height } = this;
    const top = this.topOf(this.turn);
    if (top < scroller.scrollTop || top + height > scroller.scrollTop + scroller.clientHeight) {
      scroller.scrollTop = top - (scroller.clientHeight - height) / 2;
    }
  }

  /** Show the turns in view; `changed` if more is known about them. */
  fill(changed = false) {
    const { scroller, height, source } = this;
    if (!source || scroller.clientHeight === 0) {
      return;
    }
    const first = Math.max(0, Math.floor((scroller.scrollTop - START) / height));
    const count = Math.ceil(scroller.clientHeight / height) + 3;
    this.hold(count);
    for (let turn = first; turn < first + count; turn++) {
      this.fillRow(this.rows[turn % count], turn, changed);
    }
    this.work();
  }

  /** Create the texts of rows, a few at a time: those of large games take long, and the board comes first. */
  work() {
    if (this.working || !this.rows.some(({ due }) => due)) {
      return;
    }
    this.working = true;
    setTimeout(() => {
      const until = performance.now() + SLICE;
      for (const row of this.rows) {
        if (row.due && this.source && performance.now() < until) {
          row.due = false;
          row.button.replaceChildren(...contentOf(row.turn, this.source, this.lines));
        }
      }
      this.working = false;
      this.work();
    });
  }

  /**
   * Create as many rows as needed.
   * @param {number} count
   */
  hold(count) {
    if (this.rows.length !== count) {
      this.rows = Array.from({ length: count }, newRow);
      this.list.replaceChildren(...this.rows.map(({ item }) => item));
    }
  }

  /**
   * @param {Row} row
   * @param {number} turn
   * @param {boolean} changed
   */
  fillRow(row, turn, changed) {
    const { item, button } = row;
    item.hidden = turn > this.last;
    if (item.hidden) {
      Object.assign(row, { turn: -1, due: false });
      return;
    }
    row.due ||= changed;
    if (row.turn !== turn) {
      Object.assign(row, { turn, due: true });
      item.style.transform = `translateY(${this.topOf(turn)}px)`;
      item.classList.toggle("start", turn === 0);
      item.setAttribute("aria-posinset", String(turn + 1));
      button.dataset.turn = String(turn);
      button.replaceChildren(element("span", "at", String(turn)));
    }
    item.setAttribute("aria-setsize", String(this.last + 1));
    const isCurrent = turn === this.turn;
    button.tabIndex = isCurrent ? 0 : -1;
    if (isCurrent) {
      button.setAttribute("aria-current", "true");
    } else {
      button.removeAttribute("aria-current");
    }
  }

  /** @param {MouseEvent} event */
  click(event) {
    const button = /** @type {HTMLElement} */ (event.target).closest("button");
    if (button) {
      this.visit(Number(button.dataset.turn));
    }
  }

  /**
   * Move through the turns; these keys belong to the list while it has the focus.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.turn, End: this.last - this.turn };
    const step = Object.hasOwn(steps, event.key) ? steps[/** @type {keyof typeof steps} */ (event.key)] : null;
    if (step === null || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.visit(Math.min(this.last, Math.max(0, this.turn + step)));
    this.rows.find(({ turn }) => turn === this.turn)?.button.focus({ preventScroll: true });
  }
}

/** @returns {Row} */
function newRow() {
  const button = element("button", "turn-row");
  button.type = "button";
  return { item: element("li", "", button), button, turn: -1, due: false };
}

/**
 * Return the text of a turn's actions.
 * @param {number} turn
 * @param {Source} source
 * @param {number} lines the number that fits
 * @returns {HTMLElement[]}
 */
function contentOf(turn, { replay, actionsOf, events }, lines) {
  const number = element("span", "at", String(turn));
  if (turn === 0) {
    return [number, element("span", "turn-actions muted", "The start")];
  }
  const happenings = actionsOf(turn);
  const rest = happenings.length - lines;
  const visible = rest > 0 ? happenings.slice(0, lines - 1) : happenings;
  const turnActions = visible.map((one) => actionOf(replay.seats[one.seat]?.name ?? "", one));
  if (rest > 0) {
    turnActions.push(element("span", "turn-action muted", `and ${rest + 1} more`));
  }
  const kinds = [...new Set(events(turn).map(({ kind }) => kind))];
  const marks = kinds.map((kind) => element("span", `kind ${kind}`, MARKS[kind].sign));
  const words = events(turn).map(({ text }) => text).join(". ");
  const signs = element("span", "signs", ...marks);
  signs.title = words;
  signs.setAttribute("aria-hidden", "true");
  const brief = events(turn).filter(({ kind }) => kind !== "end").map(({ short, text }) => short ?? text).join(", ");
  const empty = turnActions.length ? [] : [element("span", "turn-action muted", brief || words || "nothing")];
  return [number, element("span", "turn-actions", ...turnActions, ...empty), signs];
}

/**
 * @param {string} name
 * @param {Happening} happening
 * @returns {HTMLElement}
 */
function actionOf(name, { seat, text, short }) {
  const turnAction = element("span", "turn-action", badge(seat), element("span", "unseen", `${name} `), short ?? text);
  turnAction.title = `${name} ${text}`;
  return turnAction;
}
