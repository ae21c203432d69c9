/** Circuit Wars: segments, areas, and the last move. */

import { allSegments, areas, BORDERS, condition, keyOf, owner } from "../../monitor/geometry.js";
import { comparedThings, forfeit, inTurn } from "../ending.js";
import { axes, colour, inks, mark, strength, write } from "../drawing.js";
import { letterOf } from "../palette.js";
import { countOf } from "../../shared/counts.js";
import { doing } from "../words.js";

/**
 * @typedef {import("../../monitor/geometry.js").Segment} Segment
 * @typedef {{size: number, board: number[][], scores: [number, number], last_move: string, player: number, ended: string | null}} Frame
 * @typedef {{segments: Segment[], authors: Map<string, {seat: number, turn: number}>}} Memo
 * @typedef {import("./game.js").Replay<Frame>} Replay
 * @typedef {import("./game.js").Scene<Frame, Memo>} Scene
 */

/** Colours of the live game: rims of points, free segments, and the last move, on light and dark backgrounds. */
const LOOKS = {
  light: { rim: "#45544c", free: "#c3d3c9", marker: "#ffe27a" },
  dark: { rim: "#a9bbb1", free: "#34493e", marker: "#6b5a10" },
};

/** @type {import("./game.js").Game<Frame, Memo>} */
export const CIRCUIT_WARS = {
  legend: [
    "Segments have the colour of the player who drew them; those of player B have a light core, those of the start are grey.",
    "A closed area has the colour and the mark of its owner.",
    "The last move is on yellow.",
  ],
  measures: [{ name: "squares", of: (frame) => frame.scores }],
  total: ({ size }) => size * size,
  mover: ({ player, ended }) => (ended ? null : player),

  prepare(replay) {
    const size = replay.frame(0).size;
    return { segments: allSegments(size), authors: drawnBy(replay) };
  },

  grow(memo, replay) {
    memo.authors = drawnBy(replay);
  },

  extent: ({ size }) => ({ width: size, height: size }),

  draw(scene) {
    const { ctx, frame } = scene;
    areas(frame.board).forEach((area) => drawArea(scene, area));
    ctx.lineCap = "round";
    const last = keyOf(frame.last_move);
    scene.memo.segments.forEach((segment) => segment.key === last || drawSegment(scene, segment));
    scene.memo.segments.filter(({ key }) => key === last).forEach((segment) => drawLast(scene, segment));
    drawPoints(scene);
    axes(scene, frame.size, frame.size);
    ringSquare(scene);
  },

  spotAt(scene, x, y) {
    const { board, size } = scene.frame;
    const [column, row] = [Math.floor(x), Math.floor(y)];
    if (column < 0 || row < 0 || column >= size || row >= size) {
      return null;
    }
    const text = squareText(scene, column, row, board[row][column]);
    return { key: `${column},${row}`, text, x: column + 0.5, y: row + 0.5, r: 0.36 };
  },

  happened({ replay, before, after, actions }) {
    return Object.entries(actions)
      .filter(([, action]) => typeof action === "string")
      .map(([player, action]) => {
        const seat = replay.seat(player);
        const gain = after.scores[seat] - before.scores[seat];
        const text = `drew ${action}${gain > 0 ? ` and closed ${countOf(gain, "square")}` : ""}`;
        return { seat, text, short: `drew ${action}${gain > 0 ? `, +${gain}` : ""}` };
      });
  },

  events({ replay, before, after }) {
    return replay.seats
      .filter(({ index }) => after.scores[index] > before.scores[index])
      .map(({ name, index }) => ({
        kind: "capture",
        text: `${name} closed ${countOf(after.scores[index] - before.scores[index], "square")}`,
        weight: (100 * (after.scores[index] - before.scores[index])) / after.size ** 2,
      }));
  },

  ending(end) {
    const { reason, turn, scores, best } = end;
    if (reason !== "finished") {
      return `${forfeit(end)} The board stood at ${scores.join(" to ")} squares, which do not count after a forfeit.`;
    }
    const owned = best.length > 1 ? `both own ${countOf(scores[0], "square")}` : comparedThings(end, scores, "square");
    return `The last free segment was drawn ${inTurn(turn)}: ${owned}.`;
  },

  describe({ size, scores, last_move: last }, { seats }) {
    const owned = seats.map(({ name, index }) => `${doing(name, "owns")} ${countOf(scores[index], "square")}`);
    return `Board of ${size} by ${size} squares. ${owned.join(", ")}.${last ? ` Last move ${last}.` : ""}`;
  },
};

/**
 * Return who drew each segment in which turn; segments of the start belong to nobody.
 * @param {Replay} replay
 * @returns {Map<string, {seat: number, turn: number}>}
 */
