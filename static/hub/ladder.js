/** Keeps a ladder, or the page of a team, as it is now, without a reload. */

import { byId, parsed } from "../shared/dom.js";
import { Poller, Source } from "../shared/poller.js";
import { countDown } from "./next_round.js";

const EVERY = 2_000;
const WHOLE = 10_000;
const TICK = 250;

/** When the whole page was asked for last, as only the number of matches had changed. */
let wholeAt = performance.now();

/** What else than the number of matches that were played was told last. */
let rest = "";
let isStale = false;

const { renew: address = "", tag = "" } = live().dataset;
const standings = new Source(address, tag);
const page = new Source(location.href);

/** @returns {HTMLElement} the part of the page that changes */
function live() {
  return byId("live");
}

/** Ask for the page, and show what has changed of it. */
async function renew() {
  page.forget();
  const answer = await page.ask();
  const fresh = answer && parsed(await answer.text()).getElementById("live");
  if (!fresh) return;
  wholeAt = performance.now();
  isStale = false;
  put(fresh);
}

/**
 * Put a new part in the place of the old one; what is focused, open or scrolled stays so.
 * @param {HTMLElement} fresh
 */
function put(fresh) {
  const old = live();
  const focused = document.activeElement;
  const key = focused && old.contains(focused) ? keyOf(focused, old) : null;
  const open = [...old.querySelectorAll("details[open]")].map(({ id }) => id);
  const scrolled = [...old.querySelectorAll("[tabindex='0']")].map((one) => [one.scrollLeft, one.scrollTop]);
  old.replaceWith(fresh);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  fresh.querySelectorAll("[tabindex='0']").forEach((one, index) => {
    [one.scrollLeft, one.scrollTop] = scrolled[index] ?? [0, 0];
  });
  if (key !== null) counterpart(fresh, key)?.focus({ preventScroll: true });
  dispatchEvent(new Event("renewed"));
}

/**
 * Tell by what an element is known in the next version of the page.
 * @param {Element} one
 * @param {HTMLElement} within
 * @returns {[string, number]} its address or label, and how many there are before it
 */
function keyOf(one, within) {
  const name = nameOf(one);
  const same = [...within.querySelectorAll("a, [tabindex], summary")].filter((other) => nameOf(other) === name);
  return [name, same.indexOf(one)];
}

/** @param {Element} one */
function nameOf(one) {
  return one.getAttribute("href") ?? one.getAttribute("aria-label") ?? one.tagName;
}

/**
 * @param {HTMLElement} within
 * @param {[string, number]} key
 * @returns {HTMLElement | undefined}
 */
function counterpart(within, [name, index]) {
  const same = [...within.querySelectorAll("a, [tabindex], summary")].filter((one) => nameOf(one) === name);
  return /** @type {HTMLElement | undefined} */ (same[index]);
}

/**
 * Write how many matches were played, where the page says so.
 * @param {{played?: number, matches?: number} | null} round
 */
function count(round) {
  if (round?.played === undefined) return;
  const words = `${round.played} of ${round.matches} matches played`;
  for (const line of live().querySelectorAll(".top-lines p")) {
    line.textContent = (line.textContent ?? "").replace(/\d+ of \d+ matches played/, words);
  }
}

/** Ask whether anything has changed. */
async function look() {
  const answer = await standings.ask();
  if (answer) {
    const { round, ...others } = await answer.json();
    const { played, ...board } = round ?? {};
    const now = JSON.stringify([others, board]);
    isStale = true;
    if (played === undefined || now !== rest) await renew();
    rest = now;
    count(round);
  }
  if (isStale && performance.now() - wholeAt >= WHOLE) await renew();
}

setInterval(() => countDown(live()), TICK);
void new Poller(look, EVERY).run({ later: true });
