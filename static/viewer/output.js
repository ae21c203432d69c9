/** The bots' standard error, if the server lets the page see it. */

import { element } from "../shared/dom.js";
import { badge, byId } from "./elements.js";

/** Each player's output by turn, and all of it at the end of the page. */
export class Output {
  constructor() {
    /** @type {Map<number, string[]>} */
    this.turns = new Map();
  }

  /**
   * Return the bots' output in a turn.
   * @param {number} turn
   * @returns {string[]} by seat
   */
  at(turn) {
    return this.turns.get(turn) ?? [];
  }

  /**
   * Fetch the bots' output in a match; a page without access has no place for it.
   * @param {import("./replay.js").Replay} replay that is over
   */
  async load(replay) {
    const part = byId("output-part");
    const address = byId("viewer").dataset.output;
    this.turns = new Map();
    if (!part || !address) {
      return;
    }
    const answer = await fetch(address).catch(() => null);
    /** @type {{output: string[], turns: [number, string][][]}} */
    const { output, turns } = answer?.ok ? await answer.json() : { output: [], turns: [] };
    this.sort(turns, replay);
    const blocks = replay.seats.filter(({ index }) => output[index]).map((seat) => blockOf(seat, output[seat.index]));
    byId("output").replaceChildren(...blocks);
    part.hidden = blocks.length === 0;
    // The end matters most: after a crash, the reason is there.
    part.querySelectorAll("pre").forEach((text) => { text.scrollTop = text.scrollHeight; });
  }

  /**
   * Store each player's output by turn.
   * @param {[number, string][][]} players by seat
   * @param {import("./replay.js").Replay} replay
   */
  sort(players, replay) {
    for (const [seat, parts] of players.entries()) {
      for (const [turn, text] of parts) {
        const at = replay.shownWith(turn);
        const texts = this.turns.get(at) ?? [];
        texts[seat] = (texts[seat] ?? "") + text;
        this.turns.set(at, texts);
      }
    }
  }
}

/**
 * @param {import("./replay.js").Seat} seat
 * @param {string} text
 * @returns {HTMLElement}
 */
function blockOf({ index, name }, text) {
  const words = element("pre", "scroller", text);
  words.tabIndex = 0;
  words.setAttribute("role", "region");
  words.setAttribute("aria-label", `Output of ${name}`);
  return element("div", "", element("h3", "", badge(index), name), words);
}
