/** The events of the current turn: faults first, then events, actions, and the bots' output. */

import { element } from "../shared/dom.js";
import { badge } from "./elements.js";
import { didWrong, partsOfDetail } from "./faults.js";
import { doing, timeWords } from "./words.js";

/** Maximum number of players whose actions are listed. */
const MOST_LISTED = 24;

/**
 * The content of a turn.
 * @typedef {object} Content
 * @property {import("./replay.js").Replay} replay
 * @property {number} turn
 * @property {import("./games/game.js").Happening[]} turnActions
 * @property {import("./games/game.js").Event[]} events those that are not faults
 * @property {string[]} output each player's output in the turn, "" for none
 * @property {string} ending why the match ended, "" before its end
 */

/** The events of a turn as a list; an open traceback stays open in later turns. */
export class TurnSummary {
  /** @param {HTMLElement} list */
  constructor(list) {
    this.list = list;
    this.isOpen = false;
  }

  /** @param {Content} content */
  show(content) {
    const { replay, turn, turnActions, events, output, ending } = content;
    const faults = replay.faults.get(turn) ?? [];
    const faulty = new Set(faults.map(({ player }) => replay.seat(player)));
    const writers = replay.seats.filter(({ index }) => output[index] && !faulty.has(index));
    const rows = [
      ...faults.map((fault) => this.faultRow(fault, content)),
      ...events.map(({ kind, text }) => element("li", `event ${kind}`, element("span", "", text))),
      ...(ending ? [element("li", "event end", element("span", "", ending))] : []),
      ...actionRows(replay, turn, turnActions),
      ...writers.map(({ index, name }) => outputRow(index, name, output[index])),
    ];
    const start = element("li", "muted", "The start: nothing has happened yet.");
    this.list.replaceChildren(...(rows.length || turn > 0 ? rows : [start]));
  }

  /**
   * @param {import("./replay.js").Fault} fault
   * @param {Content} content
   * @returns {HTMLElement}
   */
  faultRow(fault, { replay, output }) {
    const { player, detail } = fault;
    const seat = replay.seat(player);
    const { exception, how, output: quote } = partsOfDetail(detail);
    const who = doing(replay.name(player), didWrong(fault));
    // Beside an exception, what was expected instead does not matter.
    const why = exception ? how.replace(/, expected \d+$/, "") : how;
    const sentence = element("p", "", exception ? who : element("b", "", who), why ? `: ${why}` : "");
    const first = exception ? [element("p", "exception", exception)] : [];
    const text = output[seat] || quote;
    const rest = text ? [this.traceback(replay.name(player), exception, text)] : [];
    return element("li", "event fault", badge(seat), element("div", "did", ...first, sentence, ...rest));
  }

  /**
   * @param {string} name
   * @param {string} exception
   * @param {string} text
   * @returns {HTMLElement}
   */
  traceback(name, exception, text) {
    const summary = element("summary", "", exception ? "Full traceback" : "Its output");
    const details = element("details", "", summary, outputText(name, text));
    details.open = this.isOpen;
    details.addEventListener("toggle", () => { this.isOpen = details.open; });
    return details;
  }
}

/**
 * @param {import("./replay.js").Replay} replay
 * @param {number} turn
 * @param {import("./games/game.js").Happening[]} turnActions
 * @returns {HTMLElement[]}
 */
function actionRows(replay, turn, turnActions) {
  const times = turn > 0 ? replay.document.turns[turn - 1].ms ?? {} : {};
  const rows = turnActions.slice(0, MOST_LISTED).map(({ seat, text }) => {
    const { key = "", name = "" } = replay.seats[seat] ?? {};
    const took = Object.hasOwn(times, key) ? [element("span", "took", timeWords(Number(times[key])))] : [];
    return element("li", "", badge(seat), element("span", "did", element("b", "", name), ` ${text}`), ...took);
  });
  const more = turnActions.length - rows.length;
  return more > 0 ? [...rows, element("li", "muted", `and ${more} more players`)] : rows;
}

/**
 * @param {number} seat
 * @param {string} name
 * @param {string} text
 * @returns {HTMLElement}
 */
function outputRow(seat, name, text) {
  return element("li", "wrote", badge(seat), element("div", "did", element("b", "", name), " wrote:", outputText(name, text)));
}

/**
 * Show a bot's output, line by line.
 * @param {string} name
 * @param {string} text
 * @returns {HTMLElement}
 */
function outputText(name, text) {
  const lines = element("pre", "lines", text.trimEnd());
  lines.tabIndex = 0;
  lines.setAttribute("role", "region");
  lines.setAttribute("aria-label", `Output of ${name} in this turn`);
  return lines;
}
