/** Hexagon: true hexagons in shifted rows, stones, jumps and captures. */

import { arrow, colour, disc, inks, strength, tick } from "../drawing.js";
import { comparedThings, forfeit, inTurn } from "../ending.js";
import { fields, isPair } from "../json.js";
import { letterOf } from "../palette.js";
import { countOf } from "../../shared/counts.js";
import { doing } from "../words.js";

/**
 * @typedef {{size: number, cells: number[][], jumps: Record<string, number>, color: number | null}} Frame cells of -1
 *   are stones, 0 is empty, 1 and 2 are chips
 * @typedef {[number, number]} Cell row and column
 * @typedef {{player: 1 | 2, from: Cell, to: Cell}} Move
 * @typedef {import("./game.js").Scene<Frame>} Scene
 */

const PITCH = Math.sqrt(3) / 2;
const RADIUS = 1 / Math.sqrt(3);

/** Captured chips from which the scrubber marks a move. */
const MANY = 3;

/** @type {import("./game.js").Game<Frame>} */
export const HEXAGON = {
  legend: [
    "Grey cells are stones: no chip can go there.",
    "The arrow is the last move: a solid one multiplies a chip, a dashed one is a jump.",
    "The chip that arrived has a ring; the chips it captured have dashed rings.",
  ],
  measures: [
    { name: "chips", of: chips },
    { name: "jumps", of: jumpsOf },
  ],
  total: openCells,
  mover: ({ color }) => color,
  numbered: true,

  extent({ size }) {
    const rows = 2 * size - 1;
    return { width: rows + 0.5, height: (rows - 1) * PITCH + 2 * RADIUS };
  },

  draw(scene) {
    const { frame } = scene;
    eachCell(frame.size, (row, col) => drawCell(scene, row, col));
    if (!scene.mini) {
      drawMove(scene);
      number(scene);
    }
    if (scene.spot) {
      outline(scene, scene.spot.x, scene.spot.y, 0.94);
      scene.ctx.strokeStyle = inks(scene).glow;
      scene.ctx.lineWidth = 2.5 / scene.camera.scale;
      scene.ctx.stroke();
    }
  },

  spotAt({ frame, replay }, x, y) {
    const cell = cellAt(frame.size, x, y);
    if (!cell) {
      return null;
    }
    const [row, col] = cell;
    const value = frame.cells[row][col];
    const chip = `chip of ${letterOf(replay.seat(value))} ${replay.name(value)}`;
    const content = value === -1 ? "stone" : value === 0 ? "empty" : chip;
    const [atX, atY] = middle(row, col);
    return { key: `${row},${col}`, text: `[${row}, ${col}] ${content}`, x: atX, y: atY, r: 0.46 };
  },

  happened({ replay, before, after, actions }) {
    return moves(actions).map(({ player, from, to }) => {
      const seat = replay.seat(player);
      const jumped = isJump(after, from);
      const captures = captured(before, after, player).length;
      const capture = captures ? ` and captured ${countOf(captures, "chip")}` : "";
      const text = `${jumped ? "jumped" : "multiplied"} from [${from.join(", ")}] to [${to.join(", ")}]${capture}`;
      const short = `${jumped ? "jump " : ""}${from} to ${to}${captures ? `, +${captures}` : ""}`;
      return { seat, text, short };
    });
  },

  events({ replay, before, after, actions }) {
    return moves(actions)
      .map(({ player }) => ({ player, count: captured(before, after, player).length }))
      .filter(({ count }) => count >= MANY)
      .map(({ player, count }) => ({
        kind: "capture",
        text: `${replay.name(player)} captured ${countOf(count, "chip")}`,
        weight: (100 * count) / openCells(after),
      }));
  },

  ending(end) {
    const { reason, turn, scores, best } = end;
    if (reason !== "finished") {
      return `${forfeit(end)} The chips stood at ${scores.join(" to ")}, which do not count after a forfeit.`;
    }
    const owned = best.length > 1 ? `both have ${countOf(scores[0], "chip")}` : comparedThings(end, scores, "chip");
    return `Neither colour could move any more after the move ${inTurn(turn)}: ${owned}.`;
  },

  describe(frame, { seats }) {
    const [owned, jumps] = [chips(frame), jumpsOf(frame)];
    const words = seats.map(
      ({ name, index }) => `${doing(name, "has", "have")} ${countOf(owned[index], "chip")} and ${countOf(jumps[index], "jump")}`,
    );
    return `Hexagonal board with ${frame.size} cells on each side. ${words.join(", ")}.`;
  },
};

/**
 * @param {number} row
 * @param {number} col
 * @returns {[number, number]} x and y
 */
export function middle(row, col) {
  return [col + 0.5 + (row % 2) / 2, RADIUS + row * PITCH];
}

/**
 * Return the first column of a row on the board, and the number of columns.
 * @param {number} size
 * @param {number} row
 * @returns {[number, number]}
 */
function span(size, row) {
  const away = Math.abs(row - (size - 1));
  const first = (((size - 1) % 2) + away - (row % 2)) / 2;
  return [first, 2 * size - 1 - away];
}

/**
 * @param {number} size
 * @param {(row: number, col: number) => void} visit
 */
function eachCell(size, visit) {
  for (let row = 0; row < 2 * size - 1; row++) {
    const [first, count] = span(size, row);
    for (let col = first; col < first + count; col++) {
      visit(row, col);
    }
  }
}

