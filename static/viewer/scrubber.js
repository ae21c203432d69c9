/** The line on which the turn is chosen, and the events marked on it. */

import { emptied } from "./canvas.js";
import { isDark } from "./palette.js";

/** @typedef {import("./games/game.js").Event["kind"]} Kind */

const HEIGHT = 14;
const THUMB = 16;

/**
 * How an event is marked: the shape is the second signal beside the colour.
 * @type {Record<Kind, {light: string, dark: string, draw: (ctx: CanvasRenderingContext2D, x: number) => void}>}
 */
const MARKS = {
  capture: { light: "#a0247c", dark: "#f48fd3", draw: triangle },
  death: { light: "#53625a", dark: "#9db0a6", draw: (ctx, x) => ctx.fillRect(x - 0.75, 5, 1.5, 9) },
  fault: { light: "#a3201d", dark: "#ff9c94", draw: square },
  end: { light: "#14201a", dark: "#e9f0ec", draw: (ctx, x) => ctx.fillRect(x - 1.5, 0, 3, HEIGHT) },
};

/**
 * Marks are drawn in this order: rare ones over frequent ones.
 * @type {Kind[]}
 */
const ORDER = ["death", "capture", "fault", "end"];

/** The line. */
export class Scrubber {
  /**
   * @param {HTMLInputElement} input
   * @param {HTMLCanvasElement} canvas for the marks
   * @param {import("./playback.js").Playback} playback
   */
  constructor(input, canvas, playback) {
    this.input = input;
    this.canvas = canvas;
    this.playback = playback;
    /** @type {import("./games/game.js").Event[]} */
    this.events = [];
    input.addEventListener("input", () => {
      playback.pause();
      playback.seek(input.valueAsNumber);
    });
    new ResizeObserver(() => this.draw()).observe(input);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new MutationObserver(() => this.draw())
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** Show the turn of the playback. */
  show() {
    const { input, playback } = this;
    input.max = String(playback.last);
    input.value = String(playback.turn);
    input.setAttribute("aria-valuetext", `Turn ${playback.turn} of ${playback.last}`);
  }

  /**
   * Mark events.
   * @param {import("./games/game.js").Event[]} events
   */
  mark(events) {
    this.events = events;
    this.draw();
  }

  /** Draw the marks. */
  draw() {
    const width = this.input.clientWidth;
    if (width > 0) {
      const ctx = emptied(this.canvas, width, HEIGHT);
      ORDER.forEach((kind) => this.drawKind(ctx, kind, width));
    }
  }

  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {Kind} kind
   * @param {number} width
   */
  drawKind(ctx, kind, width) {
    const { light, dark, draw } = MARKS[kind];
    ctx.fillStyle = isDark() ? dark : light;
    for (const event of this.events) {
      if (event.kind === kind) {
        const share = event.turn / Math.max(1, this.playback.last);
        draw(ctx, THUMB / 2 + share * (width - THUMB));
      }
    }
  }

  /**
   * Give the turn of the nearest event before or after the turn that is shown.
   * @param {1 | -1} direction
   * @returns {number | null}
   */
  neighbour(direction) {
    const turns = this.events.map(({ turn }) => turn);
    const { turn: now } = this.playback;
    const found = turns.filter((turn) => (turn - now) * direction > 0);
    if (found.length === 0) {
      return null;
    }
    return found.reduce((one, other) => ((other - one) * direction < 0 ? other : one));
  }
}

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
function square(ctx, x) {
  ctx.save();
  ctx.translate(x, 5);
  ctx.rotate(Math.PI / 4);
  ctx.fillRect(-3.4, -3.4, 6.8, 6.8);
  ctx.restore();
}

