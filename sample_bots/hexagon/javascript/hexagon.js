'use strict';
// Hexagon for bots: the web service, the board, and the events that a bot answers.

const { serve } = require('./bot_server');

/** @typedef {[number, number]} Cell row and column */
/** @typedef {[Cell, Cell]} Move moveFrom and moveTo */
/** @typedef {[number, number, number, number]} Change row, column, old value, new value */

/**
 * What you write: `choose`, and whichever of the other events you want to hear of.
 * @typedef {object} Bot
 * @property {(board: Board, color: number, training: boolean) => void} [onStart]
 *   a game begins, and `color` is yours
 * @property {(board: Board, color: number, jumps: number) => Move} choose
 *   give your move; `jumps` is how many jumps you have
 * @property {(board: Board, changes: Change[]) => void} [onChanges]
 *   a move has changed this, yours or the opponent's; it is on the board already
 * @property {(board: Board) => void} [onEnd] a game is over
 */

/** Games that are remembered; when one more comes, the oldest is forgotten. */
const MAX_GAMES = 64;

/**
 * Steps by distance, for even rows and for odd rows.
 * @type {Record<number, Cell[][]>}
 */
const OFFSETS = {
  1: [
    [[-1, -1], [-1, 0], [0, -1], [0, 1], [1, -1], [1, 0]],
    [[-1, 0], [-1, 1], [0, -1], [0, 1], [1, 0], [1, 1]],
  ],
  2: [
    [[-2, -1], [-2, 0], [-2, 1], [-1, -2], [-1, 1], [0, -2],
      [0, 2], [1, -2], [1, 1], [2, -1], [2, 0], [2, 1]],
    [[-2, -1], [-2, 0], [-2, 1], [-1, -1], [-1, 2], [0, -2],
      [0, 2], [1, -1], [1, 2], [2, -1], [2, 0], [2, 1]],
  ],
};

/**
 * A game: `cells[i][j]` is -1 stone, 0 empty, 1 or 2 a chip of that colour.
 *
 * `jumps[color]` is how many jumps a colour may make now, `placed[color]` how many chips it has
 * placed; `memory` is yours and lives as long as the game.
 */
class Board {
  /**
   * @param {string} id
   * @param {number[][]} cells
   * @param {Record<number, number>} jumps
   */
  constructor(id, cells, jumps) {
    this.id = id;
    this.size = (cells.length + 1) / 2;
    this.cells = cells;
    this.jumps = jumps;
    /** @type {Record<number, number>} */
    this.placed = { 1: 0, 2: 0 };
    for (const value of cells.flat()) if (value > 0) this.placed[value] += 1;
    /** @type {any} */
    this.memory = null;
  }

  /** Gives an independent board, to try moves on; it shares the memory. */
  copy() {
    const made = new Board(this.id, this.cells.map((row) => [...row]), { ...this.jumps });
    made.placed = { ...this.placed };
    made.memory = this.memory;
    return made;
  }

  /**
   * Gives the cells of the array at distance 1 or 2.
   * @param {Cell} cell
   * @param {number} distance
   * @returns {Cell[]}
   */
  neighbours([i, j], distance) {
    const side = this.cells.length;
    /** @type {Cell[]} */
    const near = OFFSETS[distance][i % 2].map(([di, dj]) => [i + di, j + dj]);
    return near.filter(([a, b]) => a >= 0 && a < side && b >= 0 && b < side);
  }

  /**
   * Gives all moves of a colour.
   * @param {number} color
   * @returns {Move[]}
   */
  legalMoves(color) {
    const distances = this.jumps[color] > 0 ? [1, 2] : [1];
    /** @type {Move[]} */
    const moves = [];
    this.cells.forEach((row, i) => row.forEach((value, j) => {
      if (value !== color) return;
      for (const distance of distances) {
        for (const target of this.neighbours([i, j], distance)) {
          if (this.cells[target[0]][target[1]] === 0) moves.push([[i, j], target]);
        }
      }
    }));
    return moves;
  }

  /**
   * Makes a legal move; gives what it changed.
   * @param {number} color
   * @param {Move} move
   * @returns {Change[]}
   */
  play(color, [moveFrom, moveTo]) {
    /** @type {Change[]} */
    const changes = [[...moveTo, 0, color]];
    if (this.neighbours(moveFrom, 1).some(([i, j]) => i === moveTo[0] && j === moveTo[1])) {
      this.placed[color] += 1;
      if (this.placed[color] % 2 === 0) this.jumps[color] += 1;
    } else {
      this.jumps[color] -= 1;
      changes.unshift([...moveFrom, color, 0]);
    }
    for (const [i, j] of this.neighbours(moveTo, 1)) {
      if (this.cells[i][j] === 3 - color) changes.push([i, j, 3 - color, color]);
    }
    this.write(changes);
    return changes;
  }

