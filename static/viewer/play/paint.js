/** Paint by hand: keys around S walk, with Shift they shoot; clicking walks to an adjacent square, or shoots beyond. */

import { colour } from "../drawing.js";
import { DIRECTIONS } from "../games/paint.js";

/**
 * @typedef {{type: string, direction: number[]}} Move
 * @typedef {import("./play.js").Turn<import("../games/paint.js").Frame, Move, Move>} Turn
 */

/** @type {Record<string, number[]>} row and column steps by the position of the key, whatever its label */
const KEYS = {
  KeyQ: [-1, -1], KeyW: [-1, 0], KeyE: [-1, 1], KeyA: [0, -1], KeyD: [0, 1], KeyZ: [1, -1], KeyX: [1, 0], KeyC: [1, 1],
  ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, 0],
  Numpad7: [-1, -1], Numpad8: [-1, 0], Numpad9: [-1, 1], Numpad4: [0, -1], Numpad6: [0, 1],
  Numpad1: [1, -1], Numpad2: [1, 0], Numpad3: [1, 1],
};

/** @type {[string, number[]][]} */
const ARROWS = [
  ["\u2196", [-1, -1]], ["\u2191", [-1, 0]], ["\u2197", [-1, 1]], ["\u2190", [0, -1]], ["", [0, 0]],
  ["\u2192", [0, 1]], ["\u2199", [1, -1]], ["\u2193", [1, 0]], ["\u2198", [1, 1]],
];

/** @type {import("./play.js").Mover<import("../games/paint.js").Frame, Move, Move>} */
export const PAINT = {
  words: () => "Your turn: walk or shoot.",

  legend: (touch) => [
    { sign: "stroke", text: `a step: ${touch ? "tap" : "click"} a square next to you` },
    { sign: "dashes", text: "a shot: choose a square farther away in one of the eight directions" },
    ...(touch ? [] : [{ sign: "", text: "Keys: arrows or Q W E A D Z X C walk, with Shift they shoot." }]),
  ],

  label: ({ type, direction }) => `${type} ${DIRECTIONS[String(direction)]}`,

  press(turn, at) {
    turn.pick = moveTo(turn, at);
    return turn.pick !== null;
  },

  drop: (turn, at) => {
    const move = moveTo(turn, at);
    return move && JSON.stringify(move) === JSON.stringify(turn.pick) ? move : null;
  },

  refusal(turn, at) {
    if (moveTo(turn, at)) {
      return "";
    }
    if (!isOnBoard(turn, at)) {
      return "That is outside the board: choose one of its squares.";
    }
    const [row, col] = avatar(turn);
    const isHere = Math.floor(at.y) === row && Math.floor(at.x) === col;
    return isHere ? "You stand there: choose another square." : "That square is in none of the eight directions from you.";
  },

  key(_turn, { code, shiftKey }) {
    const direction = KEYS[code];
    return direction ? { type: shiftKey ? "shoot" : "walk", direction } : null;
  },

  draw(scene, turn, pointer) {
    const move = pointer && moveTo(turn, pointer);
    if (move) {
      drawMove(scene, turn, move, move.type === "shoot" ? pointer : null);
    }
  },

  preview: (scene, turn, move) => drawMove(scene, turn, move, null),

  pads: ["walk", "shoot"].map((type) => ({
    words: type,
    buttons: ARROWS.map(([text, direction]) => (text ? { text, move: { type, direction } } : null)),
  })),
};

/**
 * Draw a step, or a shot up to a position.
 * @param {import("../drawing.js").Scene} scene
 * @param {Turn} turn
 * @param {Move} move
 * @param {import("./play.js").Place | null} end null without a pointer
 */
function drawMove(scene, turn, { type, direction: [down, right] }, end) {
  const { ctx } = scene;
  const [row, col] = avatar(turn);
  const far = type === "shoot" ? 3 : 1;
  ctx.strokeStyle = colour(scene, turn.seat);
  ctx.lineWidth = 0.12;
  ctx.setLineDash(type === "shoot" ? [0.2, 0.15] : []);
  ctx.beginPath();
  ctx.moveTo(col + 0.5 + right * 0.45, row + 0.5 + down * 0.45);
  ctx.lineTo(end?.x ?? col + 0.5 + right * far, end?.y ?? row + 0.5 + down * far);
  ctx.stroke();
  ctx.setLineDash([]);
}

/**
 * @param {Turn} turn
 * @returns {number[]} row and column
 */
function avatar({ frame, replay, seat }) {
  return frame.player_positions[replay.seats[seat].key];
}

/**
 * Return the move for a position: a step to an adjacent square, or a shot along a line.
 * @param {Turn} turn
 * @param {import("./play.js").Place} place
 * @returns {Move | null}
 */
function moveTo(turn, { x, y }) {
  if (!isOnBoard(turn, { x, y })) {
    return null;
  }
  const [row, col] = avatar(turn);
  const [down, right] = [Math.floor(y) - row, Math.floor(x) - col];
  const far = Math.max(Math.abs(down), Math.abs(right));
  const inLine = down === 0 || right === 0 || Math.abs(down) === Math.abs(right);
  if (far === 0 || !inLine) {
    return null;
  }
  return { type: far === 1 ? "walk" : "shoot", direction: [Math.sign(down), Math.sign(right)] };
}

/**
 * @param {Turn} turn
 * @param {import("./play.js").Place} place
 * @returns {boolean}
 */
function isOnBoard({ frame: { width, height } }, { x, y }) {
  return x >= 0 && y >= 0 && x < width && y < height;
}
