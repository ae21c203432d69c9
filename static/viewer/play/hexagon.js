/** Hexagon by hand: drag a chip, or click it and then its target. */

import { disc, inks } from "../drawing.js";
import { cellAt, middle } from "../games/hexagon.js";
import { countOf } from "../../shared/counts.js";

/**
 * @typedef {import("../games/hexagon.js").Cell} Cell
 * @typedef {{move_from: Cell, move_to: Cell}} Move
 * @typedef {import("./play.js").Turn<import("../games/hexagon.js").Frame, Move, Cell>} Turn
 */

/** @type {import("./play.js").Mover<import("../games/hexagon.js").Frame, Move, Cell>} */
export const HEXAGON = {
  words({ frame, replay, seat, again }) {
    const jumps = frame.jumps[replay.seats[seat].key];
    const passed = again ? "The other side cannot move and passes. " : "";
    return `${passed}Your turn: move a chip. You have ${countOf(jumps, "jump")} left.`;
  },

  legend: (touch) => [
    { sign: "chip", text: touch ? "your chip that can move: tap it, then its target" : "your chip that can move: drag it, or click it and then its target" },
    { sign: "dot", text: "next to it: your chip stays, and a new one appears there" },
    { sign: "ring", text: "two cells away: your chip jumps there, which costs a jump" },
  ],

  label: ({ move_from: from, move_to: to }) => `[${from.join(", ")}] to [${to.join(", ")}]`,

  press(turn, at) {
    const cell = cellAt(turn.frame.size, at.x, at.y);
    if (turn.pick && moveTo(turn, cell)) {
      return true;
    }
    turn.pick = cell && turn.moves.some(({ move_from: from }) => same(from, cell)) ? cell : null;
    return turn.pick !== null;
  },

  drop(turn, at) {
    const cell = cellAt(turn.frame.size, at.x, at.y);
    const move = moveTo(turn, cell);
    if (!move && !same(turn.pick, cell)) {
      turn.pick = null;
    }
    return move;
  },

  refusal(turn, at) {
    const cell = cellAt(turn.frame.size, at.x, at.y);
    return turn.pick ? noTarget(turn, turn.pick, cell) : noChip(turn, cell);
  },

  draw(scene, turn, pointer) {
    const { ctx } = scene;
    const { pick } = turn;
    ctx.lineWidth = 0.05;
    ctx.strokeStyle = inks(scene).glow;
    const from = pick ? [pick] : distinct(turn.moves.map(({ move_from: cell }) => cell));
    from.forEach((cell) => ring(ctx, cell, 0.43));
    if (pick) {
      targets(turn).forEach((cell) => drawTarget(scene, pick, cell));
      if (pointer) {
        ctx.globalAlpha = 0.7;
        disc(scene, turn.seat, pointer.x, pointer.y, 0.32);
      }
    }
  },

  preview(scene, _turn, { move_from: from, move_to: to }) {
    scene.ctx.lineWidth = 0.12;
    scene.ctx.strokeStyle = inks(scene).glow;
    ring(scene.ctx, from, 0.43);
    drawTarget(scene, from, to);
  },
};

/**
 * @param {Turn} turn
 * @returns {Cell[]}
 */
function targets({ moves, pick }) {
  return moves.filter(({ move_from: from }) => same(from, pick)).map(({ move_to: to }) => to);
}

/**
 * Return why a chip cannot be picked up.
 * @param {Turn} turn
 * @param {Cell | null} cell
 * @returns {string} "" if it can
 */
function noChip({ frame, moves, replay, seat }, cell) {
  if (cell === null) {
    return "That is outside the board: choose one of your chips.";
  }
  if (moves.some(({ move_from: from }) => same(from, cell))) {
    return "";
  }
  const value = frame.cells[cell[0]][cell[1]];
  if (value === Number(replay.seats[seat].key)) {
    return "That chip cannot move: no empty cell is in reach. Choose one with a ring.";
  }
  return `${value > 0 ? "That chip is your opponent's" : value === 0 ? "That cell is empty" : "That is a stone"}: choose one of your chips.`;
}

/**
 * Return why a chip cannot go to a cell.
 * @param {Turn} turn
 * @param {Cell} pick
 * @param {Cell | null} cell
 * @returns {string} "" if it can, or if it is only put down or exchanged for another one
 */
function noTarget(turn, pick, cell) {
  if (cell === null) {
    return "That is outside the board.";
  }
  if (moveTo(turn, cell) || noChip(turn, cell) === "") {
    return "";
  }
  if (turn.frame.cells[cell[0]][cell[1]] !== 0) {
    return "That cell is taken: choose an empty one.";
  }
  const [x, y] = middle(...cell);
  const [fromX, fromY] = middle(...pick);
  return Math.hypot(x - fromX, y - fromY) < 2.1
    ? "You have no jump left: choose a cell next to the chip."
    : "That is too far: a chip reaches the cells with a dot or a ring.";
}

/**
 * Mark a possible target of a chip: with a disc if adjacent, with a ring if it would jump.
 * @param {import("../drawing.js").Scene} scene
 * @param {Cell} from
 * @param {Cell} cell
 */
function drawTarget(scene, from, cell) {
  const { ctx } = scene;
  const [x, y] = middle(cell[0], cell[1]);
  const [fromX, fromY] = middle(from[0], from[1]);
  const jumps = Math.hypot(x - fromX, y - fromY) > 1.2;
  ctx.beginPath();
  ctx.arc(x, y, 0.15, 0, 7);
  if (jumps) {
    ctx.stroke();
  } else {
    ctx.fillStyle = inks(scene).glow;
    ctx.fill();
  }
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Cell} cell
 * @param {number} r
 */
function ring(ctx, [row, col], r) {
  ctx.beginPath();
  ctx.arc(...middle(row, col), r, 0, 7);
  ctx.stroke();
}

/**
 * Return the move of the picked chip to a cell.
 * @param {Turn} turn
 * @param {Cell | null} cell
 * @returns {Move | null} null if there is none
 */
function moveTo({ moves, pick }, cell) {
  return moves.find(({ move_from: from, move_to: to }) => same(from, pick) && same(to, cell)) ?? null;
}

/**
 * @param {Cell | null} one
 * @param {Cell | null} other
 * @returns {boolean}
 */
function same(one, other) {
  return one !== null && other !== null && one[0] === other[0] && one[1] === other[1];
}

/**
 * @param {Cell[]} cells
 * @returns {Cell[]}
 */
function distinct(cells) {
  return [...new Map(cells.map((cell) => [cell.join(), cell])).values()];
}
