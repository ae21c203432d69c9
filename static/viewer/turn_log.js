/** The event log of a page: every turn as text, created when it is opened. */

import { element } from "../shared/dom.js";

/** Turns shown at once. */
const PART = 200;

/**
 * @typedef {import("./turn_list.js").Source} Source
 */

/** Shows a match turn by turn. */
export class TurnLog {
  /**
   * @param {HTMLDetailsElement} root with a list, and a button for more turns
   * @param {() => {source: Source, last: number} | null} content returns what may be shown, and up to which turn
   */
  constructor(root, content) {
    this.list = /** @type {HTMLElement} */ (root.querySelector("ol"));
    this.more = /** @type {HTMLButtonElement} */ (root.querySelector("button"));
    this.content = content;
    /** @type {number | null} the first turn not shown yet */
    this.next = null;
    root.addEventListener("toggle", () => { this.list.replaceChildren(); this.next = null; this.tell(root.open); });
    this.more.addEventListener("click", () => this.tell(true));
  }

  /**
   * Show the next turns.
   * @param {boolean} open
   */
  tell(open) {
    const content = open ? this.content() : null;
    if (content) {
      // The start is shown only if bots were asked about it.
      this.next ??= content.source.events(0).length > 0 ? 0 : 1;
      const first = this.next;
      const end = Math.min(content.last, first + PART - 1);
      for (let turn = first; turn <= end; turn++) {
        this.list.append(element("li", "", element("b", "", `Turn ${turn}`), sentencesOf(turn, content.source)));
      }
      this.next = end + 1;
      this.more.hidden = end >= content.last;
    }
  }
}

/**
 * Return the actions of a turn, and their results.
 * @param {number} turn
 * @param {Source} source
 * @returns {HTMLElement}
 */
function sentencesOf(turn, { replay, actionsOf, events }) {
  const turnActions = actionsOf(turn).map(({ seat, text }) => `${replay.seats[seat]?.name ?? ""}: ${text}`);
  const lines = [...turnActions, ...events(turn).map(({ text }) => text)];
  return element("ul", "", ...(lines.length ? lines : ["nothing"]).map((text) => element("li", "", text)));
}
