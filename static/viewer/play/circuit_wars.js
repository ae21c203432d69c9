/** Circuit Wars by hand: click a segment to draw it. */

import { allSegments, condition, keyOf } from "../../monitor/geometry.js";
import { colour } from "../drawing.js";

/** Maximum distance of a click from a segment, in squares. */
const NEAR = 0.3;

/**
 * @typedef {{key: string, move: string, ends: number[]}} Found
 * @typedef {import("./play.js").Turn<import("../games/circuit_wars.js").Frame, string, Found>} Turn
 */

/** @type {import("./play.js").Mover<import("../games/circuit_wars.js").Frame, string, Found>} */
export const CIRCUIT_WARS = {
  words: () => "Your turn: draw a free segment.",

  legend: (touch) => [
    { sign: "faint", text: `a free segment: ${touch ? "tap" : "click"} it` },
    { sign: "stroke", text: "the segment that you draw" },
  ],

  label: (move) => move,

  press(turn, at) {
    turn.pick = segmentAt(turn, at);
    return turn.pick !== null;
  },

  drop(turn, at) {
    const segment = segmentAt(turn, at);
    return segment && segment.key === turn.pick?.key ? segment.move : null;
  },

  refusal({ frame }, place) {
    const segment = nearest(frame.size, place);
    if (!segment) {
      return "There is no segment: choose a line between two neighbouring points.";
    }
    const how = condition(frame.board, segment);
    return how === "free" ? "" : `That segment ${how === "drawn" ? "is drawn already" : "lies inside a closed area"}: choose another.`;
  },

  draw(scene, turn, pointer) {
    const segment = pointer && segmentAt(turn, pointer);
    if (segment) {
      drawChoice(scene, turn, segment.ends);
    }
  },

  preview(scene, turn, move) {
    const segment = allSegments(turn.frame.size).find(({ key }) => key === keyOf(move));
    if (segment) {
      drawChoice(scene, turn, segment.ends);
    }
  },
};

/**
 * Preview the segment of a move.
 * @param {import("../drawing.js").Scene} scene
 * @param {Turn} turn
 * @param {number[]} ends
 */
function drawChoice(scene, turn, [x, y, toX, toY]) {
  const { ctx } = scene;
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

/**
 * Return the free segment at a position.
 * @param {Turn} turn
 * @param {import("./play.js").Place} place
 * @returns {Found | null}
 */
function segmentAt({ frame, moves }, place) {
  const segment = nearest(frame.size, place);
  const move = moves.find((one) => keyOf(one) === segment?.key);
  return segment && move !== undefined ? { key: segment.key, move, ends: segment.ends } : null;
}

/**
 * Return the segment nearest to a position.
 * @param {number} size
 * @param {import("./play.js").Place} place
 * @returns {import("../../monitor/geometry.js").Segment | null} null if none is near
 */
function nearest(size, place) {
  let best = null;
  let least = NEAR;
  for (const segment of allSegments(size)) {
    const away = distance(place, segment.ends);
    if (away < least) {
      least = away;
      best = segment;
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
