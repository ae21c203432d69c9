/**
 * Segments, squares and areas of a board as in the status document: board[y][x] holds the drawn borders of a square in
 * its low four bits, and its owner above them.
 */

/** The bit of each border in a square. */
export const BORDERS = { top: 1, right: 2, bottom: 4, left: 8 };

const STEPS = [
  { bit: BORDERS.top, dx: 0, dy: -1 },
  { bit: BORDERS.right, dx: 1, dy: 0 },
  { bit: BORDERS.bottom, dx: 0, dy: 1 },
  { bit: BORDERS.left, dx: -1, dy: 0 },
];

/**
 * A segment: its ends as grid points, the square and bit that store it, and the squares on either side.
 * @typedef {{key: string, ends: number[], x: number, y: number, bit: number, sides: number[][]}}
 *   Segment
 */

/**
 * Return the owner of a square.
 * @param {number} square
 * @returns {0 | 1 | 2}
 */
export function owner(square) {
  return /** @type {0 | 1 | 2} */ ((square >> 4) & 3);
}

/**
 * List every segment of a board once.
 * @param {number} size squares in a row
 * @returns {Segment[]}
 */
export function allSegments(size) {
  const segments = [];
  for (let line = 0; line <= size; line++) {
    for (let at = 0; at < size; at++) {
      segments.push(horizontal(at, line, size), vertical(line, at, size));
    }
  }
  return segments;
}

/**
 * @param {number} x
 * @param {number} line 0 is the upper edge of the board
 * @param {number} size
 * @returns {Segment}
 */
function horizontal(x, line, size) {
  const last = line === size;
  const sides = [[x, line - 1], [x, line]].filter(([, y]) => y >= 0 && y < size);
  return {
    key: `h${x},${line}`,
    ends: [x, line, x + 1, line],
    x,
    y: last ? line - 1 : line,
    bit: last ? BORDERS.bottom : BORDERS.top,
    sides,
  };
}

/**
 * @param {number} line 0 is the left edge of the board
 * @param {number} y
 * @param {number} size
 * @returns {Segment}
 */
function vertical(line, y, size) {
  const last = line === size;
  const sides = [[line - 1, y], [line, y]].filter(([x]) => x >= 0 && x < size);
  return {
    key: `v${line},${y}`,
    ends: [line, y, line, y + 1],
    x: last ? line - 1 : line,
    y,
    bit: last ? BORDERS.right : BORDERS.left,
    sides,
  };
}

/**
 * Return the key of a move's segment, whichever of its two names is used.
 * @param {string} move "x,y,border", or "" for none
 * @returns {string}
 */
export function keyOf(move) {
  const [x, y, border] = move.split(",");
  const column = Number(x) + (border === "right" ? 1 : 0);
  const row = Number(y) + (border === "bottom" ? 1 : 0);
  const direction = border === "top" || border === "bottom" ? "h" : "v";
  return move && `${direction}${column},${row}`;
}

/**
 * Return whether a segment is "drawn", "free", or "inner": no longer free because it is inside a closed area.
 * @param {number[][]} board
 * @param {Segment} segment
 * @returns {"drawn" | "free" | "inner"}
 */
export function condition(board, segment) {
  if (board[segment.y][segment.x] & segment.bit) {
    return "drawn";
  }
  return segment.sides.some(([x, y]) => owner(board[y][x])) ? "inner" : "free";
}

/**
 * List the closed areas of a board.
 * @param {number[][]} board
 * @returns {{owner: 1 | 2, squares: number[][]}[]}
 */
export function areas(board) {
  const members = new Set();
  /** @type {{owner: 1 | 2, squares: number[][]}[]} */
  const closedAreas = [];
  board.forEach((row, y) => row.forEach((square, x) => {
    const player = owner(square);
    if (player && !members.has(`${x},${y}`)) {
      closedAreas.push({ owner: player, squares: squaresFrom(board, x, y, members) });
    }
  }));
  return closedAreas;
}

/**
 * List the squares reachable from one without crossing a drawn segment.
 * @param {number[][]} board
 * @param {number} x
 * @param {number} y
 * @param {Set<string>} members squares already in an area; new ones are added
 * @returns {number[][]}
 */
function squaresFrom(board, x, y, members) {
  const squares = [[x, y]];
  members.add(`${x},${y}`);
  for (const [atX, atY] of squares) {
    for (const { bit, dx, dy } of STEPS) {
      const name = `${atX + dx},${atY + dy}`;
      if (!(board[atY][atX] & bit) && !members.has(name)) {
        members.add(name);
        squares.push([atX + dx, atY + dy]);
      }
    }
  }
  return squares;
}
