/** Code Battle's own replay format: each state follows from the previous one and the events of a turn. */

import { fields, isPair, isRecord, listed } from "../json.js";

const MEMBERS = ["version", "players", "config", "map", "turns"];
const SETTINGS = ["rows", "cols", "max_turns", "vision_radius2", "attack_radius2", "spawn_cost", "energy_interval"];
const STEPS = /** @type {Record<string, [number, number]>} */ ({ N: [-1, 0], E: [0, 1], S: [1, 0], W: [0, -1] });
const LONGEST_SIDE = 120;
const MOST_TURNS = 1000;
const MOST_PLAYERS = 6;

/** Consecutive faults after which a slot is no longer asked. */
const FAILURES = 10;

/**
 * @typedef {import("../replay.js").ReplayDocument} ReplayDocument
 * @typedef {import("../replay.js").Actions} Actions
 * @typedef {Record<string, number>} Config
 * @typedef {[number, number]} Place
 * @typedef {{row: number, col: number}} Tile
 * @typedef {Tile & {energy: boolean, timer: number}} Node
 * @typedef {Tile & {id: number, owner: number}} Bot
 * @typedef {Bot & {active: boolean, last_spawn: number}} Core
 * @typedef {{energy: number, collected: number, score: number}} Counts
 * @typedef {{
 *   config: Config, turn: number, walls: Place[], nodes: Node[], cores: Core[], bots: Bot[],
 *   next_bot_id: number, players: Counts[], dead: (Tile & {owner: number})[],
 * }} State
 */

/**
 * Convert a file of the format to a replay; return null for other files.
 * @param {unknown} file
 * @returns {ReplayDocument | null}
 * @throws {Error} with a sentence for the viewer
 */
export function fromCodeBattle(file) {
  if (!isRecord(file) || "game" in file || !MEMBERS.every((name) => name in file)) {
    return null;
  }
  if (file.version !== 1) {
    throw new Error(`This is version ${file.version} of Code Battle's replays, expected 1.`);
  }
  const names = listed(file.players).map((player) => String(fields(player).name));
  const turns = listed(file.turns).map(fields);
  demand(names.length >= 2 && names.length <= MOST_PLAYERS, `it has ${names.length} players`);
  demand(turns.length <= MOST_TURNS, `it has ${turns.length} turns`);
  const start = startOf(file, names.length);
  const result = fields(file.result);
  return /** @type {ReplayDocument} */ (/** @type {unknown} */ ({
    version: 1,
    date: String(file.date ?? ""),
    rules: 1,
    game: "code-battle",
    options: { map: String(fields(file.map).map_id ?? "") },
    seed: Number(file.seed ?? 0),
    players: names.map((name, player) => ({ player, name, bot: String(fields(listed(file.players)[player]).owner ?? "") })),
    start: null,
    frame: start,
    turns: replayed(start, turns),
    result: { outcome: "winner" in result ? { ranks: ranksOf(result, names.length), ...result } : null },
    faults: faultsOf(turns, names.length),
    hash: "",
  }));
}

/**
 * @param {boolean} holds
 * @param {string} problem
 */
function demand(holds, problem) {
  if (!holds) {
    throw new Error(`This replay of Code Battle cannot be shown: ${problem}.`);
  }
}

/**
 * Return the first state: a bot on each core, all nodes empty.
 * @param {Record<string, unknown>} file
 * @param {number} slots
 * @returns {State}
 */
function startOf(file, slots) {
  const settings = fields(file.config);
  const config = Object.fromEntries(SETTINGS.map((name) => [name, Number(settings[name])]));
  for (const name of SETTINGS) {
    demand(Number.isInteger(config[name]) && config[name] > 0, `its setting ${name} is not a whole number above 0`);
  }
  demand(Math.max(config.rows, config.cols) <= LONGEST_SIDE, `its grid is larger than ${LONGEST_SIDE} by ${LONGEST_SIDE}`);
  const map = fields(file.map);
  const placed = listed(map.cores).map(fields).map(({ pos, owner }, id) => ({
    id, ...tileOf(pos, config), owner: slotOf(owner, slots),
  }));
  const scores = Array.from({ length: slots }, (_, slot) => placed.filter(({ owner }) => owner === slot).length);
  return {
    config,
    turn: 0,
    walls: listed(map.walls).map((place) => { const { row, col } = tileOf(place, config); return [row, col]; }),
    nodes: listed(map.energy_nodes).map((place) => ({ ...tileOf(place, config), energy: false, timer: 0 })),
    cores: placed.map((core) => ({ ...core, active: true, last_spawn: 0 })),
    bots: placed,
    next_bot_id: placed.length,
    players: scores.map((score) => ({ energy: 0, collected: 0, score })),
    dead: [],
  };
}

