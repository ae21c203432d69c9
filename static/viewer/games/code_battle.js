/** Code Battle: a dark torus with walls, energy, cores, bots and their trails, and fog. */

import { Camera } from "../camera.js";
import { axes, cellsInSight, colour, cross, disc, grid, ringSpot, strength, write } from "../drawing.js";
import { atStart, atTurn, compared, faulty, inTurn, reasonOf } from "../ending.js";
import { fighters, hotPlaces } from "./code_battle_fights.js";
import { leadOf } from "../lead.js";
import { letterOf } from "../palette.js";
import { countOf } from "../../shared/counts.js";
import { doing, listedNames } from "../words.js";

/**
 * @typedef {{row: number, col: number}} Tile
 * @typedef {Tile & {owner: number}} Owned
 * @typedef {Tile & {energy: boolean}} Node
 * @typedef {Owned & {id: number}} Bot
 * @typedef {Owned & {id: number, active: boolean}} Core
 * @typedef {{
 *   config: {rows: number, cols: number, vision_radius2: number, attack_radius2: number}, walls: [number, number][],
 *   nodes: Node[], cores: Core[], bots: Bot[], dead: Owned[],
 *   players: {energy: number, collected: number, score: number}[],
 * }} Frame
 * @typedef {{
 *   ids: WeakMap<Frame, Map<number, Bot>>, walls: Set<number>,
 *   sight: WeakMap<Frame, {focus: number, tiles: Uint8Array}>,
 * }} Memo
 * @typedef {import("./game.js").Replay<Frame>} Replay
 * @typedef {import("./game.js").Scene<Frame, Memo>} Scene
 * @typedef {(tile: Tile) => boolean} Visible
 */

const GROUND = "#0b1118";
const LINES = "#17212b";
const EDGE = "#3a4856";
const WALL = "#4a5663";
const FAR_WALL = "#2c3642";
const ENERGY = "#ffe14d";
const DEATH = "#ff5c5c";
const FLASH = "#ffffff";
const VEIL = "#0b1118a6";
const TRAIL = 3;

/** A bot's radius in pixels, limited in tiles so that it does not cover its neighbours. */
const UNIT = 7.2;
const LEAST_UNIT = 0.42;
const LARGEST_UNIT = 0.8;

/** Radius of bots and cores on the minimap, in pixels. */
const MINI_UNIT = 2.2;
const MINI_CORE = 3.6;

/** Tiles by which a drawing may exceed its own tile. */
const REACH = 2;

