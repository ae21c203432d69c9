/** Drawing functions shared by all games. Lengths are cells of the board unless they say pixels. */

import { colourOf, letterOf, pathOf } from "./palette.js";

/**
 * What to draw, and where.
 * @template [Frame=unknown]
 * @template [Memo=unknown]
 * @typedef {object} Scene
 * @property {CanvasRenderingContext2D} ctx in cells of the board
 * @property {import("./camera.js").Camera} camera
 * @property {number} ratio device pixels to a pixel
 * @property {import("./replay.js").Replay<Frame>} replay
 * @property {number} turn
 * @property {Frame} frame of that turn
 * @property {Memo} memo prepared by the game for the replay
 * @property {boolean} dark whether the background is dark
 * @property {boolean} coordinates
 * @property {number} focus the player whose view is shown, -1 for all
 * @property {boolean} fog whether that view hides what the player cannot see
 * @property {number} time milliseconds, for animations; 0 if motion is unwanted
 * @property {boolean} mini whether this is the small overview
 * @property {Spot | null} spot the spot under the pointer
 */

/**
 * A thing on the board: its name, its description, and the ring around it.
 * @typedef {{key: string, text: string, x: number, y: number, r: number, bubble?: string[], person?: import("./replay.js").Person}} Spot
 */

/** Colours that belong to no player; `letter` is of letters on a player's colour. */
export const INKS = {
  light: {
    ground: "#ffffff", ink: "#14201a", muted: "#53625a", line: "#d5ddd7", stone: "#8b9790", glow: "#14201a",
    death: "#a3201d", letter: "#ffffff",
  },
  dark: {
    ground: "#121b17", ink: "#e9f0ec", muted: "#9db0a6", line: "#2b3a33", stone: "#5d6e65", glow: "#ffffff",
    death: "#ff8079", letter: "#0a100d",
  },
};

/**
 * @param {Scene} scene
 * @returns {typeof INKS.light}
 */
export function inks(scene) {
  return scene.dark ? INKS.dark : INKS.light;
}

/**
 * Return the colour of a player against the background of a scene.
 * @param {Scene} scene
 * @param {number} seat
 * @returns {string}
 */
export function colour(scene, seat) {
  return seat < 0 ? inks(scene).muted : colourOf(seat, scene.dark);
}

/**
 * Return the opacity of a player's things: without fog, other players fade while one has the focus.
 * @param {Scene} scene
 * @param {number} seat
 * @returns {number}
 */
export function strength(scene, seat) {
  return scene.fog || scene.focus < 0 || scene.focus === seat ? 1 : 0.25;
}

/**
 * Write a text centred at a position on the board.
 * @param {Scene} scene
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} pixels letter height
 * @param {string} ink
 * @param {boolean} [bold]
 */
export function write(scene, text, x, y, pixels, ink, bold = true) {
  const { ctx, camera } = scene;
  writeAt(scene, text, (x - camera.x) * camera.scale, (y - camera.y) * camera.scale, pixels, ink, bold);
  ctx.globalAlpha = 1;
}

/**
 * Write a text centred at a pixel of the picture.
 * @param {Scene} scene
 * @param {string} text
 * @param {number} left
 * @param {number} top
 * @param {number} pixels
 * @param {string} ink
 * @param {boolean} bold
 */
