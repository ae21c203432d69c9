/** Counts down to the next event of a tournament, by the clock of the server. */

import { news } from "./polling.js";
import { relative } from "./relative.js";

const EVERY = 15_000;
const WHEN_DUE = 3_000;
const SECOND = 1000;
const DAY = 86_400;

/** @typedef {{at: string, title: string | null}} Coming */
/** @typedef {{at: string, title: string, text: string}} Happened */

const button = /** @type {HTMLButtonElement} */ (document.getElementById("count"));
const list = /** @type {HTMLElement} */ (document.getElementById("past"));
const nothing = /** @type {HTMLElement} */ (document.getElementById("nothing"));

/** The server's time at the origin of this page's own; no wrong clock of this machine counts. */
let origin = Date.parse(document.body.dataset.now ?? "") - performance.now();

/** @type {{next: Coming | null, over: boolean, preparing: boolean}} */
let told = {
  next: button.dataset.at ? { at: button.dataset.at, title: button.dataset.title ?? null } : null,
  over: "over" in button.dataset,
  preparing: "preparing" in button.dataset,
};
let tag = "";
let askedAt = -Infinity;
let isAsking = false;

/** @returns {number} milliseconds since 1970, by the server's clock */
function now() {
  return origin + performance.now();
}

/**
 * Give `01:12:09`, from a day up `2 days 03:14:15`: cw/hub/pages/ladder_words.py says the same.
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
  return told.next !== null && Date.parse(told.next.at) <= now();
}

/** @returns {string} what the counter says */
function words() {
  if (told.over) return "The tournament is over";
  if (!told.next) return "No event planned";
  if (told.preparing) return "FINAL is being prepared";
  const title = told.next.title ?? "Next event";
  if (isDue()) return `${title}: now`;
  return `${title} in ${clockOf((Date.parse(told.next.at) - now()) / SECOND)}`;
}

/**
 * Make the line of an event.
 * @param {Happened} event
 * @returns {HTMLElement}
 */
function lineOf({ at, title, text }) {
  const line = document.createElement("li");
  const time = Object.assign(document.createElement("time"), { dateTime: at });
  time.textContent = relative(Date.parse(at), now());
  const when = Object.assign(document.createElement("span"), { className: "muted" });
  when.append(time);
  line.append(Object.assign(document.createElement("b"), { textContent: title }), " ", when);
  if (text) line.append(Object.assign(document.createElement("p"), { textContent: text }));
  return line;
}

/** Ask what has happened, and what is next. */
async function look() {
  isAsking = true;
  askedAt = performance.now();
  const found = await news(button.dataset.events ?? "", tag);
  isAsking = false;
  if (!found) return;
  ({ tag } = found);
  // The server has looked at its clock halfway between question and answer.
  origin = Date.parse(found.said.now) - (found.asked + found.answered) / 2;
  told = found.said;
  list.replaceChildren(...found.said.past.map(lineOf));
  nothing.hidden = found.said.past.length > 0;
}

/** Write what is true now, and ask when it is time to. */
function tick() {
  const said = words();
  if (button.textContent !== said) button.textContent = said;
  const wait = isDue() && !told.over ? WHEN_DUE : EVERY;
  if (!isAsking && !document.hidden && performance.now() - askedAt >= wait) void look().then(tick);
}

addEventListener("visibilitychange", () => {
  // While a machine sleeps its own clock may stand still.
  tag = "";
  askedAt = -Infinity;
  tick();
});
setInterval(tick, SECOND / 4);
tick();
