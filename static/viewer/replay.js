/** A replay for viewing: its document, the players, and the frame of every turn. */

import { isRecord } from "./json.js";
import { FIRST_TURNS } from "../shared/words.js";
import { letterOf } from "./palette.js";
import { showingOf } from "./games/installed.js";
import { patched } from "./json_diff.js";
import { fromColumns } from "./columns.js";
import { inArenaFormat } from "./own_formats.js";

const VERSION = 1;
const LARGEST = 256 * 1024 * 1024;
const MOST_MEMBERS = 4_000_000;
const MOST_PLAYERS = 1000;

/**
 * @typedef {import("./json.js").Json} Json
 * @typedef {number | string} Player as the game names it
 * @typedef {{key: string, name: string, bot: string, index: number, letter: string}} Seat
 * @typedef {{turn: number, player: Player, kind: string, detail: string}} Fault
 * @typedef {{name: string, rank: number | null, country: string, flag: string}} Person
 * @typedef {Record<string, number> | number[]} Numbers by player, or in the order of seats
 * @typedef {{
 *   reason?: string, condition?: string, ranks?: Numbers, scores?: Numbers, final_scores?: Numbers,
 * }} Outcome
 * @typedef {Record<string, unknown>} Actions what bots sent, by player
 * @typedef {{actions: Actions, ms?: Record<string, number>, frame: Json}} Turn
 * @typedef {{
 *   version: number, date: string, rules: number, game: string, options: Record<string, Json>,
 *   seed: number, players: {player: Player, name: string, bot: string}[], start: Json,
 *   frame: Record<string, Json>, turns: Turn[], result: {outcome: Outcome | null}, faults: Fault[],
 *   hash: string,
 * }} ReplayDocument
 */

/**
 * One replay; frames are computed on demand, and some are cached.
 * @template [Frame=unknown] what the game shows of a turn
 */
export class Replay {
  /**
   * @param {ReplayDocument} document as returned by `validate`
   * @param {boolean} over whether it is complete
   */
  constructor(document, over = true) {
    this.document = document;
    this.over = over;
    this.last = document.turns.length;
    this.seats = document.players.map(seatOf);
    /** @type {Map<Player, number>} seats by their names in documents: as text, and as is */
    this.byKey = new Map(this.seats.map((seat) => [seat.key, seat.index]));
    document.players.forEach(({ player }, index) => this.byKey.set(player, index));
    /** @type {Record<string, Person> | null} players by key, if the page knows them better than the replay */
    this.people = null;
    /** The number of the first turn, as sent to bots: requests are shown with the turn of that number. */
    this.first = FIRST_TURNS[document.game] ?? showingOf(document.game).first ?? 1;
    this.spacing = spacingOf(document);
    /** @type {{turn: number, frame: Json}} */
    this.recent = { turn: 0, frame: document.frame };
    this.frames = new Map([[0, this.recent.frame]]);
    this.faults = this.faultsByTurn();
  }

  /**
   * Return the turn with which a result of asking bots is shown.
   * @param {number} turn the turn of the request, from 1; 0 is before the first
   * @returns {number} later results are shown with the last turn
   */
  shownWith(turn) {
    return Math.max(0, Math.min(turn, this.over ? this.last : Infinity) - 1 + this.first);
  }

  /** @returns {Map<number, Fault[]>} by the turn with which they are shown */
  faultsByTurn() {
    const byTurn = new Map();
    for (const fault of this.document.faults) {
      const turn = this.shownWith(Number(fault.turn) + 1);
      byTurn.set(turn, [...(byTurn.get(turn) ?? []), fault]);
    }
    return byTurn;
  }

  /**
   * Set the players known to the page.
   * @param {Record<string, Person>} people
   */
  introduce(people) {
    this.people = people;
    for (const seat of this.seats) {
      seat.name = people[seat.key]?.name ?? seat.name;
    }
  }

  /**
   * Append the turns after the last known one.
   * @param {Pick<ReplayDocument, "turns" | "result" | "faults">} news
   * @param {boolean} over
   */
  extend({ turns, result, faults }, over) {
    const { document } = this;
    document.turns.push(...turns);
    Object.assign(document, { result, faults });
    this.over = over;
    this.last = document.turns.length;
    this.spacing = spacingOf(document);
    this.faults = this.faultsByTurn();
  }

  /**
   * Return the frame after a number of turns.
   * @param {number} turn 0 is the start
   * @returns {Frame}
   */
  frame(turn) {
    let { turn: at, frame } = this.nearest(turn);
    while (at < turn) {
      frame = patched(frame, this.document.turns[at].frame);
      at += 1;
      if (at % this.spacing === 0) {
        this.frames.set(at, frame);
      }
    }
    this.recent = { turn, frame };
    return /** @type {Frame} */ (frame);
  }