/** @type {import("./game.js").Game<Frame, Memo>} */
export const CODE_BATTLE = {
  legend: [
    "A bot is a disc with its letter, or a mark where it is small; the line behind it is its path over the last three turns.",
    "A yellow diamond is energy; a hollow one is an empty node.",
    "A ring with a letter is a core; a razed one is crossed out.",
    "Where a bot died there is a flash and a red cross, for one turn.",
    "The board wraps around: beyond its frame you see the same board again, paler.",
  ],
  measures: [
    { name: "score", of: (frame) => frame.players.map(({ score }) => score) },
    { name: "bots", of: (frame) => botCounts(frame) },
    { name: "collected", of: (frame) => frame.players.map(({ collected }) => collected) },
    { name: "energy", of: (frame) => frame.players.map(({ energy }) => energy) },
  ],
  criteria: [
    { name: "score", of: (frame) => frame.players.map(({ score }) => score) },
    { name: "collected energy", of: (frame) => frame.players.map(({ collected }) => collected) },
    { name: "living bots", of: (frame) => botCounts(frame) },
  ],
  fog: true,
  night: true,
  moves: true,
  wraps: true,

  prepare: (replay) => ({ ids: new WeakMap(), sight: new WeakMap(), walls: wallsOf(replay.frame(0)) }),

  scenery: hotPlaces,

  extent: ({ config }) => ({ width: config.cols, height: config.rows }),

  draw(scene) {
    const { ctx, frame, camera } = scene;
    const { rows, cols } = frame.config;
    ctx.fillStyle = GROUND;
    ctx.fillRect(camera.x, camera.y, camera.width / camera.scale, camera.height / camera.scale);
    for (const [across, down] of copiesInSight(scene)) {
      ctx.save();
      ctx.translate(across * cols, down * rows);
      drawBoard({ ...scene, camera: movedCamera(camera, across * cols, down * rows) });
      ctx.restore();
    }
    drawEdge(scene);
    axes(scene, cols, rows);
    ringSpot(scene);
  },

  spotAt(scene, x, y) {
    const { rows, cols } = scene.frame.config;
    const row = wrapped(Math.floor(y), rows);
    const col = wrapped(Math.floor(x), cols);
    const visible = sightOf(scene);
    const parts = visible({ row, col }) ? thingsAt(scene, row, col) : ["not seen"];
    const text = `[${row}, ${col}] ${parts.join(", ") || "open"}`;
    const things = parts.filter((part) => part !== "wall" && part !== "not seen");
    const middle = { x: Math.floor(x) + 0.5, y: Math.floor(y) + 0.5 };
    return { key: `${row},${col}`, text, ...middle, r: 0.6, bubble: things.length ? things : undefined };
  },

  happened({ replay, before, after, memo }) {
    const [then, now] = [botCounts(before), botCounts(after)];
    const { moves, fights } = actionsOf(before, after, memo);
    return replay.seats
      .map(({ index }) => {
        const losses = after.dead.filter(({ owner }) => owner === index).length;
        const births = now[index] - then[index] + losses;
        const gained = after.players[index].collected - before.players[index].collected;
        const points = after.players[index].score - before.players[index].score;
        const done = [fights[index] ? `${fights[index]} in a fight` : "", losses ? `lost ${losses}` : ""];
        done.push(births > 0 ? `built ${births}` : "", gained ? `collected ${gained}` : "");
        done.push(points ? `${points > 0 ? "+" : ""}${countOf(points, "point")}` : "");
        const parts = done.filter(Boolean);
        const text = [`moved ${moves[index]} of ${countOf(then[index], "bot")}`, ...parts].join(", ");
        return { seat: index, text, short: [...parts, `moved ${moves[index]}`].join(", ") };
      })
      .filter(({ seat }) => then[seat] || now[seat] || before.players[seat].score !== after.players[seat].score);
  },

  events({ replay, before, after }) {
    const razed = after.cores
      .filter((core, index) => !core.active && before.cores[index].active)
      .map((core) => ({
        kind: /** @type {const} */ ("capture"),
        text: `A core of ${replay.name(core.owner)} was razed`,
        short: `${doing(replay.name(core.owner), "loses", "lose")} a core`,
        weight: 60,
      }));
    const bots = Math.max(1, before.bots.length);
    const died = after.dead.length ? [{
      kind: /** @type {const} */ ("death"),
      text: fallen(replay, after),
      short: `${countOf(after.dead.length, "bot")} lost`,
      weight: (30 * after.dead.length) / bots,
    }] : [];
    const [then, now] = [botCounts(before), botCounts(after)];
    const out = replay.seats.filter(({ index }) => then[index] > 0 && now[index] === 0).map(({ name }) => ({
      kind: /** @type {const} */ ("death"), text: `${doing(name, "has", "have")} no bots left`, short: `${doing(name, "is", "are")} out`, weight: 70,
    }));
    return [...razed, ...died, ...out];
  },

  ending(end) {
    const words = ENDINGS[end.reason]?.(end);
    return words ? `${words} ${faulty(end, "crashed", "was given up")}`.trim() : "";
  },

  describe(frame, { seats }) {
    const living = botCounts(frame);
    const words = seats.map(({ name, index }) => `${name}: score ${frame.players[index].score}, ${countOf(living[index], "bot")}`);
    return `Torus of ${frame.config.rows} by ${frame.config.cols} tiles. ${words.join("; ")}.`;
  },
};

/**
 * @typedef {import("../ending.js").End<Frame>} End
 */

