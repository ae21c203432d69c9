/** The switch for coordinates, and the square under the pointer. */

import { squareText } from "./words.js";

/** @type {Record<string, [number, number]>} right and down */
const ARROWS = { ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowDown: [0, 1], ArrowLeft: [-1, 0] };

/** Names the squares of a board picture, by pointer and by keyboard. */
export class Coordinates {
  /**
   * @param {import("./board.js").BoardPicture} picture
   * @param {HTMLElement} frame what takes the focus and the pointer
   * @param {HTMLInputElement} control the switch
   * @param {HTMLElement} readout
   */
  constructor(picture, frame, control, readout) {
    this.picture = picture;
    this.frame = frame;
    this.control = control;
    this.readout = readout;
    /** @type {import("./board.js").Square | null} */
    this.square = null;
    /** @type {import("./words.js").View | null} */
    this.view = null;
    control.checked = window.memory.recall("coordinates", "off") === "on";
    control.addEventListener("change", () => this.change());
    frame.addEventListener("pointerdown", (event) => this.follow(event));
    frame.addEventListener("pointermove", (event) => this.follow(event));
    frame.addEventListener("pointerleave", (event) => this.leave(event));
    frame.addEventListener("focus", () => this.point(this.square ?? [0, 0]));
    frame.addEventListener("blur", () => this.point(null));
    frame.addEventListener("keydown", (event) => this.step(event));
    this.apply();
  }

  /** Store a new choice. */
  change() {
    window.memory.keep("coordinates", this.control.checked ? "on" : "off");
    this.apply();
  }

  /** Show or hide the coordinates. */
  apply() {
    this.frame.classList.toggle("with-coordinates", this.control.checked);
    this.frame.tabIndex = this.control.checked ? 0 : -1;
    this.point(null);
  }

  /** @param {import("./words.js").View} view */
  show(view) {
    this.view = view;
    const { square } = this;
    this.point(square?.every((index) => index < view.status.board_size) ? square : null);
  }

  /** @param {PointerEvent} event */
  follow(event) {
    this.point(this.picture.squareAt(event.clientX, event.clientY));
  }

  /** @param {PointerEvent} event */
  leave(event) {
    // A finger leaves right after a tap: what it pointed at stays.
    if (event.pointerType !== "touch") {
      this.point(null);
    }
  }

  /** @param {KeyboardEvent} event */
  step(event) {
    const arrow = ARROWS[event.key];
    if (arrow && this.view && this.control.checked) {
      event.preventDefault();
      const most = this.view.status.board_size - 1;
      const [x, y] = this.square ?? [0, 0];
      const within = (/** @type {number} */ at) => Math.min(most, Math.max(0, at));
      this.point([within(x + arrow[0]), within(y + arrow[1])]);
    }
  }

  /** @param {import("./board.js").Square | null} square null for none */
  point(square) {
    const { view } = this;
    this.square = this.control.checked && view ? square : null;
    this.picture.point(this.square);
    const text = view && this.square ? squareText(view, ...this.square) : "";
    if (this.readout.textContent !== text) {
      this.readout.textContent = text;
    }
  }
}
