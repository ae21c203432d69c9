/** Games of other packages: their settings in the page, and their modules. */

import { byId } from "../elements.js";

/** @typedef {import("./game.js").Game} Game */

/**
 * The exports of a game's module: how it is shown, and how moves are made on its board.
 * @typedef {{GAME?: Game, MOVER?: import("../play/play.js").Mover}} Module
 */

/**
 * How the page shows a game: its title, the texts for its ends, the number of its first turn, and the address of its
 * module or of the server's drawings.
 * @typedef {{title?: string, reasons?: Record<string, string>, first?: number, module?: string, drawing?: "svg" | "text", frames?: string}} Showing
 */

/** @type {Map<string, Module>} */
const modules = new Map();

/**
 * Return how this page shows a game of another package.
 * @param {string} game
 * @returns {Showing} empty for any other game
 */
export function showingOf(game) {
  /** @type {Record<string, Showing>} */
  const games = JSON.parse(byId("viewer").dataset.games ?? "{}");
  return Object.hasOwn(games, game) ? games[game] : {};
}

/**
 * Load the module of a game, if it has one; otherwise the game is shown without.
 * @param {string} game
 */
export async function loadModule(game) {
  const { module } = showingOf(game);
  if (module && !modules.has(game)) {
    modules.set(game, await import(module).catch((error) => {
      console.error(`The viewer of ${game} cannot be loaded.`, error);
      return {};
    }));
  }
}

/**
 * Return the loaded module of a game, or an empty one.
 * @param {string} game
 * @returns {Module}
 */
export function moduleOf(game) {
  return modules.get(game) ?? {};
}
