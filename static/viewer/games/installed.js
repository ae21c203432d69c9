/** Games of other packages: what the page says of them, and the modules that they bring. */

import { byId } from "../elements.js";

/** @typedef {import("./game.js").Game} Game */

/**
 * What a module of a game gives: how it is shown, and how moves are made on its board.
 * @typedef {{GAME?: Game, MOVER?: import("../play/play.js").Mover}} Module
 */

/**
 * How the page lets a game be shown: its title, the words for its ends, the number of its first turn, and the module at
 * an address, or what the server draws at one.
 * @typedef {{title?: string, reasons?: Record<string, string>, first?: number, module?: string, drawing?: "svg" | "text", frames?: string}} Showing
 */

/** @type {Map<string, Module>} */
const modules = new Map();

/**
 * Give how a game of another package is shown on this page.
 * @param {string} game
 * @returns {Showing} with nothing in it for any other game
 */
export function showingOf(game) {
  /** @type {Record<string, Showing>} */
  const games = JSON.parse(byId("viewer").dataset.games ?? "{}");
  return Object.hasOwn(games, game) ? games[game] : {};
}

/**
 * Load the module of a game, if it brings one; without it the game is shown as one that has none.
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
 * Give the module of a game that was loaded; an empty one where there is none.
 * @param {string} game
 * @returns {Module}
 */
export function moduleOf(game) {
  return modules.get(game) ?? {};
}
