/** A game without a module of its own: the viewer shows the server's drawing, a picture or a text. */

import { write, inks } from "../drawing.js";
import { actionWords } from "../outline.js";
import { isDark } from "../palette.js";
import { captionsOf } from "./captions.js";
import { Drawings } from "./drawings.js";
import { scoresOfFrames } from "./plain.js";

/** Cells along the longer side of a picture. */
const SIDE = 10;

/** Maximum length of an action's text. */
const LONGEST = 140;

/** @typedef {import("./game.js").Replay} Replay */
/** @typedef {import("./game.js").Game<unknown, null>} Game */
/** @typedef {import("./installed.js").Showing} Showing */

/**
 * Return a game that shows the server's drawings.
 * @param {Replay} replay
 * @param {Showing} showing
 * @returns {Game}
 */
export function drawnGame(replay, { drawing, frames }) {
  const drawings = new Drawings(replay, frames ?? "");
  const parts = { ...partsOf(replay), listen: (/** @type {() => void} */ again) => { drawings.again = again; } };
  return drawing === "svg" ? { ...parts, ...asPicture(drawings) } : { ...parts, ...asText(drawings) };
}

/**
 * Return the parts of a game that need only its documents.
 * @param {Replay} replay
 * @returns {Pick<Game, "measures" | "happened" | "events" | "spotAt">}
 */
function partsOf(replay) {
  const captions = captionsOf(replay);
  return {
    measures: captions.unit ? [measureOf(captions, replay)] : scoresOfFrames(replay),
    happened: ({ actions, turn }) => replay.seats
      .filter(({ key }) => Object.hasOwn(actions, key))
      .map(({ key, index }) => {
        const words = captions.words[turn]?.[key];
        return words ? { seat: index, text: `played: ${words}`, short: words }
          : { seat: index, text: actionWords(actions[key], LONGEST) };
      }),
    events: () => [],
    spotAt: () => null,
  };
}

/**
 * @param {import("./captions.js").Captions} captions
 * @param {Replay} replay
 * @returns {Game["measures"][number]}
 */
function measureOf({ unit, scores }, { seats }) {
  return { name: unit, of: (_frame, _replay, turn) => scores[turn] ?? seats.map(() => 0) };
}

/**
 * @param {Drawings} drawings
 * @returns {Pick<Game, "legend" | "extent" | "draw" | "describe">}
 */
function asPicture(drawings) {
  const pictures = new Pictures(drawings);
  return {
    legend: ["The picture of each turn is drawn by the rules of the game."],
    extent: () => ({ width: SIDE, height: SIDE }),
    draw: (scene) => {
      const player = scene.focus < 0 ? null : scene.replay.seats[scene.focus].key;
      const picture = pictures.at(scene.turn, { dark: scene.dark, player });
      if (picture) {
        const { width, height } = pictures.extent;
        scene.ctx.drawImage(picture, (SIDE - width) / 2, (SIDE - height) / 2, width, height);
      } else if (drawings.trouble) {
        write(scene, drawings.trouble, SIDE / 2, SIDE / 2, 14, inks(scene).ink, false);
      }
    },
    describe: () => "The board of this turn, as a picture.",
  };
}

/** The pictures of turns, decoded. */
class Pictures {
  /** @param {Drawings} drawings */
  constructor(drawings) {
    this.drawings = drawings;
    this.extent = { width: SIDE, height: SIDE };
    /** @type {HTMLImageElement | null} shown until the picture of a turn has arrived */
    this.latest = null;
    this.source = "";
    /** @type {string | null} */
    this.player = null;
  }

  /**
   * Return the picture of a turn, or the latest one until it has arrived, but never one of another view.
   * @param {number} turn
   * @param {import("./drawings.js").Look} look
   * @returns {HTMLImageElement | null}
   */
  at(turn, look) {
    if (look.player !== this.player) {
      Object.assign(this, { player: look.player, latest: null, source: "" });
    }
    const source = this.drawings.at(turn, look);
    if (source !== null && source !== this.source) {
      this.source = source;
      void this.load(source);
    }
    return this.latest;
  }

  /** @param {string} source */
  async load(source) {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(source)}`;
    await image.decode().catch(() => {});
    if (source === this.source && image.naturalWidth > 0) {
      const cell = Math.max(image.naturalWidth, image.naturalHeight) / SIDE;
      this.extent = { width: image.naturalWidth / cell, height: image.naturalHeight / cell };
      this.latest = image;
      this.drawings.again();
    }
  }
}

/**
 * @param {Drawings} drawings
 * @returns {Pick<Game, "legend" | "extent" | "draw" | "describe" | "lines" | "isBoard">}
 */
function asText(drawings) {
  /** @type {string[]} */
  let latest = [];
  return {
    legend: ["The board of each turn is shown as in the terminal."],
    isBoard: true,
    lines: (_frame, _before, turn) => {
      latest = drawings.at(turn, { dark: isDark(), player: null })?.split("\n") ?? (drawings.trouble ? [drawings.trouble] : latest);
      return latest.map((text) => ({ depth: 0, key: "", text, isNew: false }));
    },
    extent: () => ({ width: 1, height: 1 }),
    draw: () => {},
    describe: () => "No picture: the board is below, as text.",
  };
}
