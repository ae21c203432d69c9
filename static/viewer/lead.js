/** Who leads at a turn, and by which number. */

import { shortNumber } from "./chart.js";
import { doing, listedNames } from "./words.js";

/** Maximum number of players in the bar. */
const MOST_SHARES = 40;

/**
 * The standing at a turn.
 * @typedef {object} Lead
 * @property {number} seat the sole leader, -1 for none
 * @property {string} by name of the deciding number
 * @property {number[]} values that number for every player
 * @property {string[]} level names of the numbers with priority on which the best are level
 * @property {number[]} best the players level in all numbers; empty with a leader
 */

/**
 * Return who leads, by the first number in which one player is ahead of all others.
 * @param {unknown} frame
 * @param {import("./replay.js").Replay} replay
 * @param {import("./games/game.js").Game} game
 * @param {number} turn
 * @returns {Lead}
 */
export function leadOf(frame, replay, game, turn) {
  const criteria = game.criteria ?? game.measures.slice(0, 1);
  const level = [];
  let rivals = replay.seats.map(({ index }) => index);
  let first = { by: "", values: /** @type {number[]} */ ([]) };
  for (const { name, of } of criteria) {
    const values = of(frame, replay, turn);
    const most = Math.max(...rivals.map((seat) => values[seat] ?? 0));
    rivals = rivals.filter((seat) => (values[seat] ?? 0) === most);
    if (rivals.length === 1) {
      return { seat: rivals[0], by: name, values, level, best: [] };
    }
    first = level.length ? first : { by: name, values };
    level.push(name);
  }
  return { seat: -1, ...first, level, best: rivals };
}

/**
 * Return who leads, and by what, as text.
 * @param {Lead} lead
 * @param {import("./replay.js").Replay} replay
 * @returns {string}
 */
export function leadWords({ seat, by, values, best }, replay) {
  if (by === "") {
    return "";
  }
  const others = values.filter((_, index) => index !== seat);
  const next = shortNumber(Math.max(0, ...others));
  if (seat < 0) {
    const most = shortNumber(Math.max(0, ...values));
    const number = by.endsWith("s") ? `${most} ${unitOf(by, most)}` : `${by} ${most}`;
    const names = best.map((index) => replay.seats[index].name);
    return best.length === values.length ? `Tied: ${number} each` : `${listedNames(names)} are tied: ${number} each`;
  }
  const addition = by === "score" ? "" : ` in ${by}`;
  return `${doing(replay.seats[seat].name, "leads")} ${shortNumber(values[seat])} to ${next}${addition}`;
}

/**
 * Return in which numbers the best are level although somebody leads; omitted on narrow pages.
 * @param {Lead} lead
 * @returns {string} "" if the first number decides
 */
export function tieWords({ seat, level }) {
  return seat >= 0 && level.length ? `; tied in ${level.join(" and ")}` : "";
}

/**
 * Return the name of a number in the form that follows it.
 * @param {string} name of a measure, plural if it counts things
 * @param {string} number
 * @returns {string}
 */
export function unitOf(name, number) {
  return number === "1" ? name.replace(/s$/, "") : name;
}

/**
 * Return each player's share of the bar.
 * @param {Lead} lead
 * @param {number} total the amount to share, 0 if players share what they have
 * @returns {number[]} fractions of 1
 */
export function sharesOf({ values }, total) {
  const shares = values.slice(0, MOST_SHARES).map((value) => Math.max(0, value || 0));
  const whole = Math.max(total, shares.reduce((sum, value) => sum + value, 0), 1);
  return shares.map((value) => value / whole);
}
