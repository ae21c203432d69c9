/** The document that a patch of a replay makes; see cw/arena/patches.py. */

const GONE = "-";
const LENGTH = "#";

/**
 * Give the new value; what has not changed is shared with the old one, which stays as it is.
 * @param {any} old
 * @param {any} patch `[value]`, or an object for an object or an array
 * @returns {any}
 * @throws {Error} if the patch does not fit
 */
export function patched(old, patch) {
  if (Array.isArray(patch) && patch.length === 1) {
    return patch[0];
  }
  if (!isObject(patch) || typeof old !== "object" || old === null) {
    throw new Error("a frame of the replay does not fit the one before it");
  }
  return Array.isArray(old) ? patchedArray(old, patch) : patchedObject(old, patch);
}

/**
 * @param {Record<string, any>} old
 * @param {Record<string, any>} patch
 * @returns {Record<string, any>}
 */
function patchedObject(old, patch) {
  const made = { ...old };
  for (const key of patch[GONE] ?? []) {
    delete made[key];
  }
  for (const key of Object.keys(patch)) {
    if (key !== GONE) {
      // Assigning would set a prototype where the key is called __proto__.
      const value = patched(made[key], patch[key]);
      Object.defineProperty(made, key, { value, enumerable: true, writable: true, configurable: true });
    }
  }
  return made;
}

/**
 * @param {any[]} old
 * @param {Record<string, any>} patch
 * @returns {any[]}
 */
function patchedArray(old, patch) {
  const length = patch[LENGTH] ?? old.length;
  if (!Number.isInteger(length) || length < 0 || length > old.length + Object.keys(patch).length) {
    throw new Error("a frame of the replay has a list of an impossible length");
  }
  const made = old.slice(0, length);
  for (const key of Object.keys(patch)) {
    if (key !== LENGTH) {
      const index = Number(key);
      if (!Number.isInteger(index) || index < 0 || index >= length) {
        throw new Error("a frame of the replay changes what is not there");
      }
      made[index] = patched(old[index], patch[key]);
    }
  }
  return made;
}

/**
 * @param {any} value
 * @returns {boolean}
 */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