function writeAt({ ctx, ratio }, text, left, top, pixels, ink, bold) {
  ctx.save();
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.font = `${bold ? 650 : 400} ${pixels}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = ink;
  ctx.fillText(text, left, top + pixels * 0.04);
  ctx.restore();
}

/** Minimum radius of a disc, in pixels, for a readable letter. */
const READABLE = 7;

/**
 * Draw a disc in a player's colour with the player's letter, or with their mark if that would be unreadable.
 * @param {Scene} scene
 * @param {number} seat
 * @param {number} x its middle
 * @param {number} y
 * @param {number} r
 */
export function disc(scene, seat, x, y, r) {
  const { ctx, camera } = scene;
  ctx.globalAlpha = strength(scene, seat);
  if (camera.scale * r < READABLE || scene.mini) {
    mark(scene, seat, x, y, r * 1.12, colour(scene, seat));
  } else {
    ctx.fillStyle = colour(scene, seat);
    ctx.beginPath();
    ctx.arc(x, y, r, 0, 7);
    ctx.fill();
    write(scene, letterOf(seat), x, y, camera.scale * r * 1.15, inks(scene).letter);
  }
  ctx.globalAlpha = 1;
}

/**
 * Draw a player's mark.
 * @param {Scene} scene
 * @param {number} seat
 * @param {number} x its middle
 * @param {number} y
 * @param {number} r
 * @param {string} ink
 */
export function mark({ ctx }, seat, x, y, r, ink) {
  ctx.save();
  ctx.translate(x, y);
  ctx.scale(r, r);
  ctx.fillStyle = ink;
  ctx.fill(pathOf(seat));
  ctx.restore();
}

/**
 * Draw an arrow.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number[]} from x and y
 * @param {number[]} to
 * @param {number} width
 */
export function arrow(ctx, [x, y], [toX, toY], width) {
  const angle = Math.atan2(toY - y, toX - x);
  const head = width * 3;
  ctx.lineWidth = width;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(toX - Math.cos(angle) * head * 0.8, toY - Math.sin(angle) * head * 0.8);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.fillStyle = ctx.strokeStyle;
  ctx.beginPath();
  for (const turn of [0, 2.6, -2.6]) {
    const reach = turn ? head : 0;
    ctx.lineTo(toX + Math.cos(angle + turn) * reach, toY + Math.sin(angle + turn) * reach);
  }
  ctx.fill();
}

/**
 * Draw a cross.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x its middle
 * @param {number} y
 * @param {number} r
 * @param {number} width
 */
export function cross(ctx, x, y, r, width) {
  ctx.lineWidth = width;
  ctx.lineCap = "round";
  ctx.beginPath();
  ctx.moveTo(x - r, y - r);
  ctx.lineTo(x + r, y + r);
  ctx.moveTo(x + r, y - r);
  ctx.lineTo(x - r, y + r);
  ctx.stroke();
}

/**
 * Draw the lines between cells.
 * @param {Scene} scene
 * @param {number} width
 * @param {number} height
 * @param {string} ink
 */
export function grid({ ctx, camera }, width, height, ink) {
  ctx.strokeStyle = ink;
  ctx.lineWidth = 1 / camera.scale;
  ctx.beginPath();
  for (let x = 0; x <= width; x++) {
    ctx.moveTo(x, 0);
    ctx.lineTo(x, height);
  }
  for (let y = 0; y <= height; y++) {
    ctx.moveTo(0, y);
    ctx.lineTo(width, y);
  }
  ctx.stroke();
}

/**
 * Number columns and rows along the edges; the numbers stay in view if the board wraps around.
 * @param {Scene} scene
 * @param {number} columns
 * @param {number} rows
 * @param {boolean} [upward] whether rows count from the bottom; the column numbers are then there too
 */
export function axes(scene, columns, rows, upward = false) {
  const { camera } = scene;
  if (!scene.coordinates || scene.mini) {
    return;
  }
  const step = stepOf(camera.scale);
  const left = Math.max(-camera.x * camera.scale - 11, halfWidth(rows - 1));
  const top = upward
    ? Math.min((rows - camera.y) * camera.scale + 11, camera.height - 10)
    : Math.max(-camera.y * camera.scale - 10, 10);
  for (let column = 0; column < columns; column += step) {
    tick(scene, column, (column + 0.5 - camera.x) * camera.scale, top);
  }
  for (let row = 0; row < rows; row += step) {
    const y = upward ? rows - row - 0.5 : row + 0.5;
    tick(scene, row, left, (y - camera.y) * camera.scale);
  }
}

/**
 * @param {number} number
 * @returns {number} pixels from the middle of an edge number to its sides
 */
function halfWidth(number) {
  return 3.5 * String(number).length + 1.5;
}

/**
 * Write a number on its own background.
 * @param {Scene} scene
 * @param {number} number
 * @param {number} left
 * @param {number} top
 */
export function tick(scene, number, left, top) {
  const { ctx, ratio } = scene;
  ctx.save();
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.globalAlpha = 0.75;
  ctx.fillStyle = inks(scene).ground;
  const half = halfWidth(number);
  ctx.fillRect(left - half, top - 7, 2 * half, 14);
  ctx.restore();
  writeAt(scene, String(number), left, top, 11, inks(scene).muted, false);
}

/**
 * @param {number} scale
 * @returns {number} number of cells between two numbers
 */
export function stepOf(scale) {
  return [1, 2, 5, 10, 20, 50, 100].find((step) => step * scale >= 22) ?? 200;
}

/**
 * Ring the spot under the pointer.
 * @param {Scene} scene
 */
export function ringSpot(scene) {
  const { ctx, camera, spot } = scene;
  if (spot) {
    ctx.strokeStyle = inks(scene).glow;
    ctx.lineWidth = 2 / camera.scale;
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.arc(spot.x, spot.y, spot.r, 0, 7);
    ctx.stroke();
  }
}

/**
 * Return which cells are visible.
 * @param {Scene} scene
 * @param {number} width
 * @param {number} height
 * @returns {{left: number, top: number, right: number, bottom: number}} the ends are excluded
 */
export function cellsInSight({ camera }, width, height) {
  return {
    left: Math.max(0, Math.floor(camera.x)),
    top: Math.max(0, Math.floor(camera.y)),
    right: Math.min(width, Math.ceil(camera.x + camera.width / camera.scale)),
    bottom: Math.min(height, Math.ceil(camera.y + camera.height / camera.scale)),
  };
}
