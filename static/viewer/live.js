/** A match in progress: its replay grows as the server reports new turns. */

import { NoAnswer, Poller, Source } from "../shared/poller.js";
import { learnCaptions } from "./games/captions.js";
import { loadModule } from "./games/installed.js";
import { Replay, validate } from "./replay.js";

const PAUSE = 250;
const LOST = "The server does not answer; trying again.";
const UNKNOWN = "The server no longer has this match.";

/**
 * What the person at this page may do now.
 * @typedef {{player: string, turn: number, moves: Json[], words?: string[]}} Yours `words` are the game's names of the moves
 */

/** @typedef {import("./replay.js").Json} Json */

/**
 * A replay so far, or only the turns after the known ones.
 * @typedef {import("./replay.js").ReplayDocument & {live: {over: boolean, trouble: string, run?: string}, yours: Yours | null,
 *   replay: string | null}} Payload `replay` is the permanent address of the replay
 */

/**
 * Callbacks for news.
 * @typedef {object} Listener
 * @property {(replay: Replay) => void} open
 * @property {() => void} grow
 * @property {(replay: Replay, yours: Yours | null) => void} ask null: wait
 * @property {(address: string) => void} keep the permanent address of the replay, "" for none
 * @property {(words: string, waits: boolean) => void} say a message for the page, "" for none; whether it only
 *   says what the match waits for
 */

/** The server's news about a match. */
export class Feed {
  /**
   * @param {string} address of the match's document
   * @param {string} key for playing actions; "" to watch only
   * @param {Listener} listener
   * @param {number} pause milliseconds between requests
   */
  constructor(address, key, listener, pause = PAUSE) {
    this.address = address;
    this.key = key;
    this.listener = listener;
    this.words = "";
    /** Which attempt and game of a match it is; "" if there is only one. */
    this.part = "";
    /** @type {Replay | null} */
    this.replay = null;
    this.source = new Source(address);
    this.poller = new Poller(() => this.look(), pause, (answers) => { if (!answers) this.say(LOST); });
  }

  /** Poll for news until the match is over. */
  run() {
    return this.poller.run();
  }

  /**
   * Send one request.
   * @returns {Promise<boolean>} whether the match is over
   */
  async look() {
    try {
      return await this.news();
    } catch (error) {
      if (error instanceof NoAnswer && error.status !== 404) {
        throw error;
      }
      this.say(error instanceof NoAnswer ? UNKNOWN : messageOf(error));
      return true;
    }
  }

  /**
   * Fetch what has happened since the last answer, and process it.
   * @returns {Promise<boolean>} whether the match is over
   */
  async news() {
    const answer = await this.source.ask(this.addressOfNews());
    if (answer === null) {
      this.say("");
      return false;
    }
    const payload = await answer.json();
    if (answer.status === 202) {
      this.say(payload.over ? payload.waiting : `Please wait: ${payload.waiting}.`, !payload.over);
      return payload.over;
    }
    await loadModule(String(payload.game ?? ""));
    await this.take(payload);
    return payload.live.over;
  }

  /** @returns {string} */
  addressOfNews() {
    const query = new URLSearchParams(this.key ? { hand: this.key } : {});
    if (this.replay) {
      query.set("after", String(this.replay.last));
      if (this.part) query.set("run", this.part);
    }
    return `${this.address}?${query}`;
  }

  /**
   * Process an answer of the server.
   * @param {Payload} payload
   */
  async take(payload) {
    const { over, trouble, run = "" } = payload.live;
    if (this.replay && this.part === run) {
      this.replay.extend(payload, over);
      await learnCaptions(this.replay);
      this.listener.grow();
    } else {
      this.part = run;
      this.replay = new Replay(validate(payload), over);
      await learnCaptions(this.replay);
      this.listener.open(this.replay);
    }
    this.listener.ask(this.replay, payload.yours);
    this.listener.keep(payload.replay ?? "");
    this.say(trouble);
  }

  /**
   * @param {string} words for the page, "" for none
   * @param {boolean} [waits] whether they only say what the match waits for
   */
  say(words, waits = false) {
    if (words !== this.words) {
      this.words = words;
      this.listener.say(words, waits);
    }
  }

  /**
   * Play an action by hand.
   * @param {number} turn number of turns played before
   * @param {Json} action its document
   * @returns {Promise<string>} why it was refused, "" if it was not
   */
  async play(turn, action) {
    const answer = await this.post("move", { turn, action });
    if (answer === "") {
      this.poller.wake();
    }
    return answer;
  }

  /**
   * Resign the match.
   * @returns {Promise<string>} why it was refused, "" if it was not
   */
  async resign() {
    const answer = await this.post("resign", {});
    this.poller.wake();
    return answer;
  }

  /**
   * @param {string} part
   * @param {Json} document
   * @returns {Promise<string>} why it was refused, "" if it was not
   */
  async post(part, document) {
    const path = this.address.replace(/document$/, part);
    const query = new URLSearchParams({ hand: this.key });
    try {
      const answer = await fetch(`${path}?${query}`, { method: "POST", body: JSON.stringify(document) });
      return answer.ok ? "" : String((await answer.json()).error);
    } catch {
      return "The server does not answer.";
    }
  }
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
