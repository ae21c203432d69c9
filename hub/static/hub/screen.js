/** A big screen: the ladders of a tournament and its matches in turn, without a reload. */

import { byId, documentOf } from "../shared/dom.js";
import { Poller, Source } from "../shared/poller.js";
import { countDown } from "./next_round.js";

const EVERY = 2_000;
const ROWS = 10;
const TURN = 12_000;
const MATCH = 40_000;
const TICK = 250;

const figure = byId("shown");
let first = 0;
let shownRows = ROWS;
let matchIndex = -1;
let standings = source();

/** @returns {HTMLElement} the part of the page that changes */
function live() {
  return byId("live");
}

/** @returns {Source} polled for changes of the ladder */
function source() {
  const { renew = "", tag = "" } = live().dataset;
  return new Source(renew, tag);
}

/** Show the next rows: as many as fit on the screen below an announcement. */
function showRows() {
  const rows = /** @type {HTMLElement[]} */ ([...live().querySelectorAll("tbody tr")]);
  for (const [index, row] of rows.entries()) row.hidden = index < first || index >= first + ROWS;
  const bottom = live().getBoundingClientRect().bottom;
  const cut = rows.findIndex((row, index) => index > first && !row.hidden && row.getBoundingClientRect().bottom > bottom);
  for (const row of cut < 0 ? [] : rows.slice(cut)) row.hidden = true;
  shownRows = cut < 0 ? ROWS : cut - first;
}

/**
 * Show the ladder at an address.
 * @param {string} address
 */
async function show(address) {
  const answer = await new Source(address).ask();
  const fresh = answer && documentOf(await answer.text()).getElementById("live");
  if (!fresh) return;
  live().replaceWith(fresh);
  standings = source();
  if (figure.hidden) nextMatch();
  showRows();
}

/** Check whether the ladder has changed, and show changes. */
async function look() {
  if (await standings.ask()) await show(live().dataset.address ?? location.href);
}

/** Go on to the next rows, and after the last ones to the next ladder. */
function nextRows() {
  const { following, address } = live().dataset;
  first += shownRows;
  if (first >= live().querySelectorAll("tbody tr").length) {
    first = 0;
    if (following && following !== address) void show(following).catch(() => {});
  }
  showRows();
}

/** Go on to the next match; while there is none, the last one stays. */
function nextMatch() {
  const matches = /** @type {HTMLElement[]} */ ([...live().querySelectorAll(".matches-in-turn li")]);
  if (!matches.length) return;
  matchIndex = (matchIndex + 1) % matches.length;
  const { dataset, textContent } = matches[matchIndex];
  figure.hidden = false;
  /** @type {HTMLIFrameElement} */ (figure.querySelector("iframe")).src = dataset.frame ?? "";
  /** @type {HTMLElement} */ (figure.querySelector("figcaption")).textContent = textContent;
}

// A match beside the rows leaves less room for them.
nextMatch();
showRows();
addEventListener("resize", showRows);
setInterval(nextRows, TURN);
setInterval(nextMatch, MATCH);
setInterval(() => countDown(live()), TICK);
void new Poller(look, EVERY).run({ later: true });
