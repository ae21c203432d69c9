/** Elements of the pages with a viewer. */

import { byId as anyById, element } from "../shared/dom.js";
import { letterOf, outlineOf, paintElement } from "./palette.js";

/**
 * Create the badge of a player: the letter on the player's colour.
 * @param {number} seat
 * @returns {HTMLElement}
 */
export function badge(seat) {
  const created = element("span", "badge", letterOf(seat));
  paintElement(created, seat);
  return created;
}

/**
 * Create a picture of a player's mark, for places without room for a letter.
 * @param {number} seat
 * @returns {SVGElement}
 */
export function markPicture(seat) {
  const [picture, path] = /** @type {const} */ (["svg", "path"]).map(
    (name) => document.createElementNS("http://www.w3.org/2000/svg", name),
  );
  picture.setAttribute("class", "mark");
  picture.setAttribute("viewBox", "-1.2 -1.2 2.4 2.4");
  picture.setAttribute("aria-hidden", "true");
  path.setAttribute("d", outlineOf(seat));
  picture.append(path);
  paintElement(picture, seat);
  return picture;
}

/**
 * Elements with an id that are more specific than HTMLElement, or absent on some pages.
 * @typedef {{
 *   board: HTMLCanvasElement, chart: HTMLCanvasElement, download: HTMLAnchorElement,
 *   file: HTMLInputElement | null, "hand-move": HTMLSelectElement, "hand-play": HTMLButtonElement,
 *   "upload-button": HTMLButtonElement, hide: HTMLInputElement,
 *   keys: HTMLDialogElement, latency: HTMLCanvasElement, live: HTMLButtonElement | null,
 *   marks: HTMLCanvasElement, minimap: HTMLCanvasElement, numbers: HTMLInputElement,
 *   "next-replay": HTMLAnchorElement, "previous-replay": HTMLAnchorElement, "output-part": HTMLElement | null, "play-on": HTMLButtonElement | null, "play-on-at": HTMLInputElement | null,
 *   "play-on-cancel": HTMLElement | null, "play-on-dialog": HTMLDialogElement | null, "play-on-players": HTMLTemplateElement | null,
 *   "save-animation": HTMLButtonElement, "save-page": HTMLAnchorElement,
 *   "share-dialog": HTMLDialogElement, "share-hide": HTMLInputElement,
 *   "share-embed": HTMLTextAreaElement, "share-link": HTMLInputElement, perspective: HTMLSelectElement, "replay-data": HTMLScriptElement | null,
 *   scrubber: HTMLInputElement, shelf: HTMLElement | null,
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

/**
 * Create the picture of a flag, which names its country unless the name is beside it.
 * @param {{flag: string, country: string}} of
 * @param {boolean} [named] whether the name is beside it
 * @returns {HTMLImageElement}
 */
export function flagOf({ flag, country }, named = false) {
  return Object.assign(document.createElement("img"), {
    className: "flag", src: flag, alt: named ? "" : country, width: 20, height: 15,
  });
}
