'use strict';
// A random bot for any game that uses the default protocol: rewrite `choose`.
// Standard output belongs to the referee: print to standard error (`console.error`).

const { run } = require('./arena.js');

/** Takes any of the actions that the question offers, each equally likely. */
class RandomBot {
  /**
   * Gives your action.
   * @param {import('./arena.js').Question} question
   * @returns {unknown}
   */
  choose({ actions }) {
    return actions[Math.floor(Math.random() * actions.length)];
  }
}

run(() => new RandomBot());