  /**
   * Writes changes to the cells.
   * @param {Change[]} changes
   */
  write(changes) {
    for (const [i, j, , value] of changes) this.cells[i][j] = value;
  }
}

class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Serves the bot on PORT, 3000 by default.
 * @param {Bot} bot
 */
function run(bot) {
  const service = new Service(bot);
  serve((request) => service.handle(request), 3000);
}

class Service {
  /** @param {Bot} bot */
  constructor(bot) {
    this.bot = bot;
    /** @type {Map<string, Board>} */
    this.games = new Map();
  }

  /** @param {import('./bot_server').Request} request */
  handle(request) {
    try {
      return reply(200, { status: 'ok', ...this.dispatch(request) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return reply(error.status, { status: 'error', message: error.message });
    }
  }

  /** @param {import('./bot_server').Request} request */
  dispatch({ method, path, query, body }) {
    if (method === 'POST' && path === '/games') return this.post(read(body));
    const parts = path.split('/');
    if (parts.length !== 3 || parts[1] !== 'games') throw new Refusal(404, `there is no ${path}`);
    if (method === 'GET') return this.get(this.find(parts[2]), query.get('color'));
    if (method === 'PUT') return this.put(this.find(parts[2]), read(body));
    if (method === 'DELETE') return this.delete(parts[2]);
    throw new Refusal(404, `there is no ${method} ${path}`);
  }

  /** @param {string} id */
  find(id) {
    const board = this.games.get(id);
    if (!board) throw new Refusal(404, `there is no game ${id}`);
    return board;
  }

  /** @param {any} document */
  post(document) {
    if (typeof document.id !== 'string' || !isSquare(document.board?.cells)
        || !isJumps(document.jumps)) {
      throw new Refusal(400, 'this is not a valid game');
    }
    const board = new Board(document.id, document.board.cells, jumpsOf(document));
    this.delete(board.id);
    this.games.set(board.id, board);
    if (this.games.size > MAX_GAMES) this.delete([...this.games.keys()][0]);
    this.bot.onStart?.(board, document.first_turn ? 1 : 2, Boolean(document.training));
    return {};
  }

  /**
   * @param {Board} board
   * @param {string | null} text
   */
  get(board, text) {
    if (text !== '1' && text !== '2') throw new Refusal(400, 'color must be 1 or 2');
    const color = Number(text);
    if (board.legalMoves(color).length === 0) {
      throw new Refusal(409, `colour ${color} has no legal move`);
    }
    const [moveFrom, moveTo] = this.bot.choose(board, color, board.jumps[color]);
    return { move_from: moveFrom, move_to: moveTo };
  }

  /**
   * @param {Board} board
   * @param {any} document
   */
  put(board, document) {
    const { changes, jumps } = document;
    if (!isJumps(jumps) || !isChanges(changes, board.cells.length)) {
      throw new Refusal(400, 'the changes are invalid');
    }
    board.write(changes);
    board.jumps = jumpsOf(document);
    if (changes.length && changes[0][3] > 0) board.placed[changes[0][3]] += 1;
    this.bot.onChanges?.(board, changes);
    return {};
  }

  /** @param {string} id */
  delete(id) {
    const board = this.games.get(id);
    this.games.delete(id);
    if (board) this.bot.onEnd?.(board);
    return {};
  }
}

/**
 * @param {number} status
 * @param {object} document
 */
function reply(status, document) {
  return { status, body: JSON.stringify(document) };
}

/** @param {Buffer} body */
function read(body) {
  try {
    const document = JSON.parse(body.toString());
    if (document !== null && typeof document === 'object') return document;
  } catch {
    // Refused below.
  }
  throw new Refusal(400, 'the body is not a JSON object');
}

/** @param {any} cells */
function isSquare(cells) {
  return Array.isArray(cells) && cells.length % 2 === 1 && cells.every((row) => (
    Array.isArray(row) && row.length === cells.length && row.every(Number.isInteger)));
}

/** @param {any} jumps */
function isJumps(jumps) {
  return Number.isInteger(jumps?.['1']) && Number.isInteger(jumps?.['2']);
}

/** @param {any} document */
function jumpsOf({ jumps }) {
  return { 1: jumps['1'], 2: jumps['2'] };
}

/**
 * @param {any} changes
 * @param {number} side
 */
function isChanges(changes, side) {
  return Array.isArray(changes) && changes.every((change) => (
    Array.isArray(change) && change.length === 4 && change.every(Number.isInteger)
    && change[0] >= 0 && change[0] < side && change[1] >= 0 && change[1] < side));
}

module.exports = { Board, run };
