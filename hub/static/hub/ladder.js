/** Keeps a ladder, or the page of a team, up to date without a reload. */

import { byId, element } from "../shared/dom.js";
import { Poller, Source } from "../shared/poller.js";
import { countDown } from "./next_round.js";

const SECOND = 1000;
const TICK = 250;

const place = /** @type {HTMLElement} */ (document.querySelector(".renewed"));
const { renew: address = "", tag = "" } = live().dataset;
const source = new Source(address, tag);

/** @returns {HTMLElement} the part of the page that changes */
function live() {
  return byId("live");
}

/**
 * Replace the changing part of the page; focus, open details and scroll positions are kept.
 * @param {string} html made, and escaped, by our own server
 */
function put(html) {
  const old = live();
  const focused = document.activeElement;
  const key = focused && old.contains(focused) ? keyOf(focused, old) : null;
  const open = [...old.querySelectorAll("details[open]")].map(({ id }) => id);
  const scrolled = [...old.querySelectorAll("[tabindex='0']")].map((node) => [node.scrollLeft, node.scrollTop]);
  place.innerHTML = html;
  const fresh = live();
  markOwn(fresh);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  fresh.querySelectorAll("[tabindex='0']").forEach((node, index) => {
    [node.scrollLeft, node.scrollTop] = scrolled[index] ?? [0, 0];
  });
  if (key !== null) counterpart(fresh, key)?.focus({ preventScroll: true });
  dispatchEvent(new Event("renewed"));
}

/**
 * Mark the viewer's own team; everybody gets the same page.
 * @param {HTMLElement} within
 */
function markOwn(within) {
  const { own } = place.dataset;
  const mine = own ? within.querySelector(`[data-team="${own}"]`) : null;
  mine?.classList.add("own");
  mine?.querySelector("h1, th a")?.after(" ", element("span", "tag", "your team"));
}

/**
 * Return a key that identifies an element in the next version of the page.
 * @param {Element} node
 * @param {HTMLElement} within
 * @returns {[string, number]} its address or label, and how many like it precede it
 */
function keyOf(node, within) {
  const name = nameOf(node);
  const same = [...within.querySelectorAll("a, [tabindex], summary")].filter((other) => nameOf(other) === name);
  return [name, same.indexOf(node)];
}

/** @param {Element} node */
function nameOf(node) {
  return node.getAttribute("href") ?? node.getAttribute("aria-label") ?? node.tagName;
}

/**
 * @param {HTMLElement} within
 * @param {[string, number]} key
 * @returns {HTMLElement | undefined}
 */
function counterpart(within, [name, index]) {
  const same = [...within.querySelectorAll("a, [tabindex], summary")].filter((node) => nameOf(node) === name);
  return /** @type {HTMLElement | undefined} */ (same[index]);
}

/** Check for changes, and show them. */
async function look() {
  const answer = await source.ask();
  if (answer) put((await answer.json()).html);
}

setInterval(() => countDown(live()), TICK);
void new Poller(look, Number(place.dataset.every) * SECOND).run({ later: true });
