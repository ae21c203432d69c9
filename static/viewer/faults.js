/** What is told of a fault: the exception first, then what came of it; its traceback opens below. */

import { ERROR_OUTPUT } from "../shared/words.js";
import { doing, faultOf, listedNames } from "./words.js";

/** How a detail goes on to an exception: after how a program ended, or after the status of its reply. */
const BEFORE_EXCEPTION = /^(.*?\b(?:exit code \d+\)?|signal \w+\)|HTTP status \d+, expected \d+)): (.+)$/s;

/** How a fault tells that the bot's own code has failed, and that its program printed something else than answers. */
const SERVER_ERROR = /\bHTTP status 5\d\d\b/;
const STRAY = /^the program printed \d/;

/** How the name of an exception begins the last line of a traceback. */
const EXCEPTION = /^[\w.$\\]*(?:Error|Exception)\b/;

/** @type {Record<string, string>} what a bot did, in the few words that a label has room for */
const BRIEF = {
  startup: "did not start", disconnected: "hung up", timeout: "ran out of time", crashed: "crashed",
  malformed: "failed", illegal: "broke a rule", oversize: "wrote too much",
};

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
  return exception === undefined ? { exception: lastException(output), how: sentence, output } : { exception, how, output };
}

/**
 * Say what a bot did wrong, without the details.
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
 * Say the same for a label.
 * @param {import("./replay.js").Fault} fault
 * @returns {string}
 */
export function didBriefly({ kind }) {
  return Object.hasOwn(BRIEF, kind) ? BRIEF[kind] : faultOf(kind, "");
}

/**
 * Say which players did something wrong in a turn.
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
 * @returns {string} its last line if that names an exception, "" otherwise
 */
function lastException(output) {
  const line = output.trimEnd().split("\n").at(-1)?.trim() ?? "";
  return EXCEPTION.test(line) ? line : "";
}
