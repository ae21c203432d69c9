/** The visible part of the board: converts between board units (cells) and pixels of the page. */

const LARGEST_CELL = 120;

/** The maximum share of the picture beyond the board; larger if the board wraps around. */
const SLACK = { bounded: 0.4, wrapped: 0.5 };

/** A window on the board. */
export class Camera {
  constructor() {
    this.board = { width: 1, height: 1 };
    this.width = 1;
    this.height = 1;
    this.padding = 0;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.fitted = true;
    this.slack = SLACK.bounded;
  }

  /**
   * Switch to another board.
   * @param {{width: number, height: number}} board
   * @param {boolean} wraps whether it wraps around at its edges
   */
  open(board, wraps) {
    Object.assign(this, { board, fitted: true, slack: wraps ? SLACK.wrapped : SLACK.bounded });
  }

  /** The board position in the middle of the picture. */
  get middle() {
    return this.toBoard(this.width / 2, this.height / 2);
  }

  /** Pixels per cell at which the whole board is visible. */
  get fitScale() {
    const across = (this.width - 2 * this.padding) / this.board.width;
    const down = (this.height - 2 * this.padding) / this.board.height;
    const scale = Math.max(0.1, Math.min(across, down, LARGEST_CELL));
    // Whole pixels avoid seams between cells; small cells would shrink too much.
    return scale > 14 ? Math.floor(scale) : scale;
  }

  /** Whether only a part of the board is visible. */
  get isClose() {
    return this.scale > this.fitScale * 1.05;
  }

  /**
   * Set the size of the picture in pixels of the page.
   * @param {number} width
   * @param {number} height
   * @param {number} padding
   */
  resize(width, height, padding) {
    const { middle } = this;
    Object.assign(this, { width, height, padding });
    if (this.fitted) {
      this.fit();
    } else {
      this.lookAt(middle.x, middle.y);
    }
  }

  /** Show the whole board. */
  fit() {
    this.fitted = true;
    this.scale = this.fitScale;
    this.lookAt(this.board.width / 2, this.board.height / 2);
  }

  /**
   * Show cells of a given size, keeping the middle of the picture.
   * @param {number} scale pixels of a cell
   */
  closeUp(scale) {
    const { middle } = this;
    Object.assign(this, { scale, fitted: false });
    this.lookAt(middle.x, middle.y);
  }

  /**
   * Move a position on the board to the middle.
   * @param {number} x
   * @param {number} y
   */
  lookAt(x, y) {
    this.x = x - this.width / 2 / this.scale;
    this.y = y - this.height / 2 / this.scale;
    this.hold();
  }

  /**
   * Zoom in or out around a pixel.
   * @param {number} factor
   * @param {number} left
   * @param {number} top
   */
  zoom(factor, left = this.width / 2, top = this.height / 2) {
    const at = this.toBoard(left, top);
    const least = this.fitScale;
    this.scale = Math.min(Math.max(this.scale * factor, least), Math.max(LARGEST_CELL, least));
    this.fitted = this.scale <= least;
    this.x = at.x - left / this.scale;
    this.y = at.y - top / this.scale;
    this.hold();
  }

  /**
   * Move the board by pixels.
   * @param {number} right
   * @param {number} down
   */
  pan(right, down) {
    this.x -= right / this.scale;
    this.y -= down / this.scale;
    this.hold();
  }

  /** Keep the board in view. */
  hold() {
    this.x = clamp(this.x, this.width / this.scale, this.board.width, this.slack);
    this.y = clamp(this.y, this.height / this.scale, this.board.height, this.slack);
  }

  /**
   * @param {number} left
   * @param {number} top
   * @returns {{x: number, y: number}}
   */
  toBoard(left, top) {
    return { x: this.x + left / this.scale, y: this.y + top / this.scale };
  }

  /**
   * Return where a point of the board is in the picture.
   * @param {number} x
   * @param {number} y
   * @returns {{left: number, top: number}} pixels
   */
  toPicture(x, y) {
    return { left: (x - this.x) * this.scale, top: (y - this.y) * this.scale };
  }
}

/**
 * @param {number} from start of the window
 * @param {number} length its length
 * @param {number} board the board's
 * @param {number} part share of the window that may be beyond the board
 * @returns {number}
 */
function clamp(from, length, board, part) {
  if (length >= board) {
    return (board - length) / 2;
  }
  const slack = length * part;
  return Math.min(Math.max(from, -slack), board - length + slack);
}
