/** Playing by hand: the board takes moves from mouse, finger and keys, and so does a list. */

import { byId, element } from "../elements.js";
import { isTaken } from "../keys.js";
import { CIRCUIT_WARS } from "./circuit_wars.js";
import { HEXAGON } from "./hexagon.js";
import { PAINT } from "./paint.js";

/**
 * How moves of a game are made on its board. The page hands moves on without looking into them.
 * @template [Frame=any]
 * @template [Move=any]
 * @template [Picked=any]
 * @typedef {object} Mover
 * @property {(turn: Turn<Frame, Move, Picked>) => string} words what there is to do
 * @property {(move: Move) => string} label of a move in the list
 * @property {(turn: Turn<Frame, Move, Picked>, at: Place) => boolean} [press] tells whether a press at a
 *   place begins a move
 * @property {(turn: Turn<Frame, Move, Picked>, at: Place) => Move | null} [drop] gives the move that ends at
 *   a place, null for none
 * @property {(turn: Turn<Frame, Move, Picked>, event: KeyboardEvent) => Move | null} [key] gives the move of
 *   a key, null for none
 * @property {(scene: import("../drawing.js").Scene, turn: Turn<Frame, Move, Picked>, pointer: Place | null) => void} [draw]
 * @property {Pad<Move>[]} [pads] buttons for those without keys
 */

/**
 * Rows of three buttons; null is a gap.
 * @template [Move=Json]
 * @typedef {{words: string, buttons: ({text: string, move: Move} | null)[]}} Pad
 */

/** @typedef {import("../json.js").Json} Json */

/** @typedef {{x: number, y: number}} Place in cells of the board */

/**
 * The turn of the person at the page; `picked` is what they have taken up.
 * @template [Frame=any]
 * @template [Move=any]
 * @template [Picked=any]
 * @typedef {{
 *   frame: Frame, replay: import("../replay.js").Replay<Frame>, seat: number, number: number, moves: Move[],
 *   picked: Picked | null, again: boolean,
 * }} Turn `number` turns were played before; `again`: the turn before was the same person's
 */

/** @type {Record<string, Mover>} */
const MOVERS = { "circuit-wars": CIRCUIT_WARS, hexagon: HEXAGON, paint: PAINT };

/** @type {Mover} for a game without one of its own: moves are chosen in the list */
const LISTED = { words: () => "Choose your move.", label: (move) => JSON.stringify(move) };

/** What a person does at the board. */
export class Play {
  /**
   * @param {import("../viewer.js").Viewer} viewer
   * @param {import("../live.js").Feed} feed
   */
  constructor(viewer, feed) {
    this.viewer = viewer;
    this.feed = feed;
    /** @type {Turn | null} */
    this.turn = null;
    this.mover = LISTED;
    viewer.stage.player = this;
    byId("hand-list").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      const move = this.turn?.moves[byId("hand-move").selectedIndex];
      if (move !== undefined) {
        void this.send(move);
      }
    });
    byId("leave").addEventListener("click", () => this.feed.leave());
    document.addEventListener("keydown", (event) => this.key(event), { capture: true });
  }

  /**
   * Show what the person may do now.
   * @param {import("../replay.js").Replay} replay
   * @param {import("../live.js").Yours | null} yours null while they have to wait
   */
  show(replay, yours) {
    this.mover = MOVERS[replay.document.game] ?? LISTED;
    byId("hand").hidden = replay.over;
    byId("hand-words").hidden = replay.over;
    byId("hand-play").disabled = yours === null;
    byId("viewer").dataset.yours = String(yours !== null);
    if (yours && yours.turn !== this.turn?.number) {
      this.begin(replay, yours);
    } else if (!yours) {
      this.turn = null;
      byId("hand-words").textContent = "The bot is thinking.";
    }
    this.viewer.stage.request();
  }

  /**
   * @param {import("../replay.js").Replay} replay
   * @param {import("../live.js").Yours} yours
   */
  begin(replay, { player, turn, moves }) {
    const again = Object.keys(replay.actions(replay.last)).join() === player;
    this.turn = {
      frame: replay.frame(replay.last), replay, seat: replay.seat(player), number: turn, moves, picked: null, again,
    };
    this.viewer.playback.follow();
    byId("hand-trouble").hidden = true;
    byId("hand-words").textContent = this.mover.words(this.turn);
    byId("hand-move").replaceChildren(...moves.map((move, index) => new Option(this.mover.label(move), String(index))));
    byId("hand-pads").replaceChildren(...(this.mover.pads ?? []).map((pad) => this.pad(pad)));
  }

  /**
   * @param {Pad} pad
   * @returns {HTMLElement}
   */
  pad({ words, buttons }) {
    const made = element("div", "pad", ...buttons.map((button) => (button ? this.button(button) : element("span", "", words))));
    made.setAttribute("role", "group");
    made.setAttribute("aria-label", words);
    return made;
  }

  /**
   * @param {{text: string, move: Json}} button
   * @returns {HTMLElement}
   */
  button({ text, move }) {
    const made = element("button", "", text);
    made.type = "button";
    made.setAttribute("aria-label", this.mover.label(move));
    made.addEventListener("click", () => this.send(move));
    return made;
  }

  /**
   * Send a move; what is refused is said, and asked again.
   * @param {Json} move
   */
  async send(move) {
    const { turn } = this;
    if (!turn) {
      return;
    }
    this.turn = null;
    const trouble = await this.feed.play(turn.number, move);
    byId("hand-trouble").textContent = trouble;
    byId("hand-trouble").hidden = trouble === "";
    if (trouble !== "") {
      this.turn = { ...turn, picked: null };
    }
    this.viewer.stage.request();
  }

  /**
   * Give the turn whose moves can be made on what the board shows, null if there is none.
   * @returns {Turn | null}
   */
  get open() {
    return this.viewer.playback.following ? this.turn : null;
  }

  /**
   * @param {Place} at
   * @returns {boolean} whether the press is ours
   */
  press(at) {
    const { open } = this;
    return open !== null && Boolean(this.mover.press?.(open, at));
  }

  /** @param {Place} at */
  drop(at) {
    const { open } = this;
    const move = open ? this.mover.drop?.(open, at) ?? null : null;
    if (move !== null) {
      void this.send(move);
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { open } = this;
    if (!open || event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) {
      return;
    }
    const move = this.mover.key?.(open, event) ?? null;
    if (move !== null) {
      event.preventDefault();
      event.stopPropagation();
      void this.send(move);
    }
  }

  /**
   * Draw what can be done over the board.
   * @param {import("../drawing.js").Scene} scene
   * @param {Place | null} pointer
   */
  draw(scene, pointer) {
    const { open } = this;
    if (open) {
      this.mover.draw?.(scene, open, pointer);
    }
  }
}
