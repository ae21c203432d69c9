/** Sentences about matches. */

import { FAULTS, TITLES } from "../shared/words.js";
import { showingOf } from "./games/installed.js";

/** Players that a sentence names. */
const MOST_NAMES = 4;

/** What a person who plays by hand is called. */
const PERSON = "you";

/**
 * Begin a sentence with a player and what the player does: a person is spoken to.
 * @param {string} name
 * @param {string} verb in the third person, such as "leads"
 * @param {string} [toPerson] the verb that stands behind "you"
 * @returns {string}
 */
export function doing(name, verb, toPerson = verb.replace(/s$/, "")) {
  return name === PERSON ? `You ${toPerson}` : `${name} ${verb}`;
}

/**
 * Say how long something took.
 * @param {number} ms
 * @returns {string}
 */
export function timeWords(ms) {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/**
 * Give the title of a game.
 * @param {string} game
 * @returns {string}
 */
export function titleOf(game) {
  return TITLES[game] ?? showingOf(game).title ?? game;
}

/**
 * Tell whether the rules know a kind of fault by this name.
 * @param {string} kind
 * @returns {boolean}
 */
export function isFault(kind) {
  return Object.hasOwn(FAULTS, kind);
}

/**
 * Say what a player did wrong.
 * @param {string} kind
 * @param {string} detail
 * @returns {string}
 */
export function faultOf(kind, detail) {
  return `${isFault(kind) ? FAULTS[kind] : `fault ${kind}`}${detail ? `: ${detail}` : ""}`;
}

/**
 * Say who plays against whom.
 * @param {import("./replay.js").Replay} replay
 * @returns {string}
 */
export function opponents({ seats }) {
  const names = seats.map(({ name }, index) => (index === 0 && name === PERSON ? "You" : name));
  return names.length > 2 ? listedNames(names) : names.join(" against ");
}

/**
 * Say who won, or who plays.
 * @param {import("./replay.js").Replay} replay
 * @returns {string}
 */
export function winnerOf(replay) {
  if (!replay.over) {
    return opponents(replay);
  }
  const best = standings(replay).filter((standing) => standing.rank === 1);
  if (best.length === 0) {
    return "Nobody won";
  }
  const names = best.map(({ seat }) => seat.name);
  return best.length === 1 ? doing(names[0], "won") : `Draw: ${listedNames(names)}`;
}

/**
 * Name players, or count them where they are many.
 * @param {string[]} names
 * @returns {string}
 */
export function listedNames(names) {
  if (names.length > MOST_NAMES) {
    return `${names.length} players`;
  }
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("");
}

/**
 * Give ranks and scores, the best first.
 * @param {import("./replay.js").Replay} replay
 * @returns {{seat: import("./replay.js").Seat, rank: number | null, score: number | null}[]}
 */
export function standings(replay) {
  const outcome = replay.document.result.outcome ?? {};
  return replay.seats
    .map((seat) => ({ seat, rank: numberOf(outcome.ranks, seat), score: numberOf(finalScores(replay), seat) }))
    .sort((one, other) => (one.rank ?? Infinity) - (other.rank ?? Infinity) || 0);
}

/**
 * Give the scores at the end.
 * @param {import("./replay.js").Replay} replay
 * @returns {number[]} of all players, or none
 */
export function scoresOf(replay) {
  const scores = replay.seats.map((seat) => numberOf(finalScores(replay), seat));
  return scores.every((score) => score !== null) ? scores : [];
}

/**
 * @param {import("./replay.js").Replay} replay
 * @returns {import("./replay.js").Numbers | undefined}
 */
function finalScores({ document }) {
  const { scores, final_scores: final } = document.result.outcome ?? {};
  return scores ?? final;
}

/**
 * Say in a word how every player came out of a match.
 * @param {import("./replay.js").Replay} replay
 * @returns {string[]} "" for those without a rank
 */
export function standingWords(replay) {
  const ranks = replay.seats.map((seat) => numberOf(replay.document.result.outcome?.ranks, seat));
  const first = ranks.filter((rank) => rank === 1).length > 1 ? "draw" : "won";
  const rest = (/** @type {number} */ rank) => (ranks.length > 2 ? `rank ${rank}` : "lost");
  return ranks.map((rank) => (rank === null ? "" : rank === 1 ? first : rest(rank)));
}

/**
 * @param {import("./replay.js").Numbers | undefined} numbers
 * @param {import("./replay.js").Seat} seat
 * @returns {number | null}
 */
function numberOf(numbers, seat) {
  const number = Array.isArray(numbers) ? numbers[seat.index] : numbers?.[seat.key];
  return typeof number === "number" ? number : null;
}
