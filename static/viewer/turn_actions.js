/** The actions of turns, cached because the list of turns asks repeatedly. */

/** Maximum number of cached turns. */
const MOST_TURNS = 2000;

/** What players did in each turn of a replay. */
export class TurnActions {
  /**
   * @param {import("./replay.js").Replay} replay
   * @param {import("./games/game.js").Game} game
   * @param {unknown} memo prepared by the game
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
    const turnActions = this.game.happened({ replay, turn, before, after: replay.frame(turn), actions: replay.actions(turn), memo });
    this.entries.set(turn, turnActions);
    return turnActions;
  }
}
