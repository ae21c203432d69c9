/** What the server draws of a replay, or what the page brings: fetched some turns at a time, before they are shown. */

import { byId } from "../elements.js";
import { unpacked } from "../replay.js";

/** Turns that are asked for at once. */
const AT_ONCE = 16;

/** Frames before a turn that its picture may show too: trails. */
const BEFORE = 3;

/** Letters of the frames of one request. */
const LARGEST = 1_000_000;

/** Drawings that are kept. */
const MOST_KEPT = 400;

/** Milliseconds until a server that was busy is asked again. */
const PAUSE = 1000;

/** @typedef {import("../replay.js").Replay} Replay */

/** The drawings of one replay: SVG, or text. */
export class Drawings {
  /**
   * @param {Replay} replay
   * @param {string} address where the server draws
   */
  constructor(replay, address) {
    this.replay = replay;
    this.address = address;
    /** @type {Map<string, string>} by turn and theme */
    this.cache = new Map();
    /** @type {Set<string>} */
    this.pending = new Set();
    /** Why a turn cannot be drawn, "" while all can. */
    this.trouble = "";
    /** @type {() => void} is called when there is more to show */
    this.again = () => {};
    this.bundle = bundleOfPage();
  }

  /**
   * Give the drawing of a turn; null until it is there.
   * @param {number} turn
   * @param {boolean} dark
   * @returns {string | null}
   */
  at(turn, dark) {
    const drawing = this.cache.get(`${turn} ${dark}`) ?? null;
    if (drawing === null) {
      void this.fetch(turn, dark);
    } else if (turn + AT_ONCE / 2 < this.replay.last && !this.cache.has(`${turn + AT_ONCE / 2} ${dark}`)) {
      void this.fetch(turn + AT_ONCE / 2, dark);
    }
    return drawing;
  }

  /**
   * Take in the drawings of a turn and of those after it.
   * @param {number} turn
   * @param {boolean} dark
   */
  async fetch(turn, dark) {
    const turns = this.missing(turn, dark);
    if (turns.length === 0) {
      return;
    }
    const keys = turns.map((number) => `${number} ${dark}`);
    keys.forEach((key) => this.pending.add(key));
    try {
      const drawings = await (this.bundle ? fromPage(await this.bundle, turns, dark) : this.ask(turns, dark));
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
   * Give the turns that are to be asked for: neighbours, as many as a request may hold.
   * @param {number} turn
   * @param {boolean} dark
   * @returns {number[]} none while they are being fetched
   */
  missing(turn, dark) {
    const size = JSON.stringify(this.replay.frame(turn)).length;
    const most = Math.max(1, Math.min(AT_ONCE, Math.floor(LARGEST / size) - BEFORE));
    const turns = [];
    for (let number = turn; number <= Math.min(this.replay.last, turn + most - 1); number += 1) {
      const key = `${number} ${dark}`;
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
   * Let the server draw.
   * @param {number[]} turns
   * @param {boolean} dark
   * @returns {Promise<string[]>}
   * @throws {Error} with a sentence for the viewer
   */
  async ask(turns, dark) {
    const { replay } = this;
    const first = Math.max(0, turns[0] - BEFORE);
    const all = Array.from({ length: turns[0] - first + turns.length }, (_, index) => first + index);
    const answer = await fetch(this.address, {
      method: "POST",
      body: JSON.stringify({
        players: replay.document.players.map(({ player, name }) => ({ player, name })),
        first, skip: turns[0] - first, dark,
        frames: all.map((turn) => replay.frame(turn)),
        actions: all.map((turn) => replay.actions(turn)),
      }),
      headers: { "Content-Type": "application/json", Accept: "application/json" },
    });
    const payload = await answer.json();
    if (!answer.ok) {
      throw new Error(String(payload.error));
    }
    return payload.drawn;
  }
}

/** @typedef {{turns: number[], light: string[], dark: string[]}} Bundle */

/**
 * Give the drawings that stand in the page.
 * @returns {Promise<Bundle> | null} null where the server is asked
 */
function bundleOfPage() {
  const data = byId("frames-data");
  if (!data || data.textContent.trim() === "") {
    return null;
  }
  const bytes = Uint8Array.from(atob(data.textContent.trim()), (sign) => sign.charCodeAt(0));
  return unpacked(bytes).then((text) => JSON.parse(text));
}

/**
 * Give drawings of the page; of turns that it does not bring, those before them.
 * @param {Bundle} bundle
 * @param {number[]} turns
 * @param {boolean} dark
 * @returns {string[]}
 */
function fromPage(bundle, turns, dark) {
  const drawings = dark ? bundle.dark : bundle.light;
  return turns.map((turn) => drawings[Math.max(0, bundle.turns.findLastIndex((start) => start <= turn))]);
}
