/** Sentences about matches. */

/** @type {Record<string, Record<string, string>>} */
const REASONS = {
  "circuit-wars": {
    finished: "No segment is free any more; the larger area wins.",
    illegal: "A move was not allowed, and the other player wins.",
    timeout: "A turn took too long, and the other player wins.",
  },
  "code-battle": {
    sole_survivor: "One player alone had bots left.",
    annihilation: "Nobody had a bot left: a draw.",
    dominance: "One player had four fifths of all bots for 100 turns.",
    turn_limit: "The last turn was played; the highest score wins.",
  },
  "end-of-codes": {
    all_dead: "No creature is alive any more.",
    last_standing: "One player alone had living creatures.",
    round_cap: "The last round was played.",
    no_players: "No player took part.",
  },
  hexagon: {
    finished: "Neither colour can move; more chips win.",
    fault: "A reply that cannot be used ended the battle, and the other colour wins.",
  },
  paint: {
    turns_over: "The last turn was played; more squares win.",
  },
};

/** @type {Record<string, string>} */
const FAULTS = {
  startup: "could not be started",
  disconnected: "was not there any more",
  timeout: "did not answer in time",
  crashed: "crashed",
  malformed: "sent what cannot be read",
  illegal: "did what is not allowed",
  oversize: "sent too much",
};

/**
 * The games by their names on the command line.
 * @type {Record<string, string>}
 */
export const TITLES = {
  "circuit-wars": "Circuit Wars",
  "code-battle": "Code Battle",
  "end-of-codes": "End of Codes",
  hexagon: "Hexagon",
  paint: "Paint",
};

/**
 * @param {number} number
 * @param {string} thing in the singular
 * @returns {string}
 */
export function countOf(number, thing) {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}

/**
 * Give the title of a game.
 * @param {string} game
 * @returns {string}
 */
export function titleOf(game) {
  return TITLES[game] ?? game;
}

/**
 * Say why a match ended.
 * @param {import("./replay.js").ReplayDocument} document
 * @param {boolean} over whether no more turns will come
 * @returns {string}
 */
export function reasonOf({ game, result }, over = true) {
  const outcome = result.outcome ?? {};
  const reason = outcome.reason ?? outcome.condition;
  if (reason === undefined) {
    return over ? "The match did not come to an end." : "The match is being played.";
  }
  return REASONS[game]?.[reason] ?? String(reason).replaceAll("_", " ");
}

/**
 * Say what a player did wrong.
 * @param {string} kind
 * @param {string} detail
 * @returns {string}
 */
export function faultOf(kind, detail) {
  return `${FAULTS[kind] ?? `fault ${kind}`}${detail ? `: ${detail}` : ""}`;
}

/**
 * Say who won, or who plays.
 * @param {import("./replay.js").Replay} replay
 * @returns {string}
 */
export function winnerOf(replay) {
  if (!replay.over) {
    return replay.seats.length > 4 ? `${replay.seats.length} players` : replay.seats.map(({ name }) => name).join(" against ");
  }
  const best = standings(replay).filter((standing) => standing.rank === 1);
  if (best.length === 0) {
    return "Nobody won";
  }
  const names = best.map(({ seat }) => seat.name);
  return best.length === 1 ? `${names[0]} won` : `Draw: ${listed(names)}`;
}

/**
 * @param {string[]} names
 * @returns {string}
 */
function listed(names) {
  return names.length > 4 ? `${names.length} players` : names.join(", ");
}

/**
 * Give ranks and scores, the best first.
 * @param {import("./replay.js").Replay} replay
 * @returns {{seat: import("./replay.js").Seat, rank: number | null, score: number | null}[]}
 */
export function standings(replay) {
  const outcome = replay.document.result.outcome ?? {};
  const scores = outcome.scores ?? outcome.final_scores;
  return replay.seats
    .map((seat) => ({ seat, rank: numberOf(outcome.ranks, seat), score: numberOf(scores, seat) }))
    .sort((one, other) => (one.rank ?? Infinity) - (other.rank ?? Infinity) || 0);
}

/**
 * @param {import("./replay.js").Numbers | undefined} numbers
 * @param {import("./replay.js").Seat} seat
 * @returns {number | null}
 */
function numberOf(numbers, seat) {
  return (Array.isArray(numbers) ? numbers[seat.index] : numbers?.[seat.key]) ?? null;
}
