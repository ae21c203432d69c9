/** What the viewer knows about a game. */

/**
 * @typedef {import("../drawing.js").Spot} Spot
 * @typedef {{seat: number, text: string, short?: string}} Happening what a player did in a turn; `short` is for
 *   narrow places
 * @typedef {{
 *   turn: number, kind: "capture" | "death" | "lead" | "fault" | "end", text: string, short?: string, weight?: number,
 * }} Event what the line of turns marks; `short` is for narrow places, and `weight` says how decisive it was:
 *   roughly the percentage of everything that it changed
 */

/**
 * What to draw, and where.
 * @template [Frame=unknown]
 * @template [Memo=unknown]
 * @typedef {import("../drawing.js").Scene<Frame, Memo>} Scene
 */

/**
 * @template [Frame=unknown]
 * @typedef {import("../replay.js").Replay<Frame>} Replay
 */

/**
 * A turn with the frames around it; before the first one both frames are the start.
 * @template [Frame=unknown]
 * @template [Memo=unknown]
 * @typedef {{
 *   replay: Replay<Frame>, turn: number, before: Frame, after: Frame,
 *   actions: import("../replay.js").Actions, memo: Memo,
 * }} Moment
 */

/**
 * A place worth watching, in cells of the board, with its relative weight.
 * @typedef {{x: number, y: number, weight: number}} Scenery
 */

/**
 * A number that every player has.
 * @template [Frame=unknown]
 * @typedef {object} Measure
 * @property {string} name in the plural, for cards and charts
 * @property {(frame: Frame, replay: Replay<Frame>, turn: number) => number[]} of gives the number of every player
 */

/**
 * The interface of a game's module. The viewer passes frames and memos on without interpreting them.
 * @template [Frame=any]
 * @template [Memo=any]
 * @typedef {object} Game
 * @property {Measure<Frame>[]} measures the first is shown large on cards
 * @property {Measure<Frame>[]} [criteria] what decides who leads, in order of weight; default: the first of `measures`
 * @property {(frame: Frame) => number} [total] how much of the first measure there is to share
 * @property {(frame: Frame) => import("../replay.js").Player | null} [mover] who moves next; absent if all act at once
 * @property {string[]} legend a sentence for each part of the picture
 * @property {boolean} [fog] whether a player sees only a part of the board
 * @property {boolean} [night] whether the background is dark in the light theme too
 * @property {boolean} [moves] whether the picture is animated within a turn
 * @property {boolean} [wraps] whether the board wraps around
 * @property {boolean} [numbered] whether coordinates are shown by default
 * @property {(replay: Replay<Frame>) => Memo} [prepare] returns `memo`
 * @property {(memo: Memo, replay: Replay<Frame>) => void} [grow] adds new turns of a running match to `memo`
 * @property {(frame: Frame, before: Frame, turn: number) => import("../outline.js").Line[]} [lines] shows the frame as
 *   text, in place of a picture
 * @property {boolean} [isBoard] whether these lines are a board, with aligned characters
 * @property {(again: () => void) => void} [listen] takes a callback for when more of the turn can be shown
 * @property {(frame: Frame) => {width: number, height: number}} extent of the board in cells
 * @property {(frame: Frame) => Scenery[]} [scenery] what a camera follows on a board that wraps around
 * @property {(scene: Scene<Frame, Memo>) => void} draw
 * @property {(scene: Scene<Frame, Memo>, x: number, y: number) => Spot | null} spotAt
 * @property {(moment: Moment<Frame, Memo>) => Happening[]} happened
 * @property {(moment: Moment<Frame, Memo>) => Omit<Event, "turn">[]} events
 * @property {(end: import("../ending.js").End<Frame>) => string} [ending] returns why a match ended and what decided it;
 *   "" if the default text will do
 * @property {(frame: Frame, replay: Replay<Frame>) => string} describe the board for people who cannot see it
 */

import { drawnGame } from "./drawn.js";
import { moduleOf, showingOf } from "./installed.js";
import { CIRCUIT_WARS } from "./circuit_wars.js";
import { CODE_BATTLE } from "./code_battle.js";
import { END_OF_CODES } from "./end_of_codes.js";
import { HEXAGON } from "./hexagon.js";
import { PAINT } from "./paint.js";
import { plainGame } from "./plain.js";

const GAMES = new Map(/** @type {[string, Game][]} */ ([
  ["circuit-wars", CIRCUIT_WARS],
  ["code-battle", CODE_BATTLE],
  ["end-of-codes", END_OF_CODES],
  ["hexagon", HEXAGON],
  ["paint", PAINT],
]));

/**
 * Return the module that shows the game of a replay.
 * @param {Replay} replay
 * @returns {Game}
 */
export function gameOf(replay) {
  const { game } = replay.document;
  const showing = showingOf(game);
  return GAMES.get(game) ?? moduleOf(game).GAME ?? (showing.drawing ? drawnGame(replay, showing) : plainGame(replay));
}
