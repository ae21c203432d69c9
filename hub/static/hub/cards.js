/** The card of a user, which opens while the pointer or focus is on a name. */

import { documentOf, element } from "../shared/dom.js";

const PATIENCE = 300;

/** @type {Map<string, Promise<string>>} */
const answers = new Map();
/** @type {HTMLElement | null} */
let card = null;
let waiting = 0;

/**
 * Fetch the HTML of a card, once per page load.
 * @param {string} address
 * @returns {Promise<string>}
 */
function fetchCard(address) {
  const promise = answers.get(address);
  if (promise) {
    return promise;
  }
  const coming = fetch(address).then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(answer.statusText))));
  coming.catch(() => answers.delete(address));
  answers.set(address, coming);
  return coming;
}

/** Close the card, and cancel one about to open. */
function close() {
  clearTimeout(waiting);
  waiting = 0;
  card?.remove();
  card = null;
}

/**
 * Open the card of a link, if it is still wanted when it arrives.
 * @param {HTMLAnchorElement} link
 */
async function open(link) {
  const ticket = waiting;
  const html = await fetchCard(link.dataset.card ?? "").catch(() => "");
  if (!html || ticket !== waiting) {
    return;
  }
  card = element("div", "card-of-user", ...documentOf(html).body.childNodes);
  document.body.append(card);
  place(card, link.getBoundingClientRect());
}

/**
 * Place a card below a link, or above it if there is no room.
 * @param {HTMLElement} card
 * @param {DOMRect} link
 */
function place(card, link) {
  const below = link.bottom + 8;
  const fits = below + card.offsetHeight <= innerHeight;
  const left = Math.min(link.left, document.documentElement.clientWidth - card.offsetWidth - 12);
  card.style.top = `${scrollY + (fits ? below : link.top - card.offsetHeight - 8)}px`;
  card.style.left = `${scrollX + Math.max(12, left)}px`;
}

/**
 * Return the user link of an event.
 * @param {Event} event
 * @returns {HTMLAnchorElement | null}
 */
function linkOf(event) {
  return event.target instanceof Element ? event.target.closest("a[data-card]") : null;
}

/**
 * Open a card soon.
 * @param {Event} event
 */
function openSoon(event) {
  const link = linkOf(event);
  if (link) {
    close();
    waiting = setTimeout(() => void open(link), PATIENCE);
  }
}

/**
 * Close the card of a link when it is left.
 * @param {Event} event
 */
function leave(event) {
  if (linkOf(event)) {
    close();
  }
}

/** Enable cards on this page. */
export function bindCards() {
  document.addEventListener("pointerover", openSoon);
  document.addEventListener("focusin", openSoon);
  document.addEventListener("pointerout", leave);
  document.addEventListener("focusout", leave);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      close();
    }
  });
}
