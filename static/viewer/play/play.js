/** Playing by hand: moves come from mouse, touch and keys on the board, or from a list. */

import { element } from "../../shared/dom.js";
import { byId } from "../elements.js";
import { moduleOf } from "../games/installed.js";
import { isTaken } from "../keys.js";
import { actionWords } from "../outline.js";
import { standingWords } from "../words.js";
import { CIRCUIT_WARS } from "./circuit_wars.js";
import { HEXAGON } from "./hexagon.js";
import { PAINT } from "./paint.js";

/**
 * How moves of a game are made on its board. The page passes moves on without interpreting them.
 * @template [Frame=any]
 * @template [Move=any]
 * @template [Picked=any]
 * @typedef {object} Mover
 * @property {(turn: Turn<Frame, Move, Picked>) => string} words what to do
 * @property {(touch: boolean) => {sign: string, text: string}[]} [legend] how it is done, with fingers or
 *   with mouse and keys, and what the symbols on the board mean
 * @property {(move: Move) => string} label of a move in the list
 * @property {(turn: Turn<Frame, Move, Picked>, at: Place) => boolean} [press] returns whether a press at a
 *   place starts a move
 * @property {(turn: Turn<Frame, Move, Picked>, at: Place) => Move | null} [drop] returns the move that ends at
 *   a place, null for none
 * @property {(turn: Turn<Frame, Move, Picked>, at: Place) => string} [refusal] returns why a press does nothing at a
 *   place, "" without a message
 * @property {(turn: Turn<Frame, Move, Picked>, event: KeyboardEvent) => Move | null} [key] returns the move of
 *   a key, null for none
 * @property {(scene: import("../drawing.js").Scene, turn: Turn<Frame, Move, Picked>, pointer: Place | null) => void} [draw]
 * @property {(scene: import("../drawing.js").Scene, turn: Turn<Frame, Move, Picked>, move: Move) => void} [preview]
 *   draws the effect of a move in the list
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
 * The turn of the person at the page; `picked` is what they have picked up.
 * @template [Frame=any]
 * @template [Move=any]
 * @template [Pick=any]
 * @typedef {{
 *   frame: Frame, replay: import("../replay.js").Replay<Frame>, seat: number, number: number, moves: Move[],
 *   pick: Pick | null, again: boolean,
 * }} Turn `number` turns were played before; `again`: the previous turn was theirs too
 */

/** @type {Record<string, Mover>} */
const MOVERS = { "circuit-wars": CIRCUIT_WARS, hexagon: HEXAGON, paint: PAINT };

/** @type {Mover} for a game without one of its own: moves are chosen in the list */
const LISTED = { words: () => "Your turn: choose your move.", label: (move) => actionWords(move, LONGEST) };

/** Maximum length of a move in the list. */
const LONGEST = 80;

/** Pixels that a pointer may move during a click. */
const CLICK = 6;

const WAITING = "Please wait: it is the bot's turn.";
const EARLIER = "The board shows an earlier turn. Press Live to go back to your move.";

