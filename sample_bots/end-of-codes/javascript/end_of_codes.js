'use strict';
// End of Codes for bots: the web service, the map, and the events that a bot answers.

const { createHash, timingSafeEqual } = require('node:crypto');
const { serve } = require('./bot_server');

/** @typedef {{creatureid: number, userid: number, x: number, y: number, hp: number}} Creature */
/** @typedef {'north' | 'east' | 'south' | 'west'} Direction */
/** @typedef {{creatureid: number, action: 'move' | 'attack', direction: Direction}} Intent */

/**
 * What you write: `choose`, and whichever of the other events you want to hear of.
 * @typedef {object} Bot
 * @property {string} botname
 * @property {string} version
 * @property {(game: Game) => void} [onStart] a game begins; there are no creatures yet
 * @property {(game: Game) => Intent[]} choose
 *   give your intents, at most one for each of your living creatures
 * @property {(game: Game) => void} [onEnd] a game is over; `game` shows how it ended
 */

/**
 * The step [dx, dy] of each direction; y grows to the north.
 * @type {Record<Direction, [number, number]>}
 */
const DIRECTIONS = { north: [0, 1], east: [1, 0], south: [0, -1], west: [-1, 0] };

/** Games that are remembered; when one more comes, the oldest is forgotten. */
const MAX_GAMES = 64;

/**
 * A game, as it stands in this round.
 *
 * `creatures` holds the dead ones too; `memory` is yours and lives as long as the game. M and
 * MAX_HP are 0 if the game began before this program.
 */
class Game {
  /** @param {number} gameid */
  constructor(gameid) {
    this.gameid = gameid;
    this.myid = 0;
    this.round = 0;
    this.W = 0;
    this.H = 0;
    this.M = 0;
    this.MAX_HP = 0;
    /** @type {{userid: number, username: string}[]} */
    this.players = [];
    /** @type {Creature[]} */
    this.creatures = [];
    /** @type {any} */
    this.memory = null;
    /** @type {Map<number, Creature>} */
    this.living = new Map();
  }

