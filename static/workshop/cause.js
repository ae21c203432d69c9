/** What went wrong first in a run: above its result, and in the words of whatever complained. */

import { element } from "../shared/dom.js";
import { byId } from "./elements.js";

/** @typedef {{turn: number, place: string, words: string}} Fault the first thing that the bot did wrong in a match, and where */

/** Shows the cause of a failure. */
export class Cause {
  /**
   * @param {{turn: (turn: number) => void, line: (mark: import("./output.js").Mark) => void}} page is told where clicks lead
   */
  constructor(page) {
    this.page = page;
  }

  /**
   * Show the marked line, or else the fault; nothing without either.
   * @param {import("./output.js").Mark | null} mark
   * @param {Fault | null} fault
   */
  show(mark, fault) {
    byId("cause").replaceChildren(...(mark ? [this.ofMark(mark)] : fault ? [this.ofFault(fault)] : []));
  }

  /** @param {import("./output.js").Mark} mark */
  ofMark(mark) {
    return link(`${mark.file}, line ${mark.line}`, mark.words, () => this.page.line(mark));
  }

  /** @param {Fault} fault */
  ofFault({ turn, place, words }) {
    return link(place, words, () => this.page.turn(turn));
  }
}

/**
 * @param {string} place
 * @param {string} words
 * @param {() => void} follow
 * @returns {HTMLElement}
 */
function link(place, words, follow) {
  const button = element("button", "link", element("b", "", place), `: ${words}`);
  button.type = "button";
  button.addEventListener("click", follow);
  return button;
}
