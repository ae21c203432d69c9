/** Elements with text: whatever comes from a replay is shown as text and as nothing else. */

import { letterOf, paintElement } from "./palette.js";

/**
 * Make an element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} className
 * @param {...(Node | string)} content strings become text
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, className, ...content) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...content);
  return made;
}

/**
 * Make the badge of a player: the letter on the player's colour.
 * @param {number} seat
 * @returns {HTMLElement}
 */
export function badge(seat) {
  const made = element("span", "badge", letterOf(seat));
  paintElement(made, seat);
  return made;
}

/**
 * The elements with an id that are more than an HTMLElement, or that some pages do not have.
 * @typedef {{
 *   board: HTMLCanvasElement, chart: HTMLCanvasElement, download: HTMLAnchorElement,
 *   file: HTMLInputElement | null, "hand-move": HTMLSelectElement, "hand-play": HTMLButtonElement,
 *   keys: HTMLDialogElement, latency: HTMLCanvasElement, live: HTMLButtonElement | null,
 *   marks: HTMLCanvasElement, minimap: HTMLCanvasElement, numbers: HTMLInputElement,
 *   perspective: HTMLSelectElement, "replay-data": HTMLScriptElement | null,
 *   scrubber: HTMLInputElement, shelf: HTMLElement | null,
 * }} Elements
 */

/**
 * Give the element with an id.
 * @template {string} Id
 * @param {Id} id
 * @returns {Id extends keyof Elements ? Elements[Id] : HTMLElement}
 */
export function byId(id) {
  return /** @type {Id extends keyof Elements ? Elements[Id] : HTMLElement} */ (document.getElementById(id));
}
