/** Where bots of Code Battle fight, or are about to. */

/**
 * @typedef {{row: number, col: number, owner: number}} Owned
 * @typedef {{rows: number, cols: number, attack_radius2: number}} Config
 */

/** Weight of a bot's death relative to a fighting bot. */
const DEATH = 2;

/** Maximum squared distance, in tiles, between enemies about to meet. */
const NEAR2 = 100;

/**
 * Return the bots with an enemy within reach.
 * @template {Owned} Bot
 * @param {Bot[]} bots
 * @param {Config} config
 * @returns {Bot[]}
 */
export function fighters(bots, config) {
  return bots.filter((bot) => nearest2(bot, bots, config) <= config.attack_radius2);
}

/**
 * Return the places worth watching: fights and deaths, otherwise approaching enemies, otherwise all bots.
 * @param {{bots: Owned[], dead: Owned[], config: Config}} frame
 * @returns {import("./game.js").Scenery[]}
 */
export function hotPlaces({ bots, dead, config }) {
  const fights = [...fighters(bots, config).map((bot) => placeOf(bot, 1)), ...dead.map((bot) => placeOf(bot, DEATH))];
  if (fights.length > 0) {
    return fights;
  }
  const meeting = bots.map((bot) => ({ bot, away2: nearest2(bot, bots, config) })).filter(({ away2 }) => away2 <= NEAR2);
  const places = meeting.map(({ bot, away2 }) => placeOf(bot, 1 / away2));
  return places.length > 0 ? places : bots.map((bot) => placeOf(bot, 1));
}

/**
 * @param {Owned} bot
 * @param {number} weight
 * @returns {import("./game.js").Scenery}
 */
function placeOf({ row, col }, weight) {
  return { x: col + 0.5, y: row + 0.5, weight };
}

/**
 * @param {Owned} bot
 * @param {Owned[]} bots
 * @param {Config} config
 * @returns {number} squared distance to its nearest enemy, Infinity without one
 */
function nearest2(bot, bots, { rows, cols }) {
  let least = Infinity;
  for (const { row, col, owner } of bots) {
    if (owner !== bot.owner) {
      const [down, across] = [distanceOf(row, bot.row, rows), distanceOf(col, bot.col, cols)];
      least = Math.min(least, down * down + across * across);
    }
  }
  return least;
}

/**
 * @param {number} one
 * @param {number} other
 * @param {number} size
 * @returns {number} distance on a torus
 */
function distanceOf(one, other, size) {
  const away = Math.abs(one - other);
  return Math.min(away, size - away);
}