  /**
   * Return the latest available frame not later than a turn.
   * @param {number} turn
   * @returns {{turn: number, frame: Json}}
   */
  nearest(turn) {
    let at = turn - (turn % this.spacing);
    let frame = this.frames.get(at);
    while (frame === undefined) {
      at -= this.spacing;
      frame = this.frames.get(at);
    }
    const { recent } = this;
    return recent.turn <= turn && recent.turn > at ? recent : { turn: at, frame };
  }

  /**
   * Return the actions of a turn.
   * @param {number} turn from 1
   * @returns {Actions}
   */
  actions(turn) {
    return turn > 0 ? this.document.turns[turn - 1].actions : {};
  }

  /**
   * Return the index of a player as named by the game, or -1.
   * @param {Player} player
   * @returns {number}
   */
  seat(player) {
    return this.byKey.get(player) ?? this.byKey.get(String(player)) ?? -1;
  }

  /**
   * Return the name of a player as named by the game.
   * @param {Player} player
   * @returns {string}
   */
  name(player) {
    return this.seats[this.seat(player)]?.name ?? String(player);
  }
}

/**
 * @param {ReplayDocument["players"][number]} player
 * @param {number} index
 * @returns {Seat}
 */
function seatOf({ player, name, bot }, index) {
  return { key: String(player), name: String(name), bot: String(bot), index, letter: letterOf(index) };
}

/**
 * Return the number of turns between cached frames.
 * @param {ReplayDocument} document
 * @returns {number} a power of two, so that frames cached while a match was shorter remain useful
 */
function spacingOf({ frame, turns }) {
  const spacing = (membersOf(frame) * turns.length) / MOST_MEMBERS;
  return 2 ** Math.ceil(Math.log2(Math.max(1, spacing)));
}

/**
 * Count the members of the lists of a frame, which approximates the cost of caching one more.
 * @param {Record<string, Json>} frame
 * @returns {number}
 */
function membersOf(frame) {
  const lists = Object.values(frame).filter(Array.isArray);
  return lists.reduce((sum, list) => sum + list.length, 1);
}

/**
 * Read the bytes of a replay file, compressed or not.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<Replay>}
 * @throws {Error} with a sentence for the viewer
 */
export async function readReplay(bytes) {
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = packed ? await unpacked(bytes) : new TextDecoder().decode(bytes);
  try {
    return new Replay(validate(inArenaFormat(JSON.parse(text))));
  } catch (error) {
    throw error instanceof SyntaxError ? new Error("This file is not JSON.") : error;
  }
}

/**
 * Decompress a text.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<string>}
 * @throws {Error} with a sentence for the viewer
 */
export async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new Error("This file cannot be decompressed.");
    });
    if (done) {
      return parts.join("") + decoder.decode();
    }
    size += value.length;
    if (size > LARGEST) {
      await reader.cancel();
      throw new Error(`This replay is larger than ${LARGEST} bytes.`);
    }
    parts.push(decoder.decode(value, { stream: true }));
  }
}

/** The required members of a replay; a game's module trusts the content of its frames. */
const SHAPE = {
  game: "string", date: "string", seed: "number", hash: "string",
  options: "object", result: "object", frame: "object",
};

/**
 * @param {unknown} document
 * @returns {document is ReplayDocument} whether it has the members of a replay, of any version
 */
function isReplay(document) {
  return isRecord(document)
    && Object.entries(SHAPE).every(([key, type]) => typeof document[key] === type && document[key] !== null)
    && ["players", "turns", "faults"].map((key) => document[key])
      .every((list) => Array.isArray(list) && list.every(isRecord));
}

/**
 * Return a document if it is a replay that can be shown.
 * @param {unknown} document
 * @returns {ReplayDocument}
 * @throws {Error} with a sentence for the viewer
 */
export function validate(document) {
  if (!isReplay(document)) {
    throw new Error("This file is not a replay.");
  }
  if (document.version !== VERSION) {
    throw new Error(`This is replay version ${document.version}, expected ${VERSION}.`);
  }
  if (document.players.length > MOST_PLAYERS) {
    throw new Error(`This replay has more than ${MOST_PLAYERS} players.`);
  }
  for (const turn of document.turns) {
    const actions = "tables" in turn ? fromColumns(/** @type {Json} */ (turn.tables)) : turn.actions;
    if (!isRecord(actions)) {
      throw new Error("This replay has a turn without actions.");
    }
    turn.actions = actions;
  }
  return document;
}