/** @type {Record<string, (end: End) => string>} */
const ENDINGS = {
  sole_survivor: (end) => {
    const { best: [winner], frame, turn, scores } = end;
    const left = botCounts(frame)[winner.index];
    const bonus = `With 2 points for each active enemy core, the score is ${compared(end, scores)}.`;
    return `${atTurn(turn)} ${lastLost(end)} lost the last bot, and ${winner.name} alone had bots left: ${left}. ${bonus}`;
  },
  annihilation: (end) => `The last bots, of ${lastLost(end)}, died together ${inTurn(end.turn)}.`,
  dominance: (end) => {
    const { best: [winner], frame, turn, scores } = end;
    const bots = botCounts(frame);
    const all = bots.reduce((sum, count) => sum + count, 0);
    const why = atStart(reasonOf(end).replace(/^by /, ""));
    const majority = `${why}, ${inTurn(turn)} ${bots[winner.index]} of ${all}`;
    return `${majority}. The scores, ${scores.join(scores.length > 2 ? ", " : " to ")}, do not count.`;
  },
  turn_limit: atTurnLimit,
};

/**
 * Return the names of those who lost their last bot in the last turn.
 * @param {End} end
 * @returns {string}
 */
function lastLost({ replay, frame, turn }) {
  const [then, now] = [botCounts(replay.frame(Math.max(0, turn - 1))), botCounts(frame)];
  return listedNames(replay.seats.filter(({ index }) => then[index] > 0 && now[index] === 0).map(({ name }) => name));
}

/**
 * Return what decided at the turn limit: the score, or the tie-break.
 * @param {End} end
 * @returns {string}
 */
function atTurnLimit(end) {
  const { replay, frame, turn, best } = end;
  const lead = leadOf(frame, replay, CODE_BATTLE, turn);
  const beginning = `The last turn, ${turn}, was played.`;
  const level = lead.level.map((name) => {
    const values = CODE_BATTLE.criteria?.find((criterion) => criterion.name === name)?.of(frame, replay, turn) ?? [];
    return `${name} (${values[best[0]?.index ?? 0]})`;
  });
  if (best.length > 1) {
    return `${beginning} ${listedNames(best.map(({ name }) => name))} are tied in ${listedNames(level)}: a draw.`;
  }
  if (lead.seat !== best[0]?.index) {
    return "";
  }
  const tie = level.length ? `The best were tied in ${listedNames(level)}; the tie-break, ${lead.by}, decided` : "The highest score won";
  return `${beginning} ${tie}: ${compared(end, lead.values)}.`;
}

/**
 * @param {Frame} frame
 * @returns {number[]} living bots by slot
 */
function botCounts(frame) {
  const bots = frame.players.map(() => 0);
  frame.bots.forEach(({ owner }) => { bots[owner] += 1; });
  return bots;
}

/**
 * Count the bots that left their tile, and those with an enemy within reach in the fight of a turn.
 * @param {Frame} before
 * @param {Frame} after
 * @param {Memo} memo
 * @returns {{moves: number[], fights: number[]}} by slot
 */
function actionsOf(before, after, memo) {
  const [moves, fights] = [after.players.map(() => 0), after.players.map(() => 0)];
  const then = byId(memo, before);
  // New bots were built after the fight.
  const old = after.bots.filter(({ id }) => then.has(id));
  for (const { id, row, col, owner } of old) {
    const from = then.get(id);
    moves[owner] += from?.row !== row || from.col !== col ? 1 : 0;
  }
  /** @type {Owned[]} */
  const met = [...old, ...after.dead];
  fighters(met, after.config).forEach(({ owner }) => { fights[owner] += 1; });
  return { moves, fights };
}

/**
 * @param {number} place
 * @param {number} size
 * @returns {number} where it is on a torus
 */
function wrapped(place, size) {
  return ((place % size) + size) % size;
}

/**
 * Return how often the board is repeated in the picture: the torus fills it.
 * @param {Scene} scene
 * @returns {number[][]} offsets in boards to the right and down
 */
function copiesInSight({ camera, frame, mini }) {
  if (mini) {
    return [[0, 0]];
  }
  const { rows, cols } = frame.config;
  const across = copiesAlong(camera.x, camera.width / camera.scale, cols);
  return copiesAlong(camera.y, camera.height / camera.scale, rows).flatMap((down) => across.map((right) => [right, down]));
}

