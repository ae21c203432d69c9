/** Relative times, in the same words as the server: hub/cw_hub/pages/layout.py. */

/** @type {ReadonlyArray<readonly [string, number]>} */
const UNITS = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

const LONGEST_NOW = 10;

/**
 * Return `now`, or a number with its unit, for a distance in whole seconds.
 * @param {number} seconds
 * @returns {string}
 */
function distance(seconds) {
  const match = UNITS.find(([, size]) => size <= seconds);
  if (seconds <= LONGEST_NOW || !match) {
    return "now";
  }
  const [unit, size] = match;
  const number = Math.floor(seconds / size);
  return number === 1 ? `1 ${unit}` : `${number} ${unit}s`;
}

/**
 * Return `now`, `3 weeks ago` or `in 1 hour`.
 * @param {number} moment milliseconds since 1970
 * @param {number} now milliseconds since 1970
 * @returns {string}
 */
export function relative(moment, now) {
  const words = distance(Math.floor(Math.abs(now - moment) / 1000));
  if (words === "now") {
    return words;
  }
  return moment > now ? `in ${words}` : `${words} ago`;
}

/**
 * Return a time in the reader's own time zone: `2026-11-20 20:00 GMT+2`.
 * @param {number} moment milliseconds since 1970
 * @returns {string}
 */
export function localTime(moment) {
  const parts = new Intl.DateTimeFormat("en-GB", {
    year: "numeric", month: "2-digit", day: "2-digit",
    hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short",
  }).formatToParts(moment);
  const part = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute} ${part.timeZoneName}`;
}