  /**
   * Takes over the map of a round.
   * @param {Creature[]} creatures
   */
  update(creatures) {
    this.creatures = creatures;
    const living = creatures.filter((creature) => creature.hp > 0);
    this.living = new Map(living.map((creature) => [this.key(creature.x, creature.y), creature]));
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  key(x, y) {
    return y * this.W + x;
  }

  /** Gives your living creatures. */
  mine() {
    return [...this.living.values()].filter((creature) => creature.userid === this.myid);
  }

  /**
   * Gives the living creature in a cell, or undefined.
   * @param {number} x
   * @param {number} y
   */
  at(x, y) {
    return this.isOnMap(x, y) ? this.living.get(this.key(x, y)) : undefined;
  }

  /**
   * Tells whether there is such a cell.
   * @param {number} x
   * @param {number} y
   */
  isOnMap(x, y) {
    return x >= 0 && x < this.W && y >= 0 && y < this.H;
  }

  /** Counts the players that have a living creature. */
  ownersAlive() {
    return new Set([...this.living.values()].map((creature) => creature.userid)).size;
  }
}

/**
 * Gives the intent to move a creature.
 * @param {Creature} creature
 * @param {Direction} direction
 * @returns {Intent}
 */
function move(creature, direction) {
  return { creatureid: creature.creatureid, action: 'move', direction };
}

/**
 * Gives the intent to attack with a creature.
 * @param {Creature} creature
 * @param {Direction} direction
 * @returns {Intent}
 */
function attack(creature, direction) {
  return { creatureid: creature.creatureid, action: 'attack', direction };
}

/**
 * Serves the bot on PORT, 8801 by default, as BOT_USERNAME; API_KEY is asked for if it is set.
 * @param {Bot} bot
 */
function run(bot) {
  const service = new Service(bot);
  serve((request) => service.handle(request), 8801);
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

class Service {
  /** @param {Bot} bot */
  constructor(bot) {
    this.bot = bot;
    this.username = process.env.BOT_USERNAME || 'sample';
    this.apiKey = process.env.API_KEY || '';
    /** @type {Map<number, Game>} */
    this.games = new Map();
  }

  /** @param {import('./bot_server').Request} request */
  handle(request) {
    try {
      return reply(200, this.dispatch(request));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return reply(error.status, { error: error.message });
    }
  }

  /** @param {import('./bot_server').Request} request */
  dispatch(request) {
    switch (`${request.method} ${request.path}`) {
      case 'GET /bot': return this.identify(request.query);
      case 'POST /game': return this.start(this.form(request));
      case 'POST /round': return this.play(this.form(request));
      default: throw new Refusal(404, `there is no ${request.method} ${request.path}`);
    }
  }

  /** @param {string | null | undefined} key */
  checkKey(key) {
    if (this.apiKey && !isSame(key || '', this.apiKey)) throw new Refusal(401, 'wrong api_key');
  }

  /** @param {URLSearchParams} query */
  identify(query) {
    this.checkKey(query.get('api_key'));
    return { botname: this.bot.botname, version: this.bot.version, username: this.username };
  }

  /** @param {import('./bot_server').Request} request */
  form(request) {
    const fields = readForm(request.headers['content-type'] || '', request.body);
    this.checkKey(fields.get('api_key'));
    if (fields.get('method') !== 'create') throw new Refusal(400, 'method must be create');
    return fields;
  }

  /** @param {Map<string, string>} fields */
  start(fields) {
    const game = new Game(readInteger(fields, 'gameid'));
    game.W = readInteger(fields, 'W');
    game.H = readInteger(fields, 'H');
    game.M = readInteger(fields, 'M');
    game.MAX_HP = readInteger(fields, 'MAX_HP');
    game.players = readList(fields, 'players');
    this.remember(game);
    this.bot.onStart?.(game);
    return [];
  }

  /** @param {Map<string, string>} fields */
  play(fields) {
    const [round, myid, W, H] = ['round', 'myid', 'W', 'H'].map((name) => readInteger(fields, name));
    const creatures = readList(fields, 'map');
    if (!creatures.every(isCreature)) throw new Refusal(400, 'map must be a list of creatures');
    const game = this.find(readInteger(fields, 'gameid'));
    Object.assign(game, { round, myid, W, H });
    game.update(creatures);
    if (game.ownersAlive() < 2) {
      this.forget(game.gameid);
      return { intent: [] };
    }
    return { intent: game.mine().length ? this.bot.choose(game) : [] };
  }

  /**
   * Gives the game; one that began before this program is made here.
   * @param {number} gameid
   */
  find(gameid) {
    const game = this.games.get(gameid) || new Game(gameid);
    if (!this.games.has(gameid)) this.remember(game);
    return game;
  }

  /** @param {Game} game */
  remember(game) {
    this.forget(game.gameid);
    this.games.set(game.gameid, game);
    if (this.games.size > MAX_GAMES) this.forget([...this.games.keys()][0]);
  }

  /** @param {number} gameid */
  forget(gameid) {
    const game = this.games.get(gameid);
    this.games.delete(gameid);
    if (game) this.bot.onEnd?.(game);
  }
}

/**
 * @param {number} status
 * @param {object} document
 */
function reply(status, document) {
  return { status, body: JSON.stringify(document) };
}

/**
 * Compares in constant time; the digests have one length whatever came.
 * @param {string} a
 * @param {string} b
 */
function isSame(a, b) {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(left, right);
}

/**
 * @param {string} type
 * @param {Buffer} body
 * @returns {Map<string, string>}
 */
function readForm(type, body) {
  const kind = type.split(';')[0].trim().toLowerCase();
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type);
  if (kind === 'application/x-www-form-urlencoded') {
    return new Map(new URLSearchParams(body.toString()));
  }
  if (kind === 'multipart/form-data' && boundary) {
    return readMultipart(boundary[1] || boundary[2], body.toString());
  }
  throw new Refusal(400, 'the body is not a form');
}

/**
 * @param {string} boundary
 * @param {string} body
 */
function readMultipart(boundary, body) {
  const fields = new Map();
  for (const part of `\r\n${body}`.split(`\r\n--${boundary}`).slice(1)) {
    const end = part.indexOf('\r\n\r\n');
    const name = /name="([^"]*)"/.exec(part.slice(0, Math.max(end, 0)));
    if (name) fields.set(name[1], part.slice(end + 4));
  }
  return fields;
}

/**
 * @param {Map<string, string>} fields
 * @param {string} name
 */
function readInteger(fields, name) {
  const text = fields.get(name) || '';
  if (!/^[0-9]{1,9}$/.test(text)) throw new Refusal(400, `${name} must be an integer`);
  return Number(text);
}

/**
 * @param {Map<string, string>} fields
 * @param {string} name
 * @returns {any[]}
 */
function readList(fields, name) {
  try {
    const list = JSON.parse(fields.get(name) || '');
    if (Array.isArray(list)) return list;
  } catch {
    // Refused below.
  }
  throw new Refusal(400, `${name} must be a JSON list`);
}

/** @param {any} said */
function isCreature(said) {
  return said !== null && typeof said === 'object' && Number.isInteger(said.creatureid)
    && Number.isInteger(said.userid) && Number.isInteger(said.x) && Number.isInteger(said.y)
    && Number.isInteger(said.hp);
}

module.exports = { DIRECTIONS, Game, attack, move, run };
