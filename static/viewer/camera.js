/** Which part of the board is seen: board units (cells) to pixels of the page and back. */

const LARGEST_CELL = 120;

/** What part of the picture may show what is beyond the board; more where the board goes on there. */
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
   * Take another board.
   * @param {{width: number, height: number}} board
   * @param {boolean} wraps whether it goes on beyond its edges
   */
  open(board, wraps) {
    Object.assign(this, { board, fitted: true, slack: wraps ? SLACK.wrapped : SLACK.bounded });
  }

  /** The place in the middle of the picture. */
  get middle() {
    return this.toBoard(this.width / 2, this.height / 2);
  }

  /** The pixels of a cell with which the whole board is seen. */
  get fitScale() {
    const across = (this.width - 2 * this.padding) / this.board.width;
    const down = (this.height - 2 * this.padding) / this.board.height;
    const scale = Math.max(0.1, Math.min(across, down, LARGEST_CELL));
    // Whole pixels leave no seams between cells; small cells would lose too much by it.
    return scale > 14 ? Math.floor(scale) : scale;
  }

  /** Whether only a part of the board is seen. */
  get isClose() {
    return this.scale > this.fitScale * 1.05;
  }

  /**
   * Take the size of the picture in pixels of the page.
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
   * Show cells of a size, around the middle of the picture.
   * @param {number} scale pixels of a cell
   */
  closeUp(scale) {
    const { middle } = this;
    Object.assign(this, { scale, fitted: false });
    this.lookAt(middle.x, middle.y);
  }

  /**
   * Put a place of the board into the middle.
   * @param {number} x
   * @param {number} y
   */
  lookAt(x, y) {
    this.x = x - this.width / 2 / this.scale;
    this.y = y - this.height / 2 / this.scale;
    this.hold();
  }

  /**
   * Come closer, or go away, with what is at a pixel staying there.
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

  /** Keep the board in sight. */
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
   * Tell where a point of the board is in the picture.
   * @param {number} x
   * @param {number} y
   * @returns {{left: number, top: number}} pixels
   */
  toPicture(x, y) {
    return { left: (x - this.x) * this.scale, top: (y - this.y) * this.scale };
  }
}

/**
 * @param {number} from where the window begins
 * @param {number} length its length
 * @param {number} board the board's
 * @param {number} part of the window that may show what is beyond
 * @returns {number}
 */
function clamp(from, length, board, part) {
  if (length >= board) {
    return (board - length) / 2;
  }
  const slack = length * part;
  return Math.min(Math.max(from, -slack), board - length + slack);
}
