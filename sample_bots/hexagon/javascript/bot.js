'use strict';
// A bot for Hexagon that makes a random legal move: rewrite `choose`.

const { run } = require('./hexagon');

/** @type {import('./hexagon').Bot} */
const randomBot = {
  /** Gives your move, as [moveFrom, moveTo]. */
  choose(board, color, jumps) {
    const moves = board.legalMoves(color);
    return moves[Math.floor(Math.random() * moves.length)];
  },
};

run(randomBot);