/**
 * Return the turns for the viewer, each with the complete state after it.
 * @param {State} start
 * @param {Record<string, unknown>[]} turns
 * @returns {ReplayDocument["turns"]}
 */
function replayed(start, turns) {
  let state = start;
  return turns.map((turn) => {
    const actions = actionsOf(turn);
    state = after(state, turn);
    return { actions, frame: [/** @type {any} */ (state)] };
  });
}

/**
 * Return the state after a turn.
 * @param {State} state
 * @param {Record<string, unknown>} turn
 * @returns {State}
 */
function after(state, turn) {
  const { config } = state;
  const slots = state.players.length;
  const number = state.turn + 1;
  const dead = owned(turn.deaths, config, slots);
  const spawns = owned(turn.spawns, config, slots).map((bot, index) => ({ id: state.next_bot_id + index, ...bot }));
  const razed = keysOf(listed(turn.captures).map((entry) => listed(entry).slice(0, 2)), config);
  const spawnedAt = new Set(spawns.map(keyOf));
  return {
    ...state,
    turn: number,
    nodes: nodesAfter(state, turn),
    cores: state.cores.map((core) => {
      const active = core.active && !razed.has(keyOf(core));
      return { ...core, active, last_spawn: spawnedAt.has(keyOf(core)) ? number : core.last_spawn };
    }),
    bots: [...without(botsAfter(state, turn), dead), ...spawns],
    next_bot_id: state.next_bot_id + spawns.length,
    players: state.players.map((counts, slot) => {
      const gained = listed(fields(turn.energy_collected)[slot]).length;
      const spent = config.spawn_cost * spawns.filter(({ owner }) => owner === slot).length;
      const score = listed(turn.scores)[slot] ?? counts.score;
      return { energy: counts.energy + gained - spent, collected: counts.collected + gained, score: Number(score) };
    }),
    dead,
  };
}

/**
 * Return the bots after their simultaneous moves.
 * @param {State} state
 * @param {Record<string, unknown>} turn
 * @returns {Bot[]}
 */
function botsAfter({ bots, config }, turn) {
  /** @type {Map<string, [number, number]>} the step of each moving bot, by owner and tile */
  const ways = new Map();
  for (const [slot, moves] of Object.entries(fields(turn.moves))) {
    for (const { from, dir } of listed(moves).map(fields)) {
      const way = STEPS[String(dir)];
      demand(way !== undefined, `a bot goes ${String(dir).slice(0, 20)}`);
      ways.set(`${slot}.${keyOf(tileOf(from, config))}`, way);
    }
  }
  return bots.map((bot) => {
    const way = ways.get(`${bot.owner}.${keyOf(bot)}`);
    return way ? { ...bot, row: wrapped(bot.row + way[0], config.rows), col: wrapped(bot.col + way[1], config.cols) } : bot;
  });
}

/**
 * Return the remaining bots: each death removes one bot of its owner.
 * @param {Bot[]} bots
 * @param {(Tile & {owner: number})[]} dead
 * @returns {Bot[]}
 */
function without(bots, dead) {
  const left = dead.map((bot) => `${bot.owner}.${keyOf(bot)}`);
  return bots.filter((bot) => {
    const place = left.indexOf(`${bot.owner}.${keyOf(bot)}`);
    if (place >= 0) {
      left.splice(place, 1);
    }
    return place < 0;
  });
}

/**
 * Return the nodes after a turn: emptied ones count from 0 again, and the named ones hold energy.
 * @param {State} state
 * @param {Record<string, unknown>} turn
 * @returns {Node[]}
 */