/**
 * Return the cell whose hexagon contains a point.
 * @param {number} size
 * @param {number} x
 * @param {number} y
 * @returns {Cell | null}
 */
export function cellAt(size, x, y) {
  // It is the hexagon whose middle is nearest.
  /** @type {Cell | null} */
  let best = null;
  let least = RADIUS;
  eachCell(size, (row, col) => {
    const [atX, atY] = middle(row, col);
    const away = Math.hypot(x - atX, y - atY);
    if (away < least) {
      least = away;
      best = [row, col];
    }
  });
  return best;
}

/**
 * @param {Scene} scene
 * @param {number} x
 * @param {number} y
 * @param {number} part of its full size
 */
function outline({ ctx }, x, y, part) {
  ctx.beginPath();
  for (let corner = 0; corner < 6; corner++) {
    const angle = Math.PI / 6 + (corner * Math.PI) / 3;
    ctx.lineTo(x + Math.cos(angle) * RADIUS * part, y + Math.sin(angle) * RADIUS * part);
  }
  ctx.closePath();
}

/**
 * @param {Scene} scene
 * @param {number} row
 * @param {number} col
 */
function drawCell(scene, row, col) {
  const { ctx, frame, replay } = scene;
  const value = frame.cells[row][col];
  const [x, y] = middle(row, col);
  outline(scene, x, y, 0.94);
  ctx.fillStyle = value === -1 ? inks(scene).stone : inks(scene).line;
  ctx.fill();
  if (value > 0) {
    const seat = replay.seat(value);
    ctx.globalAlpha = 0.25 * strength(scene, seat);
    ctx.fillStyle = colour(scene, seat);
    ctx.fill();
    disc(scene, seat, x, y, 0.36);
  }
}

/** @param {Scene} scene */
function drawMove(scene) {
  const { ctx, frame, replay, turn } = scene;
  for (const { player, from, to } of moves(replay.actions(turn))) {
    const before = replay.frame(turn - 1);
    ctx.lineWidth = 0.08;
    ctx.strokeStyle = inks(scene).glow;
    for (const [row, col] of captured(before, frame, player)) {
      ctx.setLineDash([0.12, 0.1]);
      ring(ctx, row, col, 0.42);
    }
    ctx.setLineDash([]);
    ring(ctx, to[0], to[1], 0.42);
    // A dashed line for a jump, which empties its cell; a solid one for a chip that multiplied.
    ctx.setLineDash(isJump(frame, from) ? [0.16, 0.12] : []);
    const [start, end] = shortened(middle(from[0], from[1]), middle(to[0], to[1]));
    arrow(ctx, start, end, 0.09);
    ctx.setLineDash([]);
  }
}

/**
 * @param {number[]} from
 * @param {number[]} to
 * @returns {number[][]} both ends, clear of the letters in the cells
 */
function shortened([x, y], [toX, toY]) {
  const length = Math.hypot(toX - x, toY - y) || 1;
  const [dx, dy] = [((toX - x) / length) * 0.28, ((toY - y) / length) * 0.28];
  return [[x + dx, y + dy], [toX - dx, toY - dy]];
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} row
 * @param {number} col
 * @param {number} r
 */
function ring(ctx, row, col, r) {
  ctx.beginPath();
  ctx.arc(...middle(row, col), r, 0, 7);
  ctx.stroke();
}

/** @param {Scene} scene */
function number(scene) {
  const { frame, camera } = scene;
  if (!scene.coordinates) {
    return;
  }
  for (let row = 0; row < 2 * frame.size - 1; row++) {
    const [x, y] = middle(row, span(frame.size, row)[0]);
    tick(scene, row, (x - 0.72 - camera.x) * camera.scale, (y - camera.y) * camera.scale);
  }
  const [first, count] = span(frame.size, 0);
  for (let col = first; col < first + count; col++) {
    const [x, y] = middle(0, col);
    tick(scene, col, (x - camera.x) * camera.scale, (y - 0.66 - camera.y) * camera.scale - 3);
  }
}

/**
 * @param {import("../replay.js").Actions} actions
 * @returns {Move[]}
 */
function moves(actions) {
  return /** @type {const} */ ([1, 2]).flatMap((player) => {
    const { move_from: from, move_to: to } = fields(actions[player]);
    return isPair(from) && isPair(to) ? [{ player, from, to }] : [];
  });
}

/**
 * @param {Frame} after
 * @param {Cell} from
 * @returns {boolean}
 */
function isJump(after, [row, col]) {
  return after.cells[row]?.[col] === 0;
}

/**
 * @param {Frame} before
 * @param {Frame} after
 * @param {number} player
 * @returns {Cell[]}
 */
function captured(before, after, player) {
  /** @type {Cell[]} */
  const places = [];
  after.cells.forEach((cells, row) => cells.forEach((value, col) => {
    if (value === player && before.cells[row][col] === 3 - player) {
      places.push([row, col]);
    }
  }));
  return places;
}

/**
 * Count the cells other than stones, which can hold chips.
 * @param {Frame} frame
 * @returns {number}
 */
function openCells({ cells }) {
  return cells.flat().filter((value) => value !== -1).length;
}

/**
 * @param {Frame} frame
 * @returns {number[]}
 */
function chips({ cells }) {
  return [1, 2].map((player) => cells.flat().filter((value) => value === player).length);
}

/**
 * @param {Frame} frame
 * @returns {number[]}
 */
function jumpsOf({ jumps }) {
  return [jumps["1"], jumps["2"]];
}
