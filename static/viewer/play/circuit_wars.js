/** Circuit Wars by hand: a click on a segment draws it. */

import { allSegments, keyOf } from "../../monitor/geometry.js";
import { colour } from "../drawing.js";

/** How far from a segment a click may be, in squares. */
const NEAR = 0.3;

/**
 * @typedef {{key: string, move: string, ends: number[]}} Found
 * @typedef {import("./play.js").Turn<import("../games/circuit_wars.js").Frame, string, Found>} Turn
 */

/** @type {import("./play.js").Mover<import("../games/circuit_wars.js").Frame, string, Found>} */
export const CIRCUIT_WARS = {
  words: () => "Your turn: click a free segment.",

  label: (move) => move,

  press(turn, at) {
    turn.picked = segmentAt(turn, at);
    return turn.picked !== null;
  },

  drop(turn, at) {
    const found = segmentAt(turn, at);
    return found && found.key === turn.picked?.key ? found.move : null;
  },

  draw(scene, turn, pointer) {
    const found = pointer && segmentAt(turn, pointer);
    if (found) {
      const { ctx } = scene;
      const [x, y, toX, toY] = found.ends;
      ctx.strokeStyle = colour(scene, turn.seat);
      ctx.globalAlpha = 0.6;
      ctx.lineWidth = 0.16;
      ctx.lineCap = "round";
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(toX, toY);
      ctx.stroke();
      ctx.globalAlpha = 1;
    }
  },
};

/**
 * Give the free segment at a place.
 * @param {Turn} turn
 * @param {import("./play.js").Place} place
 * @returns {Found | null}
 */
function segmentAt({ frame, moves }, place) {
  const free = new Map(moves.map((move) => [keyOf(move), move]));
  let best = null;
  let least = NEAR;
  for (const { key, ends } of allSegments(frame.size)) {
    const away = distance(place, ends);
    const move = free.get(key);
    if (away < least && move !== undefined) {
      least = away;
      best = { key, move, ends };
    }
  }
  return best;
}

/**
 * @param {import("./play.js").Place} place
 * @param {number[]} ends of a segment along an axis
 * @returns {number}
 */
function distance({ x, y }, [left, top, right, bottom]) {
  return Math.hypot(x - Math.min(right, Math.max(left, x)), y - Math.min(bottom, Math.max(top, y)));
}
