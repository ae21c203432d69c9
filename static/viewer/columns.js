/** Lists of similar objects that a file stores as tables; see cw/replays/document.py. */

import { isRecord } from "./json.js";

/** @typedef {import("./json.js").Json} Json */

const TABLE = "@";

/**
 * Return a document with its tables expanded.
 * @param {Json} document
 * @returns {Json}
 * @throws {Error} if a table is invalid
 */
export function fromColumns(document) {
  if (Array.isArray(document)) {
    return document.map(fromColumns);
  }
  if (!isRecord(document)) {
    return document;
  }
  const keys = Object.keys(document);
  if (keys.length !== 1 || keys[0] !== TABLE) {
    return Object.fromEntries(keys.map((key) => [key, fromColumns(document[key])]));
  }
  return rowsOf(document[TABLE]);
}

/**
 * @param {Json} columns
 * @returns {Json[]}
 */
function rowsOf(columns) {
  const entries = isRecord(columns) ? Object.entries(columns) : [];
  const whole = entries.map(([key, values]) => /** @type {const} */ ([key, fromColumns(values)]));
  const lengths = new Set(whole.map(([, values]) => (Array.isArray(values) ? values.length : -1)));
  const [length] = lengths;
  if (lengths.size !== 1 || length === undefined || length < 0) {
    throw new Error("This replay has a table whose columns do not fit.");
  }
  return Array.from({ length }, (_, row) => Object.fromEntries(
    whole.map(([key, values]) => [key, /** @type {Json[]} */ (values)[row]]),
  ));
}
