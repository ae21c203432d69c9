'use strict';
// A bot for Paint that takes any of the 16 actions: rewrite `choose`.
// Standard output belongs to the referee: print with console.error.

const { ACTIONS, run } = require('./paint');

/** @type {import('./paint').Bot} */
const randomBot = {
  /** Gives your action, as [type, direction]. */
  choose(state) {
    return ACTIONS[Math.floor(Math.random() * ACTIONS.length)];
  },
};

run(randomBot);
