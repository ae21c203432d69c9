'use strict';
// Circuit Wars for bots: the loop that plays a game over HTTP, the board, and its events.

const http = require('node:http');
const https = require('node:https');
const { setTimeout: sleep } = require('node:timers/promises');

/** @typedef {'top' | 'right' | 'bottom' | 'left'} Border */
/** @typedef {[number, number, Border]} Segment x, y and border */

/**
 * What you write: `choose`, and whichever of the other events you want to hear of.
 * @typedef {object} Bot
 * @property {(player: number) => void} [onStart] you are player 1 or 2
 * @property {(board: Board, player: number) => Segment} choose give the free segment to draw
 * @property {(status: any) => void} [onEnd] this is how the game ended
 */

/**
 * The bit of each side of a square.
 * @type {Record<Border, number>}
 */
const BORDERS = { top: 1, right: 2, bottom: 4, left: 8 };

/** The board: `squares[y][x]` has a bit for each drawn side, 16 or 32 if player 1 or 2 owns it. */
class Board {
  /** @param {number[][]} squares */
  constructor(squares) {
    this.size = squares.length;
    this.squares = squares;
  }

  /**
   * Tells whether this side of the square is drawn.
   * @param {number} x
   * @param {number} y
   * @param {Border} border
   */
  hasBorder(x, y, border) {
    return (this.squares[y][x] & BORDERS[border]) !== 0;
  }

  /**
   * Tells who owns the square: 0 nobody, 1 or 2.
   * @param {number} x
   * @param {number} y
   */
  owner(x, y) {
    return this.squares[y][x] >> 4;
  }

  /**
   * Gives every free segment once.
   * @returns {Segment[]}
   */
  freeSegments() {
    /** @type {Segment[]} */
    const found = [];
    for (let y = 0; y < this.size; y += 1) {
      for (let x = 0; x < this.size; x += 1) {
        if (this.owner(x, y)) continue;
        for (const border of this.ownSides(x, y)) {
          if (!this.hasBorder(x, y, border)) found.push([x, y, border]);
        }
      }
    }
    return found;
  }

  /**
   * Names the sides of a square that no square to the right or below names too.
   * @param {number} x
   * @param {number} y
   */
  ownSides(x, y) {
    /** @type {Border[]} */
    const sides = ['top', 'left'];
    if (x === this.size - 1) sides.push('right');
    if (y === this.size - 1) sides.push('bottom');
    return sides;
  }
}

const SERVER = (process.env.CW_SERVER || 'http://127.0.0.1:5000').replace(/\/+$/, '');
const PAUSE = Number(process.env.CW_PAUSE || 0.2);
const client = SERVER.startsWith('https:') ? https : http;
const agent = new client.Agent({ keepAlive: true, noDelay: true });

/**
 * Registers at CW_SERVER as the team of the command line or TEAM_ID, and plays one game.
 * @param {Bot} bot
 */
async function run(bot) {
  process.on('SIGTERM', () => process.exit(0));
  process.on('SIGINT', () => process.exit(0));
  const team = process.argv[2] || process.env.TEAM_ID || 'sample';
  const answer = await ask(`reg/${team}`);
  if (answer.response !== 'OK') {
    leave(`not registered as ${team}: ${answer.message || answer.error}`);
  }
  const { player } = answer;
  console.log(`${team} is player ${player}. Watch the game at ${SERVER}/`);
  bot.onStart?.(player);
  const status = await play(bot, team, player);
  bot.onEnd?.(status);
  console.log(`${status.status}, ${status.score_1} to ${status.score_2}.`);
  console.log(winner(status.status_code) === player ? 'You won.' : 'You lost.');
  agent.destroy();
}

/**
 * Tells who won: 301 is a win of player 1, 401 and 501 are a loss.
 * @param {number} statusCode
 */
function winner(statusCode) {
  return statusCode < 400 ? statusCode % 10 : 3 - (statusCode % 10);
}

/**
 * @param {Bot} bot
 * @param {string} team
 * @param {number} player
 */
async function play(bot, team, player) {
  for (;;) {
    await sleep(PAUSE * 1000);
    let status = await ask('status');
    if (status.status_code === 200 + player) {
      const segment = bot.choose(new Board(status.board), player);
      await sleep(PAUSE * 1000);
      status = await ask(`move/${team}/${segment.join(',')}`);
    }
    if (status.status_code >= 300) return status;
  }
}

/**
 * Requests a route and gives its JSON; exits with a message if there is none.
 * @param {string} path
 * @returns {Promise<any>}
 */
async function ask(path) {
  const started = performance.now();
  const [status, body] = await get(`${SERVER}/${path}`).catch(
    (error) => leave(`there is no server at ${SERVER}: ${error.message || error.code}`),
  );
  console.error(`GET /${path} ${status} ${(performance.now() - started).toFixed(1)} ms`);
  try {
    return JSON.parse(body);
  } catch {
    return leave(`the server at ${SERVER} did not answer /${path} with JSON`);
  }
}

/**
 * @param {string} url
 * @returns {Promise<[number, string]>}
 */
function get(url) {
  return new Promise((resolve, reject) => {
    const request = client.get(url, { agent, timeout: 10_000 }, (reply) => {
      let body = '';
      reply.setEncoding('utf8');
      reply.on('data', (part) => { body += part; });
      reply.on('end', () => resolve([reply.statusCode || 0, body]));
      reply.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error('no answer within 10 s')));
    request.on('error', reject);
  });
}

/**
 * @param {string} message
 * @returns {never}
 */
function leave(message) {
  console.error(message);
  process.exit(1);
}

module.exports = { BORDERS, Board, run };