/** Handles moves by a person. */
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
    this.touch = matchMedia("(hover: none) and (pointer: coarse)");
    /** Why the latest press does nothing, or "". */
    this.refusal = "";
    viewer.stage.player = this;
    this.bindBoard(byId("board"));
    this.bindList();
    this.bindResign(/** @type {HTMLDialogElement} */ (byId("resign-dialog")));
    document.addEventListener("keydown", (event) => this.key(event), { capture: true });
  }

  /**
   * Report why a click on the board does nothing; dragging the board is not a click.
   * @param {HTMLElement} board
   */
  bindBoard(board) {
    let [left, top] = [0, 0];
    board.addEventListener("pointerdown", (event) => { [left, top] = [event.clientX, event.clientY]; });
    board.addEventListener("click", (event) => {
      if (this.refusal && Math.hypot(event.clientX - left, event.clientY - top) <= CLICK) {
        this.say(this.refusal);
      }
    });
  }

  /** Listen to the list of moves. */
  bindList() {
    for (const change of ["focusin", "focusout", "change"]) {
      byId("hand-list").addEventListener(change, () => this.viewer.stage.request());
    }
    byId("hand-list").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      const move = this.turn?.moves[byId("hand-move").selectedIndex];
      if (move !== undefined) {
        void this.send(move);
      } else {
        this.say(this.turn ? "Choose a move first." : WAITING);
      }
    });
  }

  /**
   * Ask for confirmation, then resign.
   * @param {HTMLDialogElement} dialog
   */
  bindResign(dialog) {
    byId("resign").addEventListener("click", () => {
      dialog.returnValue = "";
      dialog.showModal();
    });
    dialog.addEventListener("close", async () => {
      if (dialog.returnValue === "resign") {
        this.say(await this.feed.resign());
      }
    });
  }

  /**
   * Report why something is refused.
   * @param {string} words "" for nothing
   */
  say(words) {
    byId("hand-trouble").textContent = words;
  }

  /**
   * Show what the person may do now.
   * @param {import("../replay.js").Replay} replay
   * @param {import("../live.js").Yours | null} yours null while they have to wait
   */
  show(replay, yours) {
    const { game } = replay.document;
    this.mover = MOVERS[game] ?? moduleOf(game).MOVER ?? LISTED;
    const hasBoard = Boolean(this.mover.press ?? this.mover.key ?? this.mover.pads);
    byId("hand-label").textContent = hasBoard ? "Or choose from the list" : "Your move";
    Object.assign(byId("viewer").dataset, { yours: String(yours !== null), over: String(replay.over) });
    if (replay.over) {
      this.end(replay);
    } else if (yours && yours.turn !== this.turn?.number) {
      this.begin(replay, yours);
    } else if (!yours) {
      this.turn = null;
      byId("hand-words").textContent = "The bot is thinking.";
    }
    byId("hand").hidden = replay.over;
    this.viewer.stage.request();
  }

  /**
   * Show how the match ended, and offer the next one.
   * @param {import("../replay.js").Replay} replay
   */
  end(replay) {
    const hadFocus = byId("hand").contains(document.activeElement);
    this.turn = null;
    byId("hand-words").textContent = endWords(replay, Number(byId("hand").dataset.seat));
    byId("hand-over").hidden = false;
    if (hadFocus) {
      byId("hand-over").querySelector("button")?.focus();
    }
  }

  /**
   * @param {import("../replay.js").Replay} replay
   * @param {import("../live.js").Yours} yours
   */
  begin(replay, { player, turn, moves, words }) {
    const again = Object.keys(replay.actions(replay.last)).join() === player;
    this.turn = {
      frame: replay.frame(replay.last), replay, seat: replay.seat(player), number: turn, moves, pick: null, again,
    };
    const legend = this.mover.legend?.(this.touch.matches) ?? [];
    const pads = this.mover.pads ?? [];
    this.viewer.playback.follow();
    this.say("");
    byId("hand-words").textContent = this.mover.words(this.turn);
    const names = this.mover === LISTED && words ? words : moves.map((move) => this.mover.label(move));
    byId("hand-move").replaceChildren(...names.map((name, index) => new Option(name, String(index))));
    byId("hand-pads").replaceChildren(...pads.map((pad) => this.pad(pad)));
    byId("hand-legend").replaceChildren(...legend.map(({ sign, text }) => legendItem(sign, text)));
  }

  /**
   * @param {Pad} pad
   * @returns {HTMLElement}
   */
  pad({ words, buttons }) {
    const pad = element("div", "pad", ...buttons.map((button) => (button ? this.button(button) : element("span", "", words))));
    pad.setAttribute("role", "group");
    pad.setAttribute("aria-label", words);
    return pad;
  }

  /**
   * @param {{text: string, move: Json}} button
   * @returns {HTMLElement}
   */
  button({ text, move }) {
    const button = element("button", "", text);
    button.type = "button";
    button.setAttribute("aria-label", this.mover.label(move));
    button.addEventListener("click", () => this.send(move));
    return button;
  }

  /**
   * Send a move; report a refusal, and ask again.
   * @param {Json} move
   */
  async send(move) {
    const { turn } = this;
    if (!turn) {
      return;
    }
    this.turn = null;
    const trouble = await this.feed.play(turn.number, move);
    this.say(trouble);
    if (trouble !== "") {
      this.turn = { ...turn, pick: null };
    }
    this.viewer.stage.request();
  }

  /**
   * Return the turn if moves can be made on the shown board, otherwise null.
   * @returns {Turn | null}
   */
  get open() {
    return this.viewer.playback.following ? this.turn : null;
  }

  /**
   * Return the move chosen in the list, or null if the focus is elsewhere.
   * @returns {Json}
   */
  get choice() {
    const isThere = byId("hand-list").contains(document.activeElement);
    return isThere ? this.turn?.moves[byId("hand-move").selectedIndex] ?? null : null;
  }

  /**
   * @param {Place} at
   * @returns {boolean} whether the press was handled
   */
  press(at) {
    const { open, mover } = this;
    if (!open) {
      this.refusal = this.turn ? EARLIER : byId("hand").hidden ? "" : WAITING;
      return false;
    }
    const why = mover.refusal?.(open, at) ?? "";
    const isOurs = Boolean(mover.press?.(open, at));
    this.refusal = isOurs ? "" : why;
    return isOurs;
  }

  /** @param {Place} at */
  drop(at) {
    const { open, mover } = this;
    const why = open ? mover.refusal?.(open, at) ?? "" : "";
    const move = open ? mover.drop?.(open, at) ?? null : null;
    this.say(move === null ? why : "");
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
   * Draw possible moves over the board.
   * @param {import("../drawing.js").Scene} scene
   * @param {Place | null} pointer
   */
  draw(scene, pointer) {
    const { open, choice } = this;
    if (open) {
      this.mover.draw?.(scene, open, pointer);
    }
    if (open && choice !== null) {
      this.mover.preview?.(scene, open, choice);
    }
  }
}

/**
 * Return how a match ended, from a person's point of view.
 * @param {import("../replay.js").Replay} replay which is over
 * @param {number} seat theirs
 * @returns {string}
 */
function endWords(replay, seat) {
  const how = standingWords(replay)[seat];
  if (how === "") {
    return "The match ended without a result.";
  }
  if (replay.document.result.outcome?.reason === "resigned") {
    return "You resigned.";
  }
  return "The match is over.";
}

/**
 * @param {string} sign "" for none
 * @param {string} text
 * @returns {HTMLElement}
 */
function legendItem(sign, text) {
  return element("li", "", ...(sign ? [element("span", `sign ${sign}`)] : []), element("span", "", text));
}