/**
 * @param {number} from start of the picture
 * @param {number} length its length
 * @param {number} size the board's
 * @returns {number[]}
 */
function copiesAlong(from, length, size) {
  return [-1, 0, 1].filter((copy) => copy * size < from + length && (copy + 1) * size > from);
}

/**
 * @param {Camera} camera
 * @param {number} right
 * @param {number} down
 * @returns {Camera} the same view of a moved board
 */
function movedCamera(camera, right, down) {
  return Object.assign(new Camera(), camera, { x: camera.x - right, y: camera.y - down });
}

/** @param {Scene} scene */
function drawBoard(scene) {
  const { frame, camera } = scene;
  const { rows, cols } = frame.config;
  if (camera.scale >= 5 && !scene.mini) {
    grid(scene, cols, rows, LINES);
  }
  const inPicture = pictureOf(scene);
  drawWalls(scene, inPicture);
  const inSight = sightOf(scene);
  /** @type {Visible} */
  const visible = (tile) => inPicture(tile) && inSight(tile);
  frame.nodes.filter(visible).forEach((node) => drawNode(scene, node));
  frame.cores.filter(visible).forEach((core) => drawCore(scene, core));
  drawTrails(scene, visible);
  frame.bots.filter(visible).forEach((bot) => drawBot(scene, bot));
  drawDeaths(scene, visible);
  drawFog(scene, inSight);
}

/**
 * Return a function that says whether a thing is in the picture.
 * @param {Scene} scene
 * @returns {Visible}
 */
function pictureOf({ camera }) {
  const [right, bottom] = [camera.x + camera.width / camera.scale, camera.y + camera.height / camera.scale];
  return ({ row, col }) => col > camera.x - REACH && col < right + REACH && row > camera.y - REACH && row < bottom + REACH;
}

/**
 * Draw the edge of the board, and fade what is beyond it.
 * @param {Scene} scene
 */
function drawEdge({ ctx, frame, camera }) {
  const { rows, cols } = frame.config;
  ctx.fillStyle = VEIL;
  ctx.beginPath();
  ctx.rect(camera.x, camera.y, camera.width / camera.scale, camera.height / camera.scale);
  ctx.rect(0, 0, cols, rows);
  ctx.fill("evenodd");
  ctx.strokeStyle = EDGE;
  ctx.lineWidth = 1.5 / camera.scale;
  ctx.strokeRect(0, 0, cols, rows);
}

/**
 * @param {Scene} scene
 * @param {Bot} bot
 */
function drawBot(scene, { row, col, owner }) {
  const { ctx, camera } = scene;
  const [x, y, r] = [col + 0.5, row + 0.5, unitOf(scene)];
  // A rim in the background colour separates bots larger than their tiles.
  ctx.fillStyle = GROUND;
  circle(ctx, x, y, r + 1 / camera.scale);
  ctx.fill();
  disc(scene, owner, x, y, r);
}

/**
 * @param {Scene} scene
 * @returns {number} a bot's radius in tiles
 */
function unitOf({ camera, mini }) {
  return mini ? MINI_UNIT / camera.scale : Math.min(Math.max(LEAST_UNIT, UNIT / camera.scale), LARGEST_UNIT);
}

/**
 * @param {Frame} frame
 * @returns {Set<number>}
 */
function wallsOf({ walls, config }) {
  return new Set(walls.map(([row, col]) => row * config.cols + col));
}

/**
 * @param {Replay} replay
 * @param {Frame} after
 * @returns {string}
 */
function fallen(replay, after) {
  const losses = replay.seats
    .map(({ name, index }) => ({ name, count: after.dead.filter(({ owner }) => owner === index).length }))
    .filter(({ count }) => count > 0);
  return losses.map(({ name, count }) => `${name} lost ${countOf(count, "bot")}`).join(", ");
}

/**
 * @param {Scene} scene
 * @param {number} row
 * @param {number} col
 * @returns {string[]}
 */
