/** Why a match ended and what decided it: the parts shared by all games. */

import { countOf } from "../shared/counts.js";
import { REASONS, RESIGNATIONS } from "../shared/words.js";
import { didWrong, partsOfDetail } from "./faults.js";
import { showingOf } from "./games/installed.js";
import { faultOf, isFault, listedNames, scoresOf, standings } from "./words.js";

/** Maximum number of faults shown with a result. */
const MOST_FAULTS = 3;

/** Maximum length of a fault's details shown with a result. */
const LONGEST_DETAIL = 160;

/**
 * The end of a finished match with an outcome.
 * @template [Frame=unknown]
 * @typedef {object} End
 * @property {import("./replay.js").Replay<Frame>} replay
 * @property {Frame} frame the last one
 * @property {number} turn the last one
 * @property {string} reason as the game calls it
 * @property {import("./replay.js").Outcome} outcome
 * @property {import("./replay.js").Seat[]} best the player or players on the first rank
 * @property {number[]} scores of all players
 */

/** @type {Record<string, (end: End<any>) => string>} */
const COMMON = {
  ...Object.fromEntries(RESIGNATIONS.map((reason) => [reason, resigned])),
  stopped: (end) => `The match was stopped ${inTurn(end.turn)}${end.scores.length ? `, at ${compared(end, end.scores)}` : ""}.`,
};

/** @param {End<any>} end */
function resigned(end) {
  return `${atTurn(end.turn)} ${losers(end)} resigned.`;
}

/**
 * Return in a few words why a match ended.
 * @param {End<any>} end
 * @returns {string}
 */
export function reasonOf({ replay, reason }) {
  const { game } = replay.document;
  const words = REASONS[game] ?? showingOf(game).reasons ?? {};
  return Object.hasOwn(words, reason) ? words[reason] : reason.replaceAll("_", " ");
}

/**
 * @param {string} clause
 * @returns {string} the clause as the beginning of a sentence
 */
export function atStart(clause) {
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}

/**
 * Return why a match ended, in full sentences, for everybody who sees the result.
 * @param {import("./replay.js").Replay} replay
 * @param {import("./games/game.js").Game} game
 * @returns {string}
 */
export function endingOf(replay, game) {
  if (!replay.over) {
    return "The match is being played.";
  }
  const outcome = replay.document.result.outcome ?? {};
  const reason = outcome.reason ?? outcome.condition;
  if (reason === undefined) {
    return `The match was abandoned ${inTurn(replay.last)}, without a result.`;
  }
  const best = standings(replay).filter(({ rank }) => rank === 1).map(({ seat }) => seat);
  /** @type {End<any>} */
  const end = {
    replay, frame: replay.frame(replay.last), turn: replay.last, reason: String(reason), outcome, best, scores: scoresOf(replay),
  };
  // Reasons outside the rules have no text in any game.
  return (Object.hasOwn(COMMON, end.reason) ? "" : game.ending?.(end)) || plainEnding(end);
}

/**
 * Return why a match ended, without knowing its game.
 * @param {End<any>} end
 * @returns {string}
 */
export function plainEnding(end) {
  const common = Object.hasOwn(COMMON, end.reason) ? COMMON[end.reason] : undefined;
  if (common) {
    return common(end);
  }
  if (isFault(end.reason)) {
    return forfeit(end);
  }
  const scores = end.scores.length ? ` The scores were ${compared(end, end.scores)}.` : "";
  return `The match ended ${inTurn(end.turn)}: ${reasonOf(end)}.${scores}`;
}

/**
 * Return whose fault decided the match, and which.
 * @param {End<any>} end
 * @returns {string}
 */
export function forfeit(end) {
  const { replay, turn, reason } = end;
  const fault = replay.document.faults.at(-1);
  const who = fault ? replay.name(fault.player) : losers(end);
  const turnAction = fault ? detailsOf(fault) : faultOf(reason, "");
  return `${atTurn(turn)} ${who} forfeited: it ${turnAction}.`;
}

/**
 * Return which players made a fault, as far as a short text can.
 * @param {End<any>} end
 * @param {string} kind of the faults
 * @param {string} words the consequence
 * @returns {string} "" for none
 */
export function faulty({ replay }, kind, words) {
  const faults = replay.document.faults.filter((fault) => kind === "" || fault.kind === kind);
  const lines = faults.slice(0, MOST_FAULTS).map((fault) => {
    // If only one kind of fault is listed, the kind need not be named.
    const why = (kind && shortened(fault)) || `it ${detailsOf(fault)}`;
    return `${atFault(fault, replay)} ${replay.name(fault.player)} ${words}: ${why}.`;
  });
  const rest = faults.length - lines.length;
  return [...lines, ...(rest > 0 ? [`So did ${rest} more.`] : [])].join(" ");
}

/**
 * @param {import("./replay.js").Fault} fault
 * @param {import("./replay.js").Replay} replay
 * @returns {string} when its bot was asked, as the beginning of a sentence
 */
function atFault(fault, replay) {
  const turn = replay.shownWith(Number(fault.turn) + 1);
  const wasAsked = replay.last > 0 && fault.kind !== "startup";
  return wasAsked && replay.first === 0 ? `In turn ${turn}` : atTurn(turn);
}

/**
 * @param {number} turn
 * @returns {string}
 */
export function inTurn(turn) {
  return turn > 0 ? `in turn ${turn}` : "before the first turn";
}

/**
 * @param {number} turn
 * @returns {string} the same as the beginning of a sentence
 */
export function atTurn(turn) {
  return turn > 0 ? `In turn ${turn}` : "Before the first turn";
}

/**
 * Compare the winner's number with the others'.
 * @param {End<any>} end
 * @param {number[]} values of all players
 * @returns {string}
 */
export function compared({ best, replay }, values) {
  const seat = best[0]?.index ?? 0;
  const next = Math.max(...values.filter((_, index) => index !== seat));
  return replay.seats.length === 1 ? String(values[seat]) : `${values[seat]} to ${next}`;
}

/**
 * Compare the winner's count of things with the others'.
 * @param {End<any>} end
 * @param {number[]} values of all players
 * @param {string} thing in the singular
 * @returns {string}
 */
export function comparedThings(end, values, thing) {
  const own = values[end.best[0]?.index ?? 0];
  return compared(end, values).replace(String(own), countOf(own, thing));
}

/**
 * Return the names of those who did not win.
 * @param {End<any>} end
 * @returns {string}
 */
export function losers({ replay, best }) {
  return listedNames(replay.seats.filter((seat) => !best.includes(seat)).map(({ name }) => name));
}

/**
 * @param {import("./replay.js").Fault} fault
 * @returns {string} what the bot did, with details
 */
function detailsOf(fault) {
  const why = shortened(fault);
  return `${didWrong(fault)}${why ? `: ${why}` : ""}`;
}

/**
 * @param {import("./replay.js").Fault} fault
 * @returns {string} its details without a final stop, and not too long; "" for an exception, which is shown
 *   beside the board
 */
function shortened({ detail }) {
  const { exception, how } = partsOfDetail(detail);
  const text = exception ? "" : how;
  const start = text.length > LONGEST_DETAIL ? `${text.slice(0, LONGEST_DETAIL)}…` : text;
  return start.replace(/[.\s]+$/, "");
}
