/** Elements of the workshop. */

import { byId as anyById } from "../shared/dom.js";

/**
 * Elements with an id that are more specific than HTMLElement.
 * @typedef {{
 *   "run": HTMLButtonElement, "stop": HTMLButtonElement, "opponent": HTMLSelectElement, "seat": HTMLSelectElement,
 *   "same-seed": HTMLInputElement, "run-form": HTMLFormElement, "series-form": HTMLFormElement,
 *   "series-number": HTMLInputElement, "series-stop": HTMLButtonElement, "check-start": HTMLButtonElement,
 *   "check-stop": HTMLButtonElement, "from-position": HTMLInputElement, "from-turn": HTMLInputElement,
 * }} Elements
 */

/**
 * Return an element by its id.
 * @template {string} Id
 * @param {Id} id
 * @returns {Id extends keyof Elements ? Elements[Id] : HTMLElement}
 */
export function byId(id) {
  return /** @type {Id extends keyof Elements ? Elements[Id] : HTMLElement} */ (anyById(id));
}
