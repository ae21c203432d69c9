/** What is told of a fault: the exception first, then what came of it; its traceback opens below. */

import { ERROR_OUTPUT } from "../shared/words.js";

/** How a detail goes on to an exception: after how a program ended, or after the status of its reply. */
const BEFORE_EXCEPTION = /^(.*?\b(?:exit code \d+(?:, which stands for [^:]*)?|HTTP status \d+, expected \d+)): (.+)$/s;

/**
 * The detail of a fault.
 * @typedef {object} Parts
 * @property {string} exception its last line and where it was raised, "" where there was none
 * @property {string} how what came of it, or all there is to say
 * @property {string} output the end of what the program wrote, "" where that is not told
 */

/**
 * Take the detail of a fault apart.
 * @param {unknown} detail
 * @returns {Parts}
 */
export function partsOfDetail(detail) {
  const [sentence, ...rest] = String(detail ?? "").split(ERROR_OUTPUT);
  const output = rest.join(ERROR_OUTPUT);
  const [, how, exception] = BEFORE_EXCEPTION.exec(sentence) ?? [];
  return exception === undefined ? { exception: lastLine(output), how: sentence, output } : { exception, how, output };
}

/**
 * @param {string} output
 * @returns {string} its last line that says something
 */
function lastLine(output) {
  return output.trimEnd().split("\n").at(-1)?.trim() ?? "";
}
