/** Applies the patches of a replay to a document; see cw/replays/json_diff.py. */

import { fields, isRecord, listed } from "./json.js";

/** @typedef {import("./json.js").Json} Json */

const GONE = "-";
const LENGTH = "#";
const STEPS = "+";

/**
 * Return the new value; unchanged parts are shared with the old one, which is not modified.
 * @param {Json} old
 * @param {Json} patch `[value]`, or an object for an object or an array
 * @returns {Json}
 * @throws {Error} if the patch does not fit
 */
export function patched(old, patch) {
  if (Array.isArray(patch) && patch.length === 1) {
    return patch[0];
  }
  if (!isRecord(patch) || typeof old !== "object" || old === null) {
    throw new Error("a frame of the replay does not fit the one before it");
  }
  return Array.isArray(old) ? patchedArray(old, patch) : patchedObject(old, patch);
}

/**
 * @param {Record<string, Json>} old
 * @param {Record<string, Json>} patch
 * @returns {Record<string, Json>}
 */
function patchedObject(old, patch) {
  const fresh = { ...old };
  const gone = patch[GONE];
  for (const key of Array.isArray(gone) ? gone : []) {
    delete fresh[String(key)];
  }
  for (const key of Object.keys(patch)) {
    if (key !== GONE) {
      // Assignment would set a prototype if the key is called __proto__.
      const value = patched(fresh[key], patch[key]);
      Object.defineProperty(fresh, key, { value, enumerable: true, writable: true, configurable: true });
    }
  }
  return fresh;
}

/**
 * @param {Json[]} old
 * @param {Record<string, Json>} patch
 * @returns {Json[]}
 */
function patchedArray(old, patch) {
  const length = patch[LENGTH] ?? old.length;
  if (typeof length !== "number" || !Number.isInteger(length) || length < 0 || length > old.length + Object.keys(patch).length) {
    throw new Error("a frame of the replay has a list of an impossible length");
  }
  const fresh = old.slice(0, length);
  for (const [key, column] of Object.entries(fields(patch[STEPS]))) {
    takeSteps(fresh, key, column);
  }
  for (const key of Object.keys(patch)) {
    if (key !== LENGTH && key !== STEPS) {
      const index = Number(key);
      if (!Number.isInteger(index) || index < 0 || index >= length) {
        throw new Error("a frame of the replay changes a value that does not exist");
      }
      fresh[index] = patched(old[index], patch[key]);
    }
  }
  return fresh;
}

/**
 * Change an integer member of many elements of a list.
 * @param {Json[]} rows
 * @param {string} key
 * @param {unknown} column distances between the elements, and the change of each
 */
function takeSteps(rows, key, column) {
  const [gaps = [], steps = []] = listed(column).map(listed);
  let index = 0;
  gaps.forEach((gap, place) => {
    index += Number(gap);
    const old = fields(rows[index]);
    const value = Number(old[key]) + Number(steps[place]);
    if (!Number.isInteger(value)) {
      throw new Error("a frame of the replay changes a value that does not exist");
    }
    rows[index] = /** @type {Json} */ ({ ...old, [key]: value });
  });
}
