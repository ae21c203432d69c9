/** The line of turns with the marks of events. */

import { emptied } from "./canvas.js";
import { HEIGHT, MARKS } from "./marks.js";
import { isDark } from "./palette.js";

/** @typedef {import("./marks.js").Kind} Kind */

const THUMB = 16;

/**
 * Drawing order of marks: rare ones over frequent ones.
 * @type {Kind[]}
 */
const ORDER = ["death", "capture", "lead", "end", "fault"];

/** The line of turns. */
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
    this.horizon = 0;
    input.addEventListener("input", () => {
      playback.pause();
      playback.seek(input.valueAsNumber);
    });
    new ResizeObserver(() => this.draw()).observe(input);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new MutationObserver(() => this.draw())
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** Show the current turn. */
  show() {
    const { input, playback } = this;
    input.max = String(playback.last);
    input.value = String(playback.turn);
    const words = this.events.filter(({ turn }) => turn === playback.turn).map(({ text }) => `. ${text}`);
    input.setAttribute("aria-valuetext", `Turn ${playback.turn} of ${playback.last}${words.join("")}`);
  }

  /**
   * Mark events.
   * @param {import("./games/game.js").Event[]} events
   * @param {number} horizon no later ones are shown
   */
  mark(events, horizon) {
    this.events = events;
    this.horizon = horizon;
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
      if (event.kind === kind && event.turn <= this.horizon) {
        const share = event.turn / Math.max(1, this.playback.last);
        draw(ctx, THUMB / 2 + share * (width - THUMB));
      }
    }
  }

  /**
   * Return the turn of the nearest event before or after the current turn.
   * @param {1 | -1} direction
   * @returns {number | null}
   */
  neighbour(direction) {
    const turns = this.events.map(({ turn }) => turn);
    const { turn: now } = this.playback;
    const ahead = turns.filter((turn) => (turn - now) * direction > 0);
    if (ahead.length === 0) {
      return null;
    }
    return ahead.reduce((one, other) => ((other - one) * direction < 0 ? other : one));
  }
}
