/** The marks of the kinds of events: their shape is a second signal beside the colour. */

/** @typedef {import("./games/game.js").Event["kind"]} Kind */

/** Height of the marks on the line of turns, in pixels. */
export const HEIGHT = 14;

/**
 * @type {Record<Kind, {sign: string, light: string, dark: string, draw: (ctx: CanvasRenderingContext2D, x: number) => void}>}
 */
export const MARKS = {
  capture: { sign: "▼", light: "#a0247c", dark: "#f48fd3", draw: triangle },
  death: { sign: "✕", light: "#53625a", dark: "#9db0a6", draw: (ctx, x) => ctx.fillRect(x - 0.75, 5, 1.5, 9) },
  lead: { sign: "●", light: "#17694a", dark: "#63d2a1", draw: dot },
  fault: { sign: "◆", light: "#a3201d", dark: "#ff9c94", draw: square },
  end: { sign: "■", light: "#14201a", dark: "#e9f0ec", draw: (ctx, x) => ctx.fillRect(x - 1.5, 0, 3, HEIGHT) },
};

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 */
function triangle(ctx, x) {
  ctx.beginPath();
  ctx.moveTo(x, HEIGHT - 1);
  ctx.lineTo(x - 4, 5);
  ctx.lineTo(x + 4, 5);
  ctx.fill();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 */
function dot(ctx, x) {
  ctx.beginPath();
  ctx.arc(x, 2.5, 2.5, 0, 7);
  ctx.fill();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 */
function square(ctx, x) {
  ctx.save();
  ctx.translate(x, 5);
  ctx.rotate(Math.PI / 4);
  ctx.fillRect(-3.4, -3.4, 6.8, 6.8);
  ctx.restore();
}
