/**
 * What the viewer knows of a game.
 *
 * A moment is a turn with the frames around it; a happening is one sentence of the text panel; an
 * event is what the scrubber marks.
 *
 * @typedef {import("../drawing.js").Scene} Scene
 * @typedef {import("../drawing.js").Spot} Spot
 * @typedef {import("../replay.js").Replay} Replay
 * @typedef {{
 *   replay: Replay, turn: number, before: any, after: any, actions: Record<string, any>, memo: any,
 * }} Moment
 * @typedef {{seat: number, text: string}} Happening
 * @typedef {{turn: number, kind: "capture" | "death" | "fault" | "end", text: string}} Event
 *
 * @typedef {object} Measure
 * @property {string} name in the plural, for cards and charts
 * @property {(frame: any, replay: Replay) => number[]} of gives the number of every player
 *
 * @typedef {object} Game
 * @property {Measure[]} measures the first is what cards show large
 * @property {boolean} [fog] whether a player sees only a part of the board
 * @property {boolean} [night] whether the ground is dark in the light theme too
 * @property {boolean} [moves] whether the picture moves while nothing happens
 * @property {boolean} [numbered] whether coordinates are shown unless they are switched off
 * @property {(replay: Replay) => any} [prepare] gives `memo`
 * @property {(memo: any, replay: Replay) => void} [grow] takes new turns of a running match into `memo`
 * @property {(frame: any) => {width: number, height: number}} extent of the board in cells
 * @property {(scene: Scene) => void} draw
 * @property {(scene: Scene, x: number, y: number) => Spot | null} spotAt
 * @property {(moment: Moment) => Happening[]} happened
 * @property {(moment: Moment) => Omit<Event, "turn">[]} events
 * @property {(frame: any, replay: Replay) => string} describe the board for those who do not see it
 */

import { CIRCUIT_WARS } from "./circuit_wars.js";
import { CODE_BATTLE } from "./code_battle.js";
import { END_OF_CODES } from "./end_of_codes.js";
import { HEXAGON } from "./hexagon.js";
import { PAINT } from "./paint.js";

/** @type {Map<string, Game>} */
const GAMES = new Map([
  ["circuit-wars", CIRCUIT_WARS],
  ["code-battle", CODE_BATTLE],
  ["end-of-codes", END_OF_CODES],
  ["hexagon", HEXAGON],
  ["paint", PAINT],
]);

/**
 * Give what draws a game.
 * @param {string} name as in replays
 * @returns {Game}
 * @throws {Error} if there is nothing that draws it
 */
export function gameOf(name) {
  const game = GAMES.get(name);
  if (!game) {
    throw new Error(`This viewer cannot draw the game ${name}.`);
  }
  return game;
}
