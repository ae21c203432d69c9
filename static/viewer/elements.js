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
 * Give the element with an id.
 * @param {string} id
 * @returns {any} an element of the kind that the page has there
 */
export function byId(id) {
  return document.getElementById(id);
}