function thingsAt({ frame, replay, memo }, row, col) {
  const here = (/** @type {Tile} */ thing) => thing.row === row && thing.col === col;
  const ownerName = (/** @type {number} */ owner) => `${letterOf(owner)} ${replay.name(owner)}`;
  return [
    ...(memo.walls.has(row * frame.config.cols + col) ? ["wall"] : []),
    ...frame.bots.filter(here).map(({ owner, id }) => `bot ${id} of ${ownerName(owner)}`),
    ...frame.cores.filter(here).map(({ owner, active }) => `${active ? "core" : "razed core"} of ${ownerName(owner)}`),
    ...frame.nodes.filter(here).map(({ energy }) => (energy ? "energy" : "empty node")),
    ...frame.dead.filter(here).map(({ owner }) => `a bot of ${ownerName(owner)} died`),
  ];
}

/**
 * Return a function that says whether the player with the focus sees a thing.
 * @param {Scene} scene
 * @returns {Visible}
 */
function sightOf({ frame, focus, memo }) {
  if (focus < 0) {
    return () => true;
  }
  const entry = memo.sight.get(frame);
  const tiles = entry?.focus === focus ? entry.tiles : tilesInSight(frame, focus);
  memo.sight.set(frame, { focus, tiles });
  return ({ row, col }) => tiles[row * frame.config.cols + col] === 1;
}

/**
 * @param {Frame} frame
 * @param {number} slot
 * @returns {Uint8Array} 1 for every visible tile
 */
function tilesInSight({ bots, config }, slot) {
  const { rows, cols, vision_radius2: radius2 } = config;
  const tiles = new Uint8Array(rows * cols);
  const around = circleOf(radius2);
  for (const bot of bots) {
    if (bot.owner === slot) {
      for (const [down, across] of around) {
        tiles[wrapped(bot.row + down, rows) * cols + wrapped(bot.col + across, cols)] = 1;
      }
    }
  }
  return tiles;
}

/**
 * @param {number} radius2
 * @returns {number[][]} offsets down and across within it
 */
function circleOf(radius2) {
  const most = Math.floor(Math.sqrt(radius2));
  const steps = Array.from({ length: 2 * most + 1 }, (_, index) => index - most);
  return steps.flatMap((down) => steps.map((across) => [down, across]))
    .filter(([down, across]) => down * down + across * across <= radius2);
}

/**
 * @param {Scene} scene
 * @param {Visible} visible
 */
function drawWalls(scene, visible) {
  const { ctx, frame, mini } = scene;
  ctx.fillStyle = mini ? FAR_WALL : WALL;
  for (const [row, col] of frame.walls) {
    if (visible({ row, col })) {
      // Slightly more than a tile, to avoid seams.
      ctx.fillRect(col, row, 1.04, 1.04);
    }
  }
}

/**
 * @param {Scene} scene
 * @param {Node} node
 */
function drawNode({ ctx, time, camera }, { row, col, energy }) {
  const beat = energy && time ? 0.06 * Math.sin(time / 320 + row + col) : 0;
  const r = (energy ? 0.46 : 0.3) + beat;
  const [x, y] = [col + 0.5, row + 0.5];
  ctx.beginPath();
  ctx.moveTo(x, y - r);
  ctx.lineTo(x + r, y);
  ctx.lineTo(x, y + r);
  ctx.lineTo(x - r, y);
  ctx.closePath();
  ctx.fillStyle = ENERGY;
  ctx.strokeStyle = ENERGY;
  ctx.globalAlpha = energy ? 0.9 + beat : 0.5;
  ctx.lineWidth = Math.max(0.08, 0.8 / camera.scale);
  ctx[energy ? "fill" : "stroke"]();
  ctx.globalAlpha = 1;
}

/**
 * @param {Scene} scene
 * @param {Core} core
 */
