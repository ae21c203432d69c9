/**
 * Documents as they come from files and bots.
 * @typedef {null | boolean | number | string | Json[] | {[key: string]: Json}} Json
 */

/**
 * Tell whether a value is an object with members by name.
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Give the members of what a bot sent; none where it is not an object.
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
export function fields(value) {
  return isRecord(value) ? value : {};
}

/**
 * Give the list that a bot sent; an empty one where it is not a list.
 * @param {unknown} value
 * @returns {unknown[]}
 */
export function listed(value) {
  return Array.isArray(value) ? value : [];
}

/**
 * Tell whether a bot sent two whole numbers.
 * @param {unknown} value
 * @returns {value is [number, number]}
 */
export function isPair(value) {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isInteger);
}
