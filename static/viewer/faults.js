/** Texts about a fault: the exception first, then the consequence; its traceback opens below. */

import { ERROR_OUTPUT } from "../shared/words.js";
import { doing, faultOf, listedNames } from "./words.js";

/** Separates an exception from what precedes it in a detail: how the program ended, or the status of its reply. */
const BEFORE_EXCEPTION = /^(.*?\b(?:exit code \d+\)?|signal \w+\)|HTTP status \d+, expected \d+)): (.+)$/s;

/** Details of faults in the bot's own code, and of output that is no answer. */
const SERVER_ERROR = /\bHTTP status 5\d\d\b/;
const STRAY = /^the program printed \d/;

/** The name of an exception at the beginning of the last line of a traceback. */
const EXCEPTION = /^[\w.$\\]*(?:Error|Exception)\b/;

/** @type {Record<string, string>} what a bot did, in the few words that a label has room for */
const BRIEF = {
  startup: "did not start", disconnected: "hung up", timeout: "ran out of time", crashed: "crashed",
  malformed: "failed", illegal: "broke a rule", oversize: "wrote too much",
};

/**
 * The detail of a fault.
 * @typedef {object} Parts
 * @property {string} exception its last line and where it was raised, "" for none
 * @property {string} how the consequence, or the whole text
 * @property {string} output the end of the program's output, "" if not given
 */

/**
 * Split the detail of a fault.
 * @param {unknown} detail
 * @returns {Parts}
 */
export function partsOfDetail(detail) {
  const [sentence, ...rest] = String(detail ?? "").split(ERROR_OUTPUT);
  const output = rest.join(ERROR_OUTPUT);
  const [, how, exception] = BEFORE_EXCEPTION.exec(sentence) ?? [];
  return exception === undefined ? { exception: lastException(output), how: sentence, output } : { exception, how, output };
}

/**
 * Return what a bot did wrong, without details.
 * @param {import("./replay.js").Fault} fault
 * @returns {string}
 */
export function didWrong({ kind, detail }) {
  const text = String(detail ?? "");
  if (kind === "malformed" && SERVER_ERROR.test(text)) {
    return "answered with an error";
  }
  return STRAY.test(text) ? "printed a line that is not an answer" : faultOf(kind, "");
}

/**
 * Return the same for a label.
 * @param {import("./replay.js").Fault} fault
 * @returns {string}
 */
export function didBriefly({ kind }) {
  return Object.hasOwn(BRIEF, kind) ? BRIEF[kind] : faultOf(kind, "");
}

/**
 * Return which players made a fault in a turn.
 * @param {import("./replay.js").Fault[]} faults
 * @param {import("./replay.js").Replay} replay
 * @returns {string} "" for nobody
 */
export function faultWords(faults, replay) {
  const names = [...new Set(faults.map(({ player }) => replay.name(player)))];
  if (names.length < 2) {
    return names.length ? doing(names[0], didWrong(faults[0])) : "";
  }
  return `${listedNames(names)} failed`;
}

/**
 * @param {string} output
 * @returns {string} the last line if it names an exception, "" otherwise
 */
function lastException(output) {
  const line = output.trimEnd().split("\n").at(-1)?.trim() ?? "";
  return EXCEPTION.test(line) ? line : "";
}