function nodesAfter({ nodes, config }, turn) {
  const harvest = Object.values(fields(turn.energy_collected)).flatMap(listed);
  const emptied = keysOf([...harvest, ...listed(turn.energy_destroyed)], config);
  const filled = keysOf(listed(turn.energy_spawned), config);
  return nodes.map((node) => {
    const key = keyOf(node);
    if (filled.has(key)) {
      return { ...node, energy: true, timer: 0 };
    }
    if (emptied.has(key)) {
      return { ...node, energy: false, timer: 1 };
    }
    return node.energy ? node : { ...node, timer: node.timer + 1 };
  });
}

/**
 * Return the bots' actions of a turn, as in the arena's replay.
 * @param {Record<string, unknown>} turn
 * @returns {Actions}
 */
function actionsOf(turn) {
  const moves = Object.entries(fields(turn.moves)).map(([slot, steps]) => [
    slot,
    listed(steps).map(fields).map(({ from, dir }) => ({ row: listed(from)[0], col: listed(from)[1], direction: dir })),
  ]);
  const faults = Object.entries(fields(turn.faults)).map(([slot, fault]) => [slot, { fault }]);
  return Object.fromEntries([...moves, ...faults]);
}

/**
 * Return the faults of a match, including the final one after which a slot is no longer asked.
 * @param {Record<string, unknown>[]} turns
 * @param {number} slots
 * @returns {ReplayDocument["faults"]}
 */
function faultsOf(turns, slots) {
  const inRow = new Array(slots).fill(0);
  return turns.flatMap((turn, number) => inRow.flatMap((count, player) => {
    const kind = fields(turn.faults)[player];
    inRow[player] = kind === undefined ? 0 : count + 1;
    const fault = { turn: number, player, kind: String(kind), detail: "" };
    const last = { ...fault, kind: "crashed", detail: `${FAILURES} faults in a row` };
    return kind === undefined ? [] : [fault, ...(inRow[player] === FAILURES ? [last] : [])];
  }));
}

/**
 * Return ranks for a file that names only a winner.
 * @param {Record<string, unknown>} result
 * @param {number} slots
 * @returns {number[]}
 */
function ranksOf({ winner, final_scores: finals }, slots) {
  const scores = Array.from({ length: slots }, (_, slot) => (slot === winner ? Infinity : Number(listed(finals)[slot] ?? 0)));
  return scores.map((score) => 1 + scores.filter((other) => other > score).length);
}

/**
 * @param {unknown} entries
 * @param {Config} config
 * @param {number} slots
 * @returns {(Tile & {owner: number})[]}
 */
function owned(entries, config, slots) {
  return listed(entries).map((entry) => {
    const [row, col, owner] = listed(entry);
    return { ...tileOf([row, col], config), owner: slotOf(owner, slots) };
  });
}

/**
 * @param {unknown} place
 * @param {Config} config
 * @returns {Tile}
 */
function tileOf(place, { rows, cols }) {
  const on = isPair(place) && place[0] >= 0 && place[0] < rows && place[1] >= 0 && place[1] < cols;
  demand(on, `${JSON.stringify(place ?? null).slice(0, 40)} is not a tile of its grid`);
  const [row, col] = /** @type {Place} */ (place);
  return { row, col };
}

/**
 * @param {unknown} owner
 * @param {number} slots
 * @returns {number}
 */
function slotOf(owner, slots) {
  demand(Number.isInteger(owner) && Number(owner) >= 0 && Number(owner) < slots, "something belongs to none of its players");
  return Number(owner);
}

/**
 * @param {unknown[]} places
 * @param {Config} config
 * @returns {Set<string>}
 */
function keysOf(places, config) {
  return new Set(places.map((place) => keyOf(tileOf(place, config))));
}

/**
 * @param {Tile} tile
 * @returns {string}
 */
function keyOf({ row, col }) {
  return `${row},${col}`;
}

/**
 * @param {number} value
 * @param {number} size
 * @returns {number}
 */
function wrapped(value, size) {
  return (value + size) % size;
}