function drawnBy(replay) {
  const drawers = new Map();
  replay.document.turns.forEach(({ actions }, index) => {
    for (const [player, action] of Object.entries(actions)) {
      if (typeof action === "string" && !drawers.has(keyOf(action))) {
        drawers.set(keyOf(action), { seat: replay.seat(player), turn: index + 1 });
      }
    }
  });
  return drawers;
}

/**
 * @param {Scene} scene
 * @param {{owner: number, squares: number[][]}} area
 */
function drawArea(scene, { owner: player, squares }) {
  const { ctx, replay } = scene;
  const seat = replay.seat(player);
  ctx.fillStyle = colour(scene, seat);
  ctx.globalAlpha = 0.34 * strength(scene, seat);
  squares.forEach(([x, y]) => ctx.fillRect(x, y, 1, 1));
  ctx.globalAlpha = 0.8 * strength(scene, seat);
  squares.forEach(([x, y]) => mark(scene, seat, x + 0.5, y + 0.5, 0.12, colour(scene, seat)));
  ctx.globalAlpha = 1;
}

/**
 * @param {Scene} scene
 * @param {Segment} segment
 */
function drawSegment(scene, segment) {
  const { ctx, frame, memo, turn } = scene;
  const state = condition(frame.board, segment);
  if (state === "inner") {
    return;
  }
  const author = memo.authors.get(segment.key);
  const seat = author && author.turn <= turn ? author.seat : -1;
  const drawn = state === "drawn";
  ctx.globalAlpha = drawn ? strength(scene, seat) : 1;
  line(ctx, segment.ends, drawn ? 0.11 : 0.025, drawn ? colour(scene, seat) : looks(scene).free);
  if (drawn && seat === 1) {
    // A light core identifies the second player without colour, as in the monitor.
    line(ctx, segment.ends, 0.03, inks(scene).ground);
  }
  ctx.globalAlpha = 1;
}

/**
 * Draw the segment of the last move on its marker, on top.
 * @param {Scene} scene
 * @param {Segment} segment
 */
function drawLast(scene, segment) {
  line(scene.ctx, segment.ends, 0.31, inks(scene).glow);
  line(scene.ctx, segment.ends, 0.25, looks(scene).marker);
  drawSegment(scene, segment);
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number[]} ends
 * @param {number} width
 * @param {string} ink
 */
function line(ctx, [x, y, toX, toY], width, ink) {
  ctx.strokeStyle = ink;
  ctx.lineWidth = width;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

/**
 * Draw the points: rings where something was drawn, none inside an area.
 * @param {Scene} scene
 */
function drawPoints(scene) {
  const { ctx, frame, memo } = scene;
  const states = memo.segments.map((segment) => ({ segment, state: condition(frame.board, segment) }));
  for (const kind of ["free", "drawn"]) {
    const points = states.filter(({ state }) => state === kind).flatMap(({ segment: { ends } }) => [ends.slice(0, 2), ends.slice(2)]);
    new Map(points.map((point) => [String(point), point])).forEach(([x, y]) => drawPoint(ctx, x, y, kind === "drawn", scene));
  }
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {boolean} isDrawn
 * @param {Scene} scene
 */
function drawPoint(ctx, x, y, isDrawn, scene) {
  ctx.beginPath();
  ctx.arc(x, y, isDrawn ? 0.07 : 0.045, 0, 7);
  ctx.fillStyle = isDrawn ? inks(scene).ground : looks(scene).free;
  ctx.fill();
  if (isDrawn) {
    ctx.strokeStyle = looks(scene).rim;
    ctx.lineWidth = 0.04;
    ctx.stroke();
  }
}

/**
 * @param {Scene} scene
 * @returns {typeof LOOKS.light}
 */
function looks({ dark }) {
  return dark ? LOOKS.dark : LOOKS.light;
}

/** @param {Scene} scene */
function ringSquare(scene) {
  const { ctx, camera, spot, frame } = scene;
  if (!spot) {
    return;
  }
  ctx.strokeStyle = inks(scene).glow;
  ctx.lineWidth = 2 / camera.scale;
  ctx.strokeRect(spot.x - 0.34, spot.y - 0.34, 0.68, 0.68);
  const square = frame.board[Math.floor(spot.y)]?.[Math.floor(spot.x)];
  if (scene.coordinates && square !== undefined && camera.scale > 34) {
    write(scene, String(square), spot.x, spot.y - 0.2, 12, inks(scene).ink);
  }
}

/**
 * @param {Scene} scene
 * @param {number} x
 * @param {number} y
 * @param {number} square
 * @returns {string}
 */
function squareText({ replay }, x, y, square) {
  const parts = Object.entries(BORDERS).filter(([, bit]) => square & bit).map(([word]) => word);
  const player = owner(square);
  if (player) {
    parts.push(`owned by ${letterOf(replay.seat(player))} ${replay.name(player)}`);
  }
  return `Square ${x},${y} = ${square}: ${parts.join(", ") || "nothing drawn"}`;
}
