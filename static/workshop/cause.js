/** The first cause of a failed run: shown above its result, in the original words. */

import { element } from "../shared/dom.js";
import { byId } from "./elements.js";

/** @typedef {{turn: number, place: string, words: string}} Fault the bot's first fault in a match, and where */

/** Shows the cause of a failure. */
export class Cause {
  /**
   * @param {{turn: (turn: number) => void, line: (mark: import("./output.js").Mark) => void}} page receives the targets of clicks
   */
  constructor(page) {
    this.page = page;
  }

  /**
   * Show the marked line, or else the fault, or nothing.
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
