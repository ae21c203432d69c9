/** What the viewer knows of a game. */

/**
 * @typedef {import("../drawing.js").Spot} Spot
 * @typedef {{seat: number, text: string, short?: string}} Happening what a player did in a turn; `short` is for where
 *   there is little room
 * @typedef {{
 *   turn: number, kind: "capture" | "death" | "lead" | "fault" | "end", text: string, short?: string, weight?: number,
 * }} Event what the line of turns marks; `short` is for where there is little room, and `weight` tells how decisive it
 *   was: about the part of all there is that it changed, in hundredths
 */

/**
 * What is drawn, and where.
 * @template [Frame=unknown]
 * @template [Memo=unknown]
 * @typedef {import("../drawing.js").Scene<Frame, Memo>} Scene
 */

/**
 * @template [Frame=unknown]
 * @typedef {import("../replay.js").Replay<Frame>} Replay
 */

/**
 * A turn with the frames around it; before the first one there is none, and both are the start.
 * @template [Frame=unknown]
 * @template [Memo=unknown]
 * @typedef {{
 *   replay: Replay<Frame>, turn: number, before: Frame, after: Frame,
 *   actions: import("../replay.js").Actions, memo: Memo,
 * }} Moment
 */

/**
 * A place that is worth looking at, in cells of the board; the weight says how much beside others.
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
 * What a game's module gives. The viewer hands frames and memos on without looking into them.
 * @template [Frame=any]
 * @template [Memo=any]
 * @typedef {object} Game
 * @property {Measure<Frame>[]} measures the first is what cards show large
 * @property {Measure<Frame>[]} [criteria] what decides who leads, the weightiest first; else the first of `measures`
 * @property {(frame: Frame) => number} [total] how much of the first measure there is to share
 * @property {(frame: Frame) => import("../replay.js").Player | null} [mover] who is to move; not where all act at once
 * @property {string[]} legend what the picture shows, a sentence for each of its parts
 * @property {boolean} [fog] whether a player sees only a part of the board
 * @property {boolean} [night] whether the ground is dark in the light theme too
 * @property {boolean} [moves] whether the picture moves while nothing happens
 * @property {boolean} [wraps] whether the picture goes on beyond the edges of the board
 * @property {boolean} [numbered] whether coordinates are shown unless they are switched off
 * @property {(replay: Replay<Frame>) => Memo} [prepare] gives `memo`
 * @property {(memo: Memo, replay: Replay<Frame>) => void} [grow] takes new turns of a running match into `memo`
 * @property {(frame: Frame, before: Frame, turn: number) => import("../outline.js").Line[]} [lines] shows the frame as
 *   text, in place of a picture
 * @property {boolean} [isBoard] whether these lines are a board, whose characters stand below each other
 * @property {(again: () => void) => void} [listen] is told what to call when more of the turn can be shown
 * @property {(frame: Frame) => {width: number, height: number}} extent of the board in cells
 * @property {(frame: Frame) => Scenery[]} [scenery] what a camera follows on a board that goes on beyond its edges
 * @property {(scene: Scene<Frame, Memo>) => void} draw
 * @property {(scene: Scene<Frame, Memo>, x: number, y: number) => Spot | null} spotAt
 * @property {(moment: Moment<Frame, Memo>) => Happening[]} happened
 * @property {(moment: Moment<Frame, Memo>) => Omit<Event, "turn">[]} events
 * @property {(end: import("../ending.js").End<Frame>) => string} [ending] says why a match ended and by what it was won;
 *   "" where the plain words do
 * @property {(frame: Frame, replay: Replay<Frame>) => string} describe the board for those who do not see it
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
 * Give what shows the game of a replay.
 * @param {Replay} replay
 * @returns {Game}
 */
export function gameOf(replay) {
  const { game } = replay.document;
  const showing = showingOf(game);
  return GAMES.get(game) ?? moduleOf(game).GAME ?? (showing.drawing ? drawnGame(replay, showing) : plainGame(replay));
}
