/** Who leads at a turn, and by what. */

import { shortNumber } from "./chart.js";
import { doing, listedNames } from "./words.js";

/** Players that the bar shows. */
const MOST_SHARES = 40;

/**
 * How a turn stands.
 * @typedef {object} Lead
 * @property {number} seat who leads alone, -1 for nobody
 * @property {string} by the name of the number that decides
 * @property {number[]} values that number of every player
 * @property {string[]} level names of the weightier numbers on which the best are level
 * @property {number[]} best who is level in all of them; of one that leads, nobody
 */

/**
 * Tell who leads: the first number in which one player is ahead of all others decides.
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
 * Say who leads, and by what.
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
 * Say on what the best are level where somebody leads all the same; a narrow page leaves it out.
 * @param {Lead} lead
 * @returns {string} "" if nothing comes before what decides
 */
export function tieWords({ seat, level }) {
  return seat >= 0 && level.length ? `; tied in ${level.join(" and ")}` : "";
}

/**
 * Give the name of a number as it is written behind it.
 * @param {string} name of a measure, in the plural where it counts things
 * @param {string} number
 * @returns {string}
 */
export function unitOf(name, number) {
  return number === "1" ? name.replace(/s$/, "") : name;
}

/**
 * Give what part of the bar each player fills.
 * @param {Lead} lead
 * @param {number} total how much there is to share, 0 where players share what they have
 * @returns {number[]} parts of 1
 */
export function sharesOf({ values }, total) {
  const shares = values.slice(0, MOST_SHARES).map((value) => Math.max(0, value || 0));
  const whole = Math.max(total, shares.reduce((sum, value) => sum + value, 0), 1);
  return shares.map((value) => value / whole);
}
