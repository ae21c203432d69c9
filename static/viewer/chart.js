/** Small charts: one line per player over the turns. */

import { emptied } from "./canvas.js";
import { INKS } from "./drawing.js";
import { colourOf, isDark, letterOf } from "./palette.js";

const HEIGHT = 104;
const MARGIN = { left: 40, right: 18, top: 8, bottom: 18 };
const MOST_LINES = 40;
const MOST_LETTERS = 8;
const LETTER = 10;

/** A chart that redraws when its data changes. */
export class Chart {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.place = /** @type {HTMLElement} */ (canvas.parentElement);
    /** @type {number[][]} */
    this.series = [];
    this.turns = 1;
    this.turn = -1;
    new ResizeObserver(() => this.draw()).observe(this.place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new MutationObserver(() => this.draw())
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /**
   * Show lines.
   * @param {number[][]} series per player a value for every turn; NaN if missing
   * @param {number} turns how far the axis goes
   */
  show(series, turns) {
    this.series = series.slice(0, MOST_LINES);
    this.turns = Math.max(1, turns);
    this.draw();
  }

  /**
   * Mark the current turn.
   * @param {number} turn
   */
  point(turn) {
    this.turn = turn;
    this.draw();
  }

  /** Draw everything. */
  draw() {
    const width = this.place.clientWidth - 32;
    if (width <= 0) {
      return;
    }
    const top = roundUp(highest(this.series));
    /** @type {Plot} */
    const plot = {
      ctx: emptied(this.canvas, width, HEIGHT), top, dark: isDark(), right: width - MARGIN.right,
      x: (turn) => MARGIN.left + (turn / this.turns) * (width - MARGIN.left - MARGIN.right),
      y: (value) => HEIGHT - MARGIN.bottom - (value / top) * (HEIGHT - MARGIN.top - MARGIN.bottom),
    };
    drawAxes(plot, this.turns);
    const ends = this.series.map((values, seat) => drawLine(plot, values, seat));
    if (ends.length <= MOST_LETTERS) {
      drawLetters(plot, ends);
    }
    drawTurn(plot, this.turn);
  }
}

/**
 * @typedef {{
 *   ctx: CanvasRenderingContext2D, top: number, dark: boolean, right: number,
 *   x: (turn: number) => number, y: (value: number) => number,
 * }} Plot
 */

/**
 * @param {Plot} plot
 * @param {number} turns
 */
function drawAxes({ ctx, top, dark, x, y, right }, turns) {
  const ink = dark ? INKS.dark : INKS.light;
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillStyle = ink.muted;
  ctx.strokeStyle = ink.line;
  ctx.lineWidth = 1;
  for (const value of [0, top / 2, top]) {
    ctx.beginPath();
    ctx.moveTo(MARGIN.left, Math.round(y(value)) + 0.5);
    ctx.lineTo(right, Math.round(y(value)) + 0.5);
    ctx.stroke();
    ctx.textAlign = "right";
    ctx.fillText(shortNumber(value), MARGIN.left - 6, y(value) + 4);
  }
  ctx.textAlign = "left";
  ctx.fillText("0", x(0), HEIGHT - 4);
  ctx.textAlign = "right";
  ctx.fillText(String(turns), x(turns), HEIGHT - 4);
}

/**
 * @param {Plot} plot
 * @param {number[]} values
 * @param {number} seat
 * @returns {{seat: number, left: number, top: number}} where the line ends
 */
function drawLine({ ctx, dark, x, y, right }, values, seat) {
  // More points than pixels would be invisible.
  const step = Math.max(1, Math.floor(values.length / Math.max(1, right - MARGIN.left)));
  ctx.strokeStyle = colourOf(seat, dark);
  ctx.lineWidth = 1.75;
  ctx.lineJoin = "round";
  ctx.beginPath();
  let end = -1;
  for (let turn = 0; turn < values.length; turn += turn + step < values.length ? step : 1) {
    if (Number.isFinite(values[turn])) {
      ctx.lineTo(x(turn), y(values[turn]));
      end = turn;
    }
  }
  ctx.stroke();
  return { seat, left: x(Math.max(end, 0)), top: y(values[end] ?? 0) };
}

/**
 * Write the letters of players at the ends of their lines, stacked where lines meet.
 * @param {Plot} plot
 * @param {{seat: number, left: number, top: number}[]} ends
 */
function drawLetters({ ctx, dark, right }, ends) {
  ctx.textAlign = "left";
  ctx.font = "650 11px system-ui, sans-serif";
  let above = HEIGHT;
  for (const [index, { seat, left, top }] of ends.sort((one, other) => other.top - one.top).entries()) {
    // Leave room above for the letters still to come.
    above = Math.max(Math.min(top + 4, above - LETTER), LETTER * (ends.length - index));
    ctx.fillStyle = colourOf(seat, dark);
    ctx.fillText(letterOf(seat), Math.min(left + 4, right + 3), above);
  }
}

/**
 * @param {Plot} plot
 * @param {number} turn
 */
function drawTurn({ ctx, dark, x }, turn) {
  if (turn >= 0) {
    ctx.strokeStyle = (dark ? INKS.dark : INKS.light).ink;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(Math.round(x(turn)) + 0.5, MARGIN.top - 4);
    ctx.lineTo(Math.round(x(turn)) + 0.5, HEIGHT - MARGIN.bottom);
    ctx.stroke();
  }
}

/**
 * @param {number[][]} series
 * @returns {number}
 */
function highest(series) {
  let most = 1;
  for (const values of series) {
    for (const value of values) {
      most = value > most ? value : most;
    }
  }
  return most;
}

/**
 * Round up to a readable number.
 * @param {number} value
 * @returns {number}
 */
function roundUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 6, 8].find((step) => step * unit >= value) ?? 10) * unit;
}

/**
 * @param {number} value
 * @returns {string}
 */
export function shortNumber(value) {
  return value >= 10_000 ? `${Math.round(value / 1000)}k` : String(Math.round(value * 10) / 10);
}
