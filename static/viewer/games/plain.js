/** A game unknown to the viewer: its frames are shown as text. */

import { isRecord } from "../json.js";
import { actionWords, linesOf } from "../outline.js";

/** Maximum length of an action's text. */
const LONGEST = 140;

/** @typedef {import("./game.js").Replay} Replay */

/**
 * Return a game without a module of its own.
 * @param {Replay} replay
 * @returns {import("./game.js").Game<unknown, null>}
 */
export function plainGame(replay) {
  return {
    legend: [
      "This viewer cannot draw this game: it shows the frame of each turn as text.",
      "Changes in a turn are marked at the left edge.",
    ],
    measures: scoresOfFrames(replay),
    lines: (frame, before) => linesOf(frame, before),
    extent: () => ({ width: 1, height: 1 }),
    draw: () => {},
    spotAt: () => null,
    happened: ({ actions }) => replay.seats
      .filter(({ key }) => Object.hasOwn(actions, key))
      .map(({ key, index }) => ({ seat: index, text: actionWords(actions[key], LONGEST) })),
    events: () => [],
    describe: () => "No picture: the frame is below, as text.",
  };
}

/**
 * Return a measure for the scores in the frames, if any.
 * @param {Replay} replay
 * @returns {import("./game.js").Game["measures"]}
 */
export function scoresOfFrames(replay) {
  const scored = scoresIn(replay.frame(0), replay) || scoresIn(replay.frame(replay.last), replay);
  return scored ? [{ name: "score", of: (frame) => scoresIn(frame, replay) ?? replay.seats.map(() => 0) }] : [];
}

/**
 * Return the scores in a frame, if any: as `scores`, or as `score` of its `players`.
 * @param {unknown} frame
 * @param {Replay} replay
 * @returns {number[] | null} of all players
 */
function scoresIn(frame, { seats }) {
  if (!isRecord(frame)) {
    return null;
  }
  const { scores, players } = frame;
  const values = seats.map(({ key, index }) => {
    if (Array.isArray(scores)) {
      return scores[index];
    }
    return isRecord(scores) ? scores[key] : Array.isArray(players) && isRecord(players[index]) ? players[index].score : null;
  });
  return values.length > 0 && values.every((score) => typeof score === "number") ? values : null;
}
