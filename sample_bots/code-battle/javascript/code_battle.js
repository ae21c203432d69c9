'use strict';
// AI Code Battle for bots: the signed web service, and the events that a bot answers.

const { createHash, createHmac, timingSafeEqual } = require('node:crypto');
const { serve } = require('./bot_server');

/** @typedef {[number, number]} Tile row and col */
/** @typedef {'N' | 'E' | 'S' | 'W'} Direction */
/** @typedef {[number, number, Direction]} Order row, col and direction */
/** @typedef {{row: number, col: number, owner: number}} Unit */

/**
 * What you see in a turn; the owner 0 is you, `energy` are the nodes that hold some.
 * @typedef {object} View
 * @property {number} turn
 * @property {{id: number, energy: number, score: number}} you
 * @property {Unit[]} bots
 * @property {{row: number, col: number}[]} energy
 * @property {(Unit & {active: boolean})[]} cores
 * @property {{row: number, col: number}[]} walls
 * @property {Unit[]} dead
 * @property {() => Tile[]} mine gives the tiles of your bots
 */

/**
 * What you write: `choose`, and whichever of the other events you want to hear of.
 * @typedef {object} Bot
 * @property {(match: Match) => void} [onStart] a match is heard of for the first time
 * @property {(match: Match, view: View) => Order[]} choose
 *   give your orders; bots without one hold
 * @property {(match: Match) => void} [onEnd]
 *   a match is forgotten, as too many others came after it
 */

/**
 * The step [drow, dcol] of each direction; row grows to the south.
 * @type {Record<Direction, Tile>}
 */
const DIRECTIONS = { N: [-1, 0], E: [0, 1], S: [1, 0], W: [0, -1] };

/** Matches that are remembered; when one more comes, the oldest is forgotten. */
const MAX_MATCHES = 64;

/**
 * A match: `config` holds rows, cols, max_turns, vision_radius2, attack_radius2, spawn_cost and
 * energy_interval; `memory` is yours and lives as long as the match.
 */
class Match {
  /**
   * @param {string} matchId
   * @param {Record<string, number>} config
   */
  constructor(matchId, config) {
    this.matchId = matchId;
    this.config = config;
    /** @type {any} */
    this.memory = null;
  }

  /**
   * Gives the tile one step away; the grid has no edges.
   * @param {Tile} tile
   * @param {Direction} direction
   * @returns {Tile}
   */
  step([row, col], direction) {
    const { rows, cols } = this.config;
    const [down, right] = DIRECTIONS[direction];
    return [(row + down + rows) % rows, (col + right + cols) % cols];
  }

  /**
   * Gives the squared distance of two tiles.
   * @param {Tile} a
   * @param {Tile} b
   */
  distance2(a, b) {
    const { rows, cols } = this.config;
    const [down, right] = [Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1])];
    return Math.min(down, rows - down) ** 2 + Math.min(right, cols - right) ** 2;
  }
}

/**
 * Serves the bot on PORT, 8080 by default, with the secret BOT_SECRET.
 * @param {Bot} bot
 */
function run(bot) {
  const secret = process.env.BOT_SECRET;
  if (!secret) {
    console.error('set BOT_SECRET to the secret of your bot, 64 hexadecimal digits');
    process.exit(1);
  }
  const service = new Service(bot, secret);
  serve((request) => service.handle(request), 8080);
}

class Service {
  /**
   * @param {Bot} bot
   * @param {string} secret
   */
  constructor(bot, secret) {
    this.bot = bot;
    this.secret = secret;
    /** @type {Map<string, Match>} */
    this.matches = new Map();
  }

  /**
   * @param {import('./bot_server').Request} request
   * @returns {import('./bot_server').Reply}
   */
  handle({ method, path, headers, body }) {
    const route = `${method} ${path}`;
    if (route === 'GET /health') return { status: 200, body: '{"status":"ok"}' };
    if (route !== 'POST /turn') return { status: 404 };
    if (!this.isSigned(headers, body)) return { status: 401 };
    const document = read(headers, body);
    return document ? this.play(headers, document) : { status: 400 };
  }

  /**
   * @param {string} text
   * @param {Buffer | string} body
   */
  sign(text, body) {
    const hash = createHash('sha256').update(body).digest('hex');
    return createHmac('sha256', this.secret).update(`${text}.${hash}`, 'latin1').digest('hex');
  }

  /**
   * @param {import('node:http').IncomingHttpHeaders} headers
   * @param {Buffer} body
   */
  isSigned(headers, body) {
    const [matchId, turn, timestamp, botId, signature] = [
      'match-id', 'turn', 'timestamp', 'bot-id', 'signature',
    ].map((name) => String(headers[`x-acb-${name}`] || ''));
    if (!matchId || !botId || !isDecimal(turn) || !isDecimal(timestamp)) return false;
    if (Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) > 30) return false;
    const expected = Buffer.from(this.sign(`${matchId}.${turn}.${timestamp}`, body));
    const given = Buffer.from(signature, 'latin1');
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  /**
   * @param {import('node:http').IncomingHttpHeaders} headers
   * @param {any} document
   */
  play(headers, document) {
    const match = this.find(document);
    const started = performance.now();
    const orders = this.bot.choose(match, viewOf(document));
    const milliseconds = (performance.now() - started).toFixed(1);
    process.stderr.write(`turn ${document.turn} ${milliseconds} ms ${orders.length} moves\n`);
    const moves = orders.map(([row, col, direction]) => ({ row, col, direction }));
    const body = JSON.stringify({ moves });
    const signature = this.sign(`${headers['x-acb-match-id']}.${headers['x-acb-turn']}`, body);
    return { status: 200, body, headers: { 'X-ACB-Signature': signature } };
  }

  /** @param {any} document */
  find(document) {
    const known = this.matches.get(document.match_id);
    if (known) return known;
    const match = new Match(document.match_id, document.config || {});
    this.matches.set(match.matchId, match);
    if (this.matches.size > MAX_MATCHES) this.forget([...this.matches.values()][0]);
    this.bot.onStart?.(match);
    return match;
  }

  /** @param {Match} match */
  forget(match) {
    this.matches.delete(match.matchId);
    this.bot.onEnd?.(match);
  }
}

/** @param {string} text */
function isDecimal(text) {
  return /^[0-9]{1,18}$/.test(text);
}

/**
 * Reads the body; null if it is no JSON object or of another match or turn than the headers.
 * @param {import('node:http').IncomingHttpHeaders} headers
 * @param {Buffer} body
 */
function read(headers, body) {
  try {
    const document = JSON.parse(body.toString());
    const same = document.match_id === headers['x-acb-match-id']
      && document.turn === Number(headers['x-acb-turn']);
    return same ? document : null;
  } catch {
    return null;
  }
}

/**
 * @param {any} document
 * @returns {View}
 */
function viewOf({ turn, you = {}, bots = [], energy = [], cores = [], walls = [], dead = [] }) {
  /** @returns {Tile[]} */
  const mine = () => bots.filter((/** @type {Unit} */ bot) => bot.owner === 0)
    .map((/** @type {Unit} */ bot) => [bot.row, bot.col]);
  return { turn, you, bots, energy, cores, walls, dead, mine };
}

module.exports = { DIRECTIONS, Match, run };
