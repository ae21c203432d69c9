/** The event log of a page: every turn in words, made when it is opened. */

import { element } from "../shared/dom.js";

/** Turns that are told at once. */
const PART = 200;

/**
 * @typedef {import("./turns.js").Source} Source
 */

/** Tells a match turn by turn. */
export class TurnLog {
  /**
   * @param {HTMLDetailsElement} root with a list, and a button for more of it
   * @param {() => {source: Source, last: number} | null} content gives what may be told, up to which turn
   */
  constructor(root, content) {
    this.list = /** @type {HTMLElement} */ (root.querySelector("ol"));
    this.more = /** @type {HTMLButtonElement} */ (root.querySelector("button"));
    this.content = content;
    /** @type {number | null} the first turn that is not told */
    this.next = null;
    root.addEventListener("toggle", () => { this.list.replaceChildren(); this.next = null; this.tell(root.open); });
    this.more.addEventListener("click", () => this.tell(true));
  }

  /**
   * Tell the next turns.
   * @param {boolean} open
   */
  tell(open) {
    const content = open ? this.content() : null;
    if (content) {
      // Of the start something is told only where bots were asked about it.
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
 * Give what was done in a turn, and what came of it.
 * @param {number} turn
 * @param {Source} source
 * @returns {HTMLElement}
 */
function sentencesOf(turn, { replay, deedsOf, events }) {
  const deeds = deedsOf(turn).map(({ seat, text }) => `${replay.seats[seat]?.name ?? ""}: ${text}`);
  const lines = [...deeds, ...events(turn).map(({ text }) => text)];
  return element("ul", "", ...(lines.length ? lines : ["nothing"]).map((text) => element("li", "", text)));
}
