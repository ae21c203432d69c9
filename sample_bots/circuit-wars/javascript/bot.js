'use strict';
// A bot for Circuit Wars that draws a random free segment: rewrite `choose`.

const { run } = require('./circuit_wars');

/** @type {import('./circuit_wars').Bot} */
const randomBot = {
  /** Gives the free segment to draw, as [x, y, border]. */
  choose(board, player) {
    const free = board.freeSegments();
    return free[Math.floor(Math.random() * free.length)];
  },
};

run(randomBot);
