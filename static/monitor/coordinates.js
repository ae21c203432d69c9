/** The switch that shows coordinates, and the square that the viewer points at. */

import { squareText } from "./words.js";

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
    Object.assign(this, { picture, frame, control, readout, square: null, view: null });
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

  /** Take a new choice. */
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
    const fits = this.square?.every((index) => index < view.status.board_size);
    this.point(fits ? this.square : null);
  }

  /** @param {PointerEvent} event */
  follow(event) {
    this.point(this.picture.squareAt(event.clientX, event.clientY));
  }

  /** @param {PointerEvent} event */
  leave(event) {
    // A finger leaves as soon as it has tapped: what it pointed at stays.
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
      const from = this.square ?? [0, 0];
      this.point(from.map((at, axis) => Math.min(most, Math.max(0, at + arrow[axis]))));
    }
  }

  /** @param {number[] | null} square x and y, null for none */
  point(square) {
    this.square = this.control.checked && this.view ? square : null;
    this.picture.point(this.square);
    const text = this.square ? squareText(this.view, ...this.square) : "";
    if (this.readout.textContent !== text) {
      this.readout.textContent = text;
    }
  }
}
