/** Words that Python says too: docs/make_words.py writes this file. */

/**
 * What a bot did whose fault is of this kind.
 * @type {Record<string, string>}
 */
export const FAULTS = {
  "startup": "could not be started",
  "disconnected": "closed its connection",
  "timeout": "did not answer in time",
  "crashed": "crashed",
  "malformed": "sent an unreadable answer",
  "illegal": "made an illegal move",
  "oversize": "sent an answer that was too long"
};

/**
 * The games by their names on the command line.
 * @type {Record<string, string>}
 */
export const TITLES = {
  "circuit-wars": "Circuit Wars",
  "code-battle": "Code Battle",
  "end-of-codes": "End of Codes",
  "hexagon": "Hexagon",
  "paint": "Paint"
};

/**
 * By game: why it was over.
 * @type {Record<string, Record<string, string>>}
 */
export const REASONS = {
  "code-battle": {
    "sole_survivor": "no other player had bots left",
    "dominance": "by domination: at least 80 % of all bots for 100 turns",
    "annihilation": "the last bots died together"
  },
  "end-of-codes": {
    "last_standing": "no other player had creatures left",
    "all_dead": "the last creatures died together",
    "round_cap": "the last round was played, and several had creatures left",
    "no_players": "no player took part"
  },
  "paint": {
    "not_enough_ready": "fewer than two bots were ready"
  }
};

/**
 * By game: the number of the first turn that bots are asked about, if not 1.
 * @type {Record<string, number>}
 */
export const FIRST_TURNS = {
  "end-of-codes": 0
};

/**
 * Reasons of giving up.
 * @type {string[]}
 */
export const RESIGNATIONS = [
  "resignation",
  "resigned"
];

/**
 * What stands between the sentence of a fault and what the program wrote last.
 * @type {string}
 */
export const ERROR_OUTPUT = "; the end of its error output: ";
