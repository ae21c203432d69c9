/** The current match: a run while it is played, or one of a series. */

import { learnCaptions } from "../viewer/games/captions.js";
import { loadModule } from "../viewer/games/installed.js";
import { Feed } from "../viewer/live.js";
import { readReplay } from "../viewer/replay.js";
import { Viewer } from "../viewer/viewer.js";
import { byId } from "./elements.js";
import { Refused } from "./server.js";

/** Milliseconds between checks whether a replay is surveyed. */
const SURVEYING = 100;

/** Shows matches with the viewer. */
export class Match {
  /** @param {(turn: number) => void} noteTurn receives the current turn */
  constructor(noteTurn) {
    this.viewer = new Viewer();
    this.viewer.playback.addEventListener("turn", () => noteTurn(this.turn));
    this.noteTurn = noteTurn;
    /** Counts the matches shown, so that news from an earlier one is ignored. */
    this.number = 0;
  }

  /** @returns {number} the current turn */
  get turn() {
    return this.viewer.replay ? this.viewer.playback.turn : 0;
  }

  /**
   * Go to a turn.
   * @param {number} turn
   */
  visit(turn) {
    const { playback, replay } = this.viewer;
    playback.step(Math.min(turn, replay?.last ?? 0) - playback.turn);
  }

  /**
   * Follow a match in progress.
   * @param {string} address of its document
   */
  follow(address) {
    const number = ++this.number;
    const isCurrent = () => number === this.number;
    const feed = new Feed(address, "", {
      open: (replay) => { if (isCurrent()) { this.open(replay); } },
      grow: () => { if (isCurrent()) { this.viewer.grow(); } },
      ask: () => {},
      keep: () => {},
      say: () => {},
    });
    feed.poller.every = 100;
    void feed.run();
  }

  /**
   * Show a replay.
   * @param {import("../viewer/replay.js").Replay} replay
   */
  open(replay) {
    // The turn of the previous match means nothing in this one.
    history.replaceState(null, "", location.pathname + location.search);
    byId("no-picture").hidden = true;
    byId("viewer").hidden = false;
    // A run and the previous one look alike from outside: this number distinguishes them.
    byId("viewer").dataset.shown = String(this.number);
    this.viewer.open(replay);
    if (replay.over) {
      this.viewer.playback.follow();
    }
    this.noteTurn(this.turn);
  }

  /**
   * Show a replay from the server at its start.
   * @param {string} address
   * @returns {Promise<import("../viewer/replay.js").Replay | null>} null: another match is shown meanwhile
   * @throws {Error} with a sentence for the author
   */
  async load(address) {
    const number = ++this.number;
    const answer = await fetch(address);
    if (!answer.ok) {
      throw new Refused(answer.status, await answer.json().catch(() => ({})));
    }
    const replay = await readReplay(new Uint8Array(await answer.arrayBuffer()));
    await loadModule(replay.document.game);
    await learnCaptions(replay);
    if (number !== this.number) {
      return null;
    }
    this.open(replay);
    return replay;
  }

  /**
   * Show a replay from the server at its end, or a lost one at the turn in which the lead was lost.
   * @param {string} address
   * @param {boolean} isLost
   */
  async show(address, isLost) {
    const replay = await this.load(address);
    if (replay) {
      this.visit(isLost ? await this.turningPoint(this.number) ?? replay.last : replay.last);
    }
  }

  /**
   * Return the turn in which the lead last changed, once the replay is surveyed.
   * @param {number} number
   * @returns {Promise<number | undefined>} undefined: it never changed
   */
  async turningPoint(number) {
    while (number === this.number && byId("viewer").dataset.surveyed !== "true") {
      await new Promise((resolve) => { setTimeout(resolve, SURVEYING); });
    }
    const leads = (this.viewer.overview.findings?.events ?? []).filter(({ kind }) => kind === "lead");
    return leads.at(-1)?.turn;
  }
}
