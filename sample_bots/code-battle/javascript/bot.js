'use strict';
// A bot for AI Code Battle that gives random orders: rewrite `choose`.

const { run } = require('./code_battle');

/** @type {import('./code_battle').Direction[]} */
const WAYS = ['N', 'E', 'S', 'W'];

/** @type {import('./code_battle').Bot} */
const randomBot = {
  /** Gives your orders as [row, col, direction]; bots without one hold. */
  choose(match, view) {
    const movers = view.mine().filter(() => Math.random() >= 0.2);
    return movers.map(([row, col]) => [row, col, WAYS[Math.floor(Math.random() * 4)]]);
  },
};

run(randomBot);
