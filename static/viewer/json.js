/**
 * Documents as received from files and bots.
 * @typedef {null | boolean | number | string | Json[] | {[key: string]: Json}} Json
 */

/**
 * Return whether a value is an object with named members.
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Return the members of a bot's object; none if it is not an object.
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
export function fields(value) {
  return isRecord(value) ? value : {};
}

/**
 * Return a bot's list; an empty one if it is not a list.
 * @param {unknown} value
 * @returns {unknown[]}
 */
export function listed(value) {
  return Array.isArray(value) ? value : [];
}

/**
 * Return whether a bot sent two whole numbers.
 * @param {unknown} value
 * @returns {value is [number, number]}
 */
export function isPair(value) {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isInteger);
}
