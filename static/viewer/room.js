/** The available height for the board: it and the buttons under it should fit on every page. */

/** Pixels to keep free below the buttons. */
const MARGIN = 10;

/** Tells the styles how much height the page needs besides the board. */
export class Room {
  /** @param {HTMLElement} root of the viewer */
  constructor(root) {
    this.boards = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("#stage, #outline")]);
    this.controls = /** @type {HTMLElement} */ (root.querySelector(".controls"));
    const observer = new ResizeObserver(() => this.measure());
    [document.body, root, this.controls].forEach((part) => observer.observe(part));
  }

  /** Measure the height above the board and, down to the buttons, below it. */
  measure() {
    const board = this.boards.find(({ offsetHeight }) => offsetHeight > 0)?.getBoundingClientRect();
    if (board) {
      const below = this.controls.getBoundingClientRect().bottom - board.bottom;
      const height = Math.ceil(board.top + window.scrollY + below + MARGIN);
      document.documentElement.style.setProperty("--taken", `${height}px`);
    }
  }
}
