/** Counts of things, in words. */

/**
 * @param {number} number
 * @param {string} thing in the singular
 * @param {string} things in the plural
 * @returns {string}
 */
export function countOf(number, thing, things = `${thing}s`) {
  return `${number} ${number === 1 ? thing : things}`;
}
