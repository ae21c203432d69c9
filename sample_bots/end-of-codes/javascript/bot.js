'use strict';
// A bot for End of Codes: attack a neighbour, else stay or wander. Rewrite `choose`.

const { DIRECTIONS, attack, move, run } = require('./end_of_codes');

/** @typedef {import('./end_of_codes').Direction} Direction */

/** @type {import('./end_of_codes').Bot} */
const sampleBot = {
  botname: 'sample',
  version: '1.0',

  /** Gives your intents, at most one for each of your living creatures. */
  choose(game) {
    return game.mine().flatMap((creature) => act(game, creature));
  },
};

/**
 * Chooses for one creature; an empty list is idle.
 * @param {import('./end_of_codes').Game} game
 * @param {import('./end_of_codes').Creature} creature
 * @returns {import('./end_of_codes').Intent[]}
 */
function act(game, creature) {
  /** @type {Direction[]} */
  const targets = [];
  /** @type {Direction[]} */
  const ways = [];
  for (const direction of /** @type {Direction[]} */ (Object.keys(DIRECTIONS))) {
    const [dx, dy] = DIRECTIONS[direction];
    const other = game.at(creature.x + dx, creature.y + dy);
    if (other && other.userid !== game.myid) targets.push(direction);
    if (!other && game.isOnMap(creature.x + dx, creature.y + dy)) ways.push(direction);
  }
  if (targets.length) return [attack(creature, any(targets))];
  return ways.length && Math.random() < 0.5 ? [move(creature, any(ways))] : [];
}

/**
 * @template T
 * @param {T[]} items
 */
function any(items) {
  return items[Math.floor(Math.random() * items.length)];
}

run(sampleBot);
