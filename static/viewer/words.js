/** Sentences about matches. */

import { FAULTS, TITLES } from "../shared/words.js";
import { showingOf } from "./games/installed.js";

/** Maximum number of players named in a sentence. */
const MOST_NAMES = 4;

/** The name of a person who plays by hand. */
const PERSON = "you";

/**
 * Start a sentence with a player and a verb; a person is addressed as "you".
 * @param {string} name
 * @param {string} verb in the third person, such as "leads"
 * @param {string} [toPerson] the verb after "you"
 * @returns {string}
 */
export function doing(name, verb, toPerson = verb.replace(/s$/, "")) {
  return name === PERSON ? `You ${toPerson}` : `${name} ${verb}`;
}

/**
 * Return a duration as text.
 * @param {number} ms
 * @returns {string}
 */
export function timeWords(ms) {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/**
 * Return the title of a game.
 * @param {string} game
 * @returns {string}
 */
export function titleOf(game) {
  return TITLES[game] ?? showingOf(game).title ?? game;
}

/**
 * Return whether a kind of fault is defined by the rules.
 * @param {string} kind
 * @returns {boolean}
 */
export function isFault(kind) {
  return Object.hasOwn(FAULTS, kind);
}

/**
 * Return what a player did wrong.
 * @param {string} kind
 * @param {string} detail
 * @returns {string}
 */
export function faultOf(kind, detail) {
  return `${isFault(kind) ? FAULTS[kind] : `fault ${kind}`}${detail ? `: ${detail}` : ""}`;
}

/**
 * Return who plays against whom.
 * @param {import("./replay.js").Replay} replay
 * @returns {string}
 */
export function opponents({ seats }) {
  const names = seats.map(({ name }, index) => (index === 0 && name === PERSON ? "You" : name));
  return names.length > 2 ? listedNames(names) : names.join(" against ");
}

/**
 * Return who won, or who plays.
 * @param {import("./replay.js").Replay} replay
 * @returns {string}
 */
export function winnerOf(replay) {
  if (!replay.over) {
    return opponents(replay);
  }
  const best = standings(replay).filter((standing) => standing.rank === 1);
  if (best.length === 0) {
    return "No winner";
  }
  const names = best.map(({ seat }) => seat.name);
  return best.length === 1 ? doing(names[0], "won") : `Draw: ${listedNames(names)}`;
}

/**
 * Return the names of players, or their number if there are many.
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
 * Return ranks and scores, the best first.
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
 * Return the final scores.
 * @param {import("./replay.js").Replay} replay
 * @returns {number[]} of all players, or empty
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
 * Return every player's result in a match, in one word.
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
