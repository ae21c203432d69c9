/** The bot's request in the current turn, its answer then, and its answer now. */

import { element } from "../shared/dom.js";
import { timeWords } from "../viewer/words.js";
import { byId } from "./elements.js";
import { ask, follow, wordsOf } from "./server.js";

/** Milliseconds that a turn must be shown before it is requested: playback passes through many. */
const REST = 120;

/** Milliseconds between checks for an answer. */
const PAUSE = 150;
const ASKING = "Asking it all earlier turns first...";

/**
 * @typedef {{question: string, answer: string, ms: number, fault: string}} Exchange
 * @typedef {{kind: string, words: string, expected: string, actual: string}} Fault
 * @typedef {{turn: number, exchanges: Exchange[], faults: Fault[], action: unknown}} AskedTurn
 * @typedef {{answer: any, goes_on: boolean, trouble: string, waits?: string}} Report of a repeated request
 */

/** Shows the request of a turn. */
export class Question {
  /**
   * @param {{save: () => Promise<void>, marks: (marks: import("./output.js").Mark[]) => void, visit: (turn: number) => void,
   *   first: () => number}} page
   */
  constructor(page) {
    this.page = page;
    this.timer = 0;
    this.turn = -1;
    /** Whether a run is shown, and this part is visible. */
    this.isRun = false;
    this.isSeen = false;
  }

  /**
   * Record the current turn.
   * @param {number} turn
   */
  point(turn) {
    if (this.isRun && this.isSeen && turn !== this.turn) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.load(turn), REST);
    }
  }

  /** Clear the part: it belongs to another match, or to a turn that was not over. */
  forget() {
    this.turn = -1;
  }

  /** @param {number} turn */
  async load(turn) {
    this.turn = turn;
    /** @type {AskedTurn} */
    const report = await ask("GET", `run/turns/${turn}`);
    if (turn === this.turn) {
      byId("no-question").hidden = true;
      byId("asked").replaceChildren(...this.parts(report));
    }
  }

  /**
   * @param {AskedTurn} report
   * @returns {HTMLElement[]}
   */
  parts({ turn, exchanges, faults, action }) {
    const title = element("h2", "", turn < this.page.first() ? "Before the first turn" : `Turn ${turn}`);
    if (exchanges.length === 0) {
      return [title, element("p", "muted", "Your bot had nothing to answer in this turn."), this.earlier(turn)];
    }
    const again = element("button", "", "Ask again");
    again.type = "button";
    again.title = "Asks the current bot about this turn, after all earlier turns";
    const today = element("div", "today");
    again.addEventListener("click", () => void this.askAgain(turn, again, today));
    return [
      element("div", "line-form", title, again),
      ...exchanges.flatMap((each) => exchangeParts(each, action)),
      ...faults.map(faultPart),
      today,
    ];
  }

  /**
   * @param {number} turn
   * @returns {HTMLElement}
   */
  earlier(turn) {
    const button = element("button", "link", "Previous turn");
    button.type = "button";
    button.hidden = turn === 0;
    button.addEventListener("click", () => this.page.visit(turn - 1));
    return element("p", "", button);
  }

  /**
   * Send the request to the current bot, and show its answer beside the old one.
   * @param {number} turn
   * @param {HTMLButtonElement} button
   * @param {HTMLElement} today
   */
  async askAgain(turn, button, today) {
    button.disabled = true;
    today.replaceChildren(element("p", "muted", ASKING));
    try {
      await this.page.save();
      await ask("POST", "ask", { turn });
      await follow("ask", PAUSE, (/** @type {Report} */ report) => this.take(report, today));
    } catch (error) {
      today.replaceChildren(element("p", "refused", wordsOf(error)));
    }
    button.disabled = false;
    today.scrollIntoView({ block: "nearest" });
  }

  /**
   * Show the status of the repeated request.
   * @param {Report} report
   * @param {HTMLElement} today
   */
  take({ answer, goes_on: goesOn, trouble, waits }, today) {
    if (goesOn) {
      today.replaceChildren(element("p", "muted", waits || ASKING));
    } else if (answer) {
      today.replaceChildren(...todayParts(answer));
      this.page.marks(answer.marks);
    } else {
      today.replaceChildren(element("p", "refused", trouble));
    }
  }
}

const NOT_ASKED = "Nothing: it did not start.";
const NOT_SAVED = "This request was not saved: those of the match were too large.";

/**
 * @param {Exchange} exchange
 * @param {unknown} action the action taken from the answer
 * @returns {HTMLElement[]}
 */
function exchangeParts({ question, answer, ms, fault }, action) {
  const text = answer || (action === null || fault ? "" : JSON.stringify(action));
  return [
    element("h3", "", "It was asked"),
    block(question || (fault.startsWith("startup") ? NOT_ASKED : NOT_SAVED), "question"),
    element("h3", "", text ? "It answered " : "It gave no answer ", element("span", "muted", `after ${timeWords(ms)}`)),
    ...(text ? [block(text)] : []),
    ...(fault ? [block(fault, "refused")] : []),
  ];
}

/**
 * @param {Fault} fault
 * @returns {HTMLElement}
 */
function faultPart({ kind, words, expected, actual }) {
  const compared = expected ? `\nexpected: ${expected}\ncame: ${actual}` : "";
  return block(`${kind}: ${words}${compared}`, "refused");
}

/**
 * @param {any} report
 * @returns {HTMLElement[]}
 */
function todayParts({ before, after, changed, verdict, ms, stderr }) {
  const isFault = verdict !== "legal";
  return [
    element("h3", "", changed ? "Now it answers " : "Now it gives the same answer ", element("span", "muted", `after ${timeWords(ms)}`)),
    block(JSON.stringify(after), changed ? "changed" : ""),
    ...(changed ? [element("p", "muted", `in the match it was ${JSON.stringify(before)}`)] : []),
    ...(isFault ? [block(verdict, "refused")] : []),
    ...(stderr ? [element("h3", "", "Its output"), block(stderr)] : []),
  ];
}

/**
 * @param {string} text
 * @param {string} [kind]
 * @returns {HTMLElement}
 */
function block(text, kind = "") {
  const lines = element("pre", `lines ${kind}`.trim(), text);
  // What can be scrolled by mouse must be scrollable by keyboard too.
  lines.tabIndex = 0;
  return lines;
}
