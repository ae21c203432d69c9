/** The bot's standard error by turn, and the lines of its files named there. */

import { element } from "../shared/dom.js";
import { byId } from "./elements.js";

/** @typedef {{file: string, line: number, words: string, turn: number}} Mark */

/** Shows the output of a run. */
export class RunOutput {
  /**
   * @param {{turn: (turn: number) => void, line: (mark: Mark) => void}} page receives the targets of clicks
   */
  constructor(page) {
    this.page = page;
    /** @type {Map<number, HTMLElement>} */
    this.blocks = new Map();
  }

  /**
   * @param {[number, string][]} parts
   * @param {Mark[]} marks
   * @param {string} compiler its output
   */
  show(parts, marks, compiler) {
    this.blocks = new Map(parts.map(([turn, text]) => [turn, this.block(turn, text)]));
    const compilation = compiler ? [element("pre", "lines", compiler)] : [];
    byId("run-output").replaceChildren(...compilation, ...this.blocks.values());
    byId("run-marks").replaceChildren(...marks.map((mark) => this.row(mark)));
    byId("no-output").hidden = parts.length > 0 || compiler !== "";
  }

  /**
   * Add new output while the match is played.
   * @param {[number, string][]} parts all of them
   */
  grow(parts) {
    for (const [turn, text] of parts.slice(this.blocks.size)) {
      const block = this.block(turn, text);
      this.blocks.set(turn, block);
      byId("run-output").append(block);
    }
    byId("no-output").hidden = this.blocks.size > 0;
  }

  /**
   * @param {number} turn
   * @param {string} text
   * @returns {HTMLElement}
   */
  block(turn, text) {
    const button = element("button", "link", turn ? `turn ${turn}` : "at the start");
    button.type = "button";
    const lines = element("pre", "lines", text.replace(/^\n+/, "").trimEnd());
    const block = element("div", "block", button, lines);
    block.addEventListener("click", () => {
      // Selecting text to copy it must not navigate.
      if (getSelection()?.isCollapsed) {
        this.page.turn(turn);
      }
    });
    return block;
  }

  /**
   * @param {Mark} mark
   * @returns {HTMLElement}
   */
  row(mark) {
    const place = element("b", "", `${mark.file}, line ${mark.line}`);
    const button = element("button", "fault-line", place, ` ${mark.words}`, mark.turn ? element("span", "muted", ` turn ${mark.turn}`) : "");
    button.type = "button";
    button.addEventListener("click", () => this.page.line(mark));
    return element("li", "", button);
  }

  /** Scroll the output of the current turn into view. */
  reveal() {
    byId("run-output").querySelector(".shown")?.scrollIntoView({ block: "nearest" });
  }

  /**
   * Mark the output of the current turn.
   * @param {number} turn
   */
  point(turn) {
    for (const [number, block] of this.blocks) {
      const isShown = number === turn;
      if (isShown && !block.classList.contains("shown")) {
        block.scrollIntoView({ block: "nearest" });
      }
      block.classList.toggle("shown", isShown);
    }
  }
}
