/** The match that is shown: a run while it is played, or one of a series. */

import { learnCaptions } from "../viewer/games/captions.js";
import { loadModule } from "../viewer/games/installed.js";
import { Feed } from "../viewer/live.js";
import { readReplay } from "../viewer/replay.js";
import { Viewer } from "../viewer/viewer.js";
import { byId } from "./elements.js";
import { Refused } from "./server.js";

/** Milliseconds in which a replay is looked through. */
const SURVEYING = 100;

/** Shows matches with the viewer. */
export class Match {
  /** @param {(turn: number) => void} noteTurn is told which turn is shown */
  constructor(noteTurn) {
    this.viewer = new Viewer();
    this.viewer.playback.addEventListener("turn", () => noteTurn(this.turn));
    this.noteTurn = noteTurn;
    /** Counts what was shown: what an earlier one still says is for nobody. */
    this.number = 0;
  }

  /** @returns {number} the turn that is shown */
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
   * Follow a match that is played.
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
    // The turn of the match before is not a turn of this one.
    history.replaceState(null, "", location.pathname + location.search);
    byId("no-picture").hidden = true;
    byId("viewer").hidden = false;
    // A run and the one before it look alike from outside: they are told apart by what is counted.
    byId("viewer").dataset.shown = String(this.number);
    this.viewer.open(replay);
    if (replay.over) {
      this.viewer.playback.follow();
    }
    this.noteTurn(this.turn);
  }

  /**
   * Show a replay of the server at its start.
   * @param {string} address
   * @returns {Promise<import("../viewer/replay.js").Replay | null>} null: something else is shown meanwhile
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
   * Show a replay of the server at its end; one that was lost at the turn in which the lead was lost.
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
   * Give the turn in which the lead changed last, once the replay is looked through.
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
