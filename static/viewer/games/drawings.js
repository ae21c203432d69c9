/** Drawings of a replay by the server or in the page, fetched some turns at a time before they are shown. */

import { byId } from "../elements.js";
import { unpacked } from "../replay.js";

/** Maximum turns of a request. */
const AT_ONCE = 16;

/** Earlier frames that the picture of a turn may also show, as trails. */
const BEFORE = 3;

/** Maximum characters of the frames of a request. */
const LARGEST = 1_000_000;

/** Maximum number of cached drawings. */
const MOST_KEPT = 400;

/** Milliseconds before a busy server is asked again. */
const PAUSE = 1000;

/** @typedef {import("../replay.js").Replay} Replay */

/** @typedef {{dark: boolean, player: string | null}} Look theme and view; null for everything */

/** The drawings of one replay: SVG or text. */
export class Drawings {
  /**
   * @param {Replay} replay
   * @param {string} address address of the server's drawings
   */
  constructor(replay, address) {
    this.replay = replay;
    this.address = address;
    /** @type {Map<string, string>} by turn and theme */
    this.cache = new Map();
    /** @type {Set<string>} */
    this.pending = new Set();
    /** Why a turn cannot be drawn, or "". */
    this.trouble = "";
    /** @type {() => void} called when there is more to show */
    this.again = () => {};
    this.bundle = bundleOfPage();
  }

  /**
   * Return the drawing of a turn, or null until it has arrived.
   * @param {number} turn
   * @param {Look} look
   * @returns {string | null}
   */
  at(turn, look) {
    const drawing = this.cache.get(keyOf(turn, look)) ?? null;
    if (drawing === null) {
      void this.fetch(turn, look);
    } else if (turn + AT_ONCE / 2 < this.replay.last && !this.cache.has(keyOf(turn + AT_ONCE / 2, look))) {
      void this.fetch(turn + AT_ONCE / 2, look);
    }
    return drawing;
  }

  /**
   * Fetch the drawings of a turn and of the following ones.
   * @param {number} turn
   * @param {Look} look
   */
  async fetch(turn, look) {
    const turns = this.missing(turn, look);
    if (turns.length === 0) {
      return;
    }
    const keys = turns.map((number) => keyOf(number, look));
    keys.forEach((key) => this.pending.add(key));
    try {
      const drawings = await (this.bundle ? fromPage(await this.bundle, turns, look) : this.ask(turns, look));
      keys.forEach((key, index) => this.keep(key, drawings[index]));
      this.trouble = "";
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
    }
    keys.forEach((key) => this.pending.delete(key));
    this.again();
  }

  /**
   * Return the consecutive turns to request, as many as a request may hold.
   * @param {number} turn
   * @param {Look} look
   * @returns {number[]} none while they are being fetched
   */
  missing(turn, look) {
    const size = JSON.stringify(this.replay.frame(turn)).length;
    const most = Math.max(1, Math.min(AT_ONCE, Math.floor(LARGEST / size) - BEFORE));
    const turns = [];
    for (let number = turn; number <= Math.min(this.replay.last, turn + most - 1); number += 1) {
      const key = keyOf(number, look);
      if (this.cache.has(key) || this.pending.has(key)) {
        return turns;
      }
      turns.push(number);
    }
    return turns;
  }

  /**
   * @param {string} key
   * @param {string} drawing
   */
  keep(key, drawing) {
    this.cache.set(key, drawing);
    if (this.cache.size > MOST_KEPT) {
      this.cache.delete(/** @type {string} */ (this.cache.keys().next().value));
    }
  }

  /**
   * Request drawings from the server.
   * @param {number[]} turns
   * @param {Look} look
   * @returns {Promise<string[]>}
   * @throws {Error} with a sentence for the viewer
   */
  async ask(turns, look) {
    return (await askServer(this.address, this.replay, turns, look)).drawn;
  }
}

/**
 * @param {number} turn
 * @param {Look} look
 * @returns {string}
 */
function keyOf(turn, { dark, player }) {
  return JSON.stringify([turn, dark, player]);
}

/** The server is busy with other drawings: ask again. */
export class Busy extends Error {}

/**
 * Request data about turns from the server.
 * @param {string} address
 * @param {Replay} replay
 * @param {number[]} turns consecutive
 * @param {Record<string, unknown>} wanted what to return
 * @returns {Promise<any>}
 * @throws {Error} with a sentence for the viewer
 */
export async function askServer(address, replay, turns, wanted) {
  const first = Math.max(0, turns[0] - BEFORE);
  const all = Array.from({ length: turns[0] - first + turns.length }, (_, index) => first + index);
  const answer = await fetch(address, {
    method: "POST",
    body: JSON.stringify({
      ...wanted, first, skip: turns[0] - first,
      players: replay.document.players.map(({ player, name }) => ({ player, name: String(name) })),
      frames: all.map((turn) => replay.frame(turn)),
      actions: all.map((turn) => replay.actions(turn)),
    }),
    headers: { "Content-Type": "application/json", Accept: "application/json" },
  });
  const payload = await answer.json();
  if (!answer.ok) {
    throw new (answer.status === 503 ? Busy : Error)(String(payload.error));
  }
  return payload;
}

/**
 * Data in a page without a server: some turns, drawn for each look, and their captions.
 * @typedef {{turns: number[], drawn: Record<string, string[]>, captions: import("./captions.js").Part}} Bundle
 */

/**
 * Return the drawings in the page.
 * @returns {Promise<Bundle> | null} null if the server provides them
 */
export function bundleOfPage() {
  const data = byId("frames-data");
  if (!data || data.textContent.trim() === "") {
    return null;
  }
  const bytes = Uint8Array.from(atob(data.textContent.trim()), (sign) => sign.charCodeAt(0));
  return unpacked(bytes).then((text) => JSON.parse(text));
}

/**
 * Return drawings in the page; a missing turn gets the drawing before it.
 * @param {Bundle} bundle
 * @param {number[]} turns
 * @param {Look} look
 * @returns {string[]}
 * @throws {Error} with a sentence for the viewer
 */
function fromPage({ turns: known, drawn }, turns, { dark, player }) {
  const theme = dark ? "dark" : "light";
  // If players see everything, they have no drawings of their own.
  const own = Object.keys(drawn).length > 2 && player !== null;
  const drawings = drawn[`${own ? player : ""} ${theme}`];
  if (!drawings) {
    throw new Error("This page has no picture of what this player sees.");
  }
  return turns.map((turn) => drawings[placeOf(known, turn)]);
}

/**
 * @param {number[]} known turns, in ascending order
 * @param {number} turn
 * @returns {number} the index of a turn, or of the one before it
 */
export function placeOf(known, turn) {
  return Math.max(0, known.findLastIndex((start) => start <= turn));
}
