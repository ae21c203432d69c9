/** What was done in turns, kept for those who ask again: the list of turns does. */

/** Turns of which it is kept. */
const MOST_TURNS = 2000;

/** What players did in each turn of a replay. */
export class Deeds {
  /**
   * @param {import("./replay.js").Replay} replay
   * @param {import("./games/game.js").Game} game
   * @param {unknown} memo what the game has prepared
   */
  constructor(replay, game, memo) {
    this.replay = replay;
    this.game = game;
    this.memo = memo;
    /** @type {Map<number, import("./games/game.js").Happening[]>} */
    this.entries = new Map();
  }

  /**
   * @param {number} turn
   * @returns {import("./games/game.js").Happening[]} none before the first turn
   */
  at(turn) {
    const entry = this.entries.get(turn);
    if (entry || turn === 0) {
      return entry ?? [];
    }
    if (this.entries.size >= MOST_TURNS) {
      this.entries.clear();
    }
    const { replay, memo } = this;
    const before = replay.frame(turn - 1);
    const deeds = this.game.happened({ replay, turn, before, after: replay.frame(turn), actions: replay.actions(turn), memo });
    this.entries.set(turn, deeds);
    return deeds;
  }
}
