/** Counts down to the next event of a tournament, by the server's clock. */

import { byId, element } from "../shared/dom.js";
import { Poller, Source } from "../shared/poller.js";
import { relative } from "./relative.js";

const EVERY = 15_000;
const WHEN_DUE = 3_000;
const SECOND = 1000;
const DAY = 86_400;

/** @typedef {{at: string, title: string | null}} Coming */
/** @typedef {{at: string, title: string, text: string}} Happened */

const button = byId("count");
const list = byId("past");
const nothing = byId("nothing");
const events = new Source(button.dataset.events ?? "");

/** The server's time at the origin of this page's clock; a wrong clock on this machine does not matter. */
let origin = Date.parse(document.body.dataset.now ?? "") - performance.now();

/** @type {{next: Coming | null, over: boolean, preparing: boolean, now: string, past: Happened[]}} */
let state = {
  now: "",
  past: [],
  next: button.dataset.at ? { at: button.dataset.at, title: button.dataset.title ?? null } : null,
  over: "over" in button.dataset,
  preparing: "preparing" in button.dataset,
};
/** Whether the next event was already due at the last request. */
let wasDue = isDue();

/** @returns {number} milliseconds since 1970, by the server's clock */
function now() {
  return origin + performance.now();
}

/**
 * Return `01:12:09`, or from a day up `2 days 03:14:15`, like hub/cw_hub/competitions/tournament/words.py.
 * @param {number} seconds
 * @returns {string}
 */
function clockOf(seconds) {
  const left = Math.max(Math.floor(seconds), 0);
  const days = Math.floor(left / DAY);
  const rest = left % DAY;
  const words = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60]
    .map((part) => String(part).padStart(2, "0")).join(":");
  return days === 0 ? words : `${days} day${days === 1 ? "" : "s"} ${words}`;
}

/** @returns {boolean} whether the next event should have happened by now */
function isDue() {
  return state.next !== null && Date.parse(state.next.at) <= now();
}

/** @returns {string} what the counter says */
function words() {
  if (state.over) return "The tournament is over";
  if (!state.next) return "No event planned";
  if (state.preparing) return "FINAL is being prepared";
  const title = state.next.title ?? "Next event";
  if (isDue()) return `${title}: now`;
  return `${title} in ${clockOf((Date.parse(state.next.at) - now()) / SECOND)}`;
}

/**
 * Create the line of an event.
 * @param {Happened} event
 * @returns {HTMLElement}
 */
function lineOf({ at, title, text }) {
  const time = Object.assign(element("time", "", relative(Date.parse(at), now())), { dateTime: at });
  const line = element("li", "", element("b", "", title), " ", element("span", "muted", time));
  if (text) line.append(element("p", "", text));
  return line;
}

/** Fetch past events and the next one. */
async function look() {
  const start = performance.now();
  const answer = await events.ask();
  if (!answer) return;
  state = await answer.json();
  // Assume that the server read its clock halfway between request and response.
  origin = Date.parse(state.now) - (start + performance.now()) / 2;
  list.replaceChildren(...state.past.map(lineOf));
  nothing.hidden = state.past.length > 0;
  write();
}

/** Show the current time left. */
function write() {
  const text = words();
  if (button.textContent !== text) button.textContent = text;
}

/** Show the current time left, and ask again when the next event becomes due. */
function tick() {
  write();
  const due = isDue();
  if (due && !wasDue) poller.wake();
  wasDue = due;
}

const poller = new Poller(look, () => (isDue() && !state.over ? WHEN_DUE : EVERY));
// While a machine sleeps, its clock may stand still.
document.addEventListener("visibilitychange", () => {
  events.forget();
  poller.wake();
});
setInterval(tick, SECOND / 4);
write();
void poller.run();
