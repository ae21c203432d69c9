'use strict';
// Paint for bots: the conversation over standard input and output, and its events.

const readline = require('node:readline');
const fs = require('node:fs');

/** @typedef {[number, number]} Square row and column */
/** @typedef {['walk' | 'shoot', Square]} Action type and direction */

/**
 * The board of a turn: `colors[row][col]` is a player id or null, `playerId` is yours.
 * @typedef {object} State
 * @property {string} playerId
 * @property {number} turnsLeft counts this turn too
 * @property {number} width
 * @property {number} height
 * @property {Record<string, Square>} playerPositions
 * @property {(string | null)[][]} colors
 * @property {Record<string, {type: string, direction: Square}>[]} previousActions
 *   one object a turn, the oldest first
 * @property {Square[]} obstacles
 * @property {() => Square} position gives the square of your avatar
 * @property {(row: number, col: number) => boolean} isFree
 *   tells whether a square is on the board and no obstacle
 */

/**
 * What you write: `choose`, and whichever of the other events you want to hear of.
 * @typedef {object} Bot
 * @property {(playerId: string) => void} [onStart]
 *   this is who you are; there are 5 s until you must be ready
 * @property {(state: State) => Action} choose give your action; there is 0.5 s for it
 * @property {() => void} [onEnd] the game is over
 */

/**
 * The eight directions [drow, dcol]; row grows downward.
 * @type {Square[]}
 */
const DIRECTIONS = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]];

/**
 * The 16 actions.
 * @type {Action[]}
 */
const ACTIONS = [
  ...DIRECTIONS.map((direction) => /** @type {Action} */ (['walk', direction])),
  ...DIRECTIONS.map((direction) => /** @type {Action} */ (['shoot', direction])),
];

/**
 * Plays until the referee closes our input.
 * @param {Bot} bot
 */
function run(bot) {
  process.on('SIGTERM', () => process.exit(0));
  process.on('SIGINT', () => process.exit(0));
  let playerId = '';
  const lines = readline.createInterface({ input: process.stdin, crlfDelay: Infinity });
  lines.on('line', (line) => {
    const started = performance.now();
    const message = read(line);
    if (typeof message?.player_id === 'string') {
      playerId = message.player_id;
      bot.onStart?.(playerId);
      send({ ready: true }, `ready as ${playerId}`, started);
    } else if (isState(message)) {
      const [type, direction] = bot.choose(stateOf(playerId, message));
      const answer = { turns_left: message.turns_left, type, direction };
      send(answer, `turns_left ${message.turns_left}: ${type} [${direction}]`, started);
    } else if (line.trim()) {
      log('skipped an unreadable line');
    }
  });
  lines.on('close', () => {
    bot.onEnd?.();
    process.exit(0);
  });
}

/** @param {string} line */
function read(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** @param {any} message */
function isState(message) {
  return Number.isInteger(message?.turns_left) && Number.isInteger(message.width)
    && Number.isInteger(message.height) && Array.isArray(message.colors)
    && typeof message.player_positions === 'object';
}

/**
 * @param {string} playerId
 * @param {any} message
 * @returns {State}
 */
function stateOf(playerId, message) {
  const { width, height } = message;
  /** @type {Square[]} */
  const obstacles = message.obstacles || [];
  return {
    playerId,
    turnsLeft: message.turns_left,
    width,
    height,
    playerPositions: message.player_positions,
    colors: message.colors,
    previousActions: message.previous_actions || [],
    obstacles,
    position: () => message.player_positions[playerId],
    isFree: (row, col) => row >= 0 && row < height && col >= 0 && col < width
      && !obstacles.some((square) => square[0] === row && square[1] === col),
  };
}

/**
 * @param {object} message
 * @param {string} text
 * @param {number} started
 */
function send(message, text, started) {
  log(`${text} ${(performance.now() - started).toFixed(1)} ms`);
  fs.writeSync(1, `${JSON.stringify(message)}\n`);
}

/**
 * Writes to standard error: standard output belongs to the referee.
 * @param {string} text
 */
function log(text) {
  console.error(text);
}

module.exports = { ACTIONS, DIRECTIONS, run };
