/** How high the board may be, so that it and the buttons under it are seen as a whole on every page. */

/** Pixels that stay free below the buttons. */
const MARGIN = 10;

/** Tells the styles what the page needs beside the board, whatever stands above and below it. */
export class Room {
  /** @param {HTMLElement} root of the viewer */
  constructor(root) {
    this.boards = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("#stage, #outline")]);
    this.controls = /** @type {HTMLElement} */ (root.querySelector(".controls"));
    const observer = new ResizeObserver(() => this.measure());
    [document.body, root, this.controls].forEach((part) => observer.observe(part));
  }

  /** Measure what stands above the board and, down to the buttons, below it. */
  measure() {
    const board = this.boards.find(({ offsetHeight }) => offsetHeight > 0)?.getBoundingClientRect();
    if (board) {
      const below = this.controls.getBoundingClientRect().bottom - board.bottom;
      const height = Math.ceil(board.top + window.scrollY + below + MARGIN);
      document.documentElement.style.setProperty("--taken", `${height}px`);
    }
  }
}