function drawCore(scene, { row, col, owner, active }) {
  const { ctx, camera } = scene;
  const [x, y] = [col + 0.5, row + 0.5];
  const ink = colour(scene, owner);
  const unit = scene.mini ? MINI_CORE / camera.scale : 1;
  ctx.globalAlpha = active ? 0.5 : 0.2;
  ctx.fillStyle = ink;
  circle(ctx, x, y, 0.85 * unit);
  ctx.fill();
  ctx.globalAlpha = active ? 1 : 0.6;
  ctx.strokeStyle = ink;
  ctx.lineWidth = 0.16 * unit;
  circle(ctx, x, y, 1.15 * unit);
  ctx.stroke();
  if (!active) {
    ctx.globalAlpha = 1;
    ctx.strokeStyle = DEATH;
    cross(ctx, x, y, 0.8 * unit, 0.22 * unit);
  } else if (camera.scale >= 6 && !scene.mini) {
    write(scene, letterOf(owner), x, y, Math.max(9, camera.scale * 0.95), FLASH);
  }
  ctx.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
function circle(ctx, x, y, r) {
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 7);
}

/**
 * Draw where bots were in the previous turns.
 * @param {Scene} scene
 * @param {Visible} visible
 */
function drawTrails(scene, visible) {
  const { ctx, frame, replay, turn, memo } = scene;
  const way = [frame];
  for (let back = 1; back <= Math.min(TRAIL, turn); back++) {
    way.push(replay.frame(turn - back));
  }
  ctx.lineCap = "round";
  for (let back = 1; back < way.length; back++) {
    const [then, since] = [byId(memo, way[back]), byId(memo, way[back - 1])];
    for (const { id, owner } of frame.bots.filter(visible)) {
      const [from, to] = [then.get(id), since.get(id)];
      if (from && to && Math.abs(from.row - to.row) + Math.abs(from.col - to.col) === 1) {
        ctx.globalAlpha = (0.55 / back) * strength(scene, owner);
        ctx.strokeStyle = colour(scene, owner);
        ctx.lineWidth = 0.34 - 0.06 * back;
        ctx.beginPath();
        ctx.moveTo(from.col + 0.5, from.row + 0.5);
        ctx.lineTo(to.col + 0.5, to.row + 0.5);
        ctx.stroke();
      }
    }
  }
  ctx.globalAlpha = 1;
}

/**
 * @param {Memo} memo
 * @param {Frame} frame
 * @returns {Map<number, Bot>}
 */
function byId(memo, frame) {
  const bots = memo.ids.get(frame) ?? new Map(frame.bots.map((bot) => [bot.id, bot]));
  memo.ids.set(frame, bots);
  return bots;
}

/**
 * Draw a flash and a cross where bots died in this turn.
 * @param {Scene} scene
 * @param {Visible} visible
 */
function drawDeaths(scene, visible) {
  const { ctx, frame } = scene;
  const r = unitOf(scene) * 0.8;
  for (const { row, col, owner } of frame.dead.filter(visible)) {
    const [x, y] = [col + 0.5, row + 0.5];
    flash(ctx, x, y);
    ctx.globalAlpha = strength(scene, owner);
    ctx.strokeStyle = DEATH;
    cross(ctx, x, y, r, r * 0.45);
  }
  ctx.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 */
function flash(ctx, x, y) {
  const glow = ctx.createRadialGradient(x, y, 0.1, x, y, 1.5);
  glow.addColorStop(0, "#ffffffcc");
  glow.addColorStop(1, "#ffffff00");
  ctx.globalAlpha = 1;
  ctx.fillStyle = glow;
  circle(ctx, x, y, 1.5);
  ctx.fill();
}

/**
 * Darken what is not visible.
 * @param {Scene} scene
 * @param {Visible} visible
 */
function drawFog(scene, visible) {
  const { ctx, frame, focus } = scene;
  if (focus < 0) {
    return;
  }
  const { left, top, right, bottom } = cellsInSight(scene, frame.config.cols, frame.config.rows);
  ctx.fillStyle = "#000000b8";
  ctx.beginPath();
  for (let row = top; row < bottom; row++) {
    for (let col = left; col < right; col++) {
      if (!visible({ row, col })) {
        ctx.rect(col, row, 1, 1);
      }
    }
  }
  ctx.fill();
}
