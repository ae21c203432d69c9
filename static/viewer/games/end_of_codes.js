/** End of Codes: creatures as circles on numbered cells; (0, 0) is bottom left. */

import { contextOf } from "../canvas.js";
import { axes, cellsInSight, colour, cross, disc, grid, inks, ringSpot, strength } from "../drawing.js";
import { atStart, atTurn, faulty, inTurn, reasonOf } from "../ending.js";
import { fields, listed } from "../json.js";
import { letterOf, pathOf } from "../palette.js";
import { countOf } from "../../shared/counts.js";
import { doing, listedNames } from "../words.js";

/**
 * @typedef {{creatureid: number, userid: number, x: number, y: number, hp: number}} Creature
 * @typedef {{
 *   round: number, W: number, H: number, MAX_HP: number, creatures: Creature[],
 *   players: {userid: number, died: number | null}[],
 * }} Frame
 * @typedef {{cells: Map<number, Creature>, ids: Map<unknown, Creature>}} Index living creatures by
 *   cell, and all by id
 * @typedef {{ctx: CanvasRenderingContext2D, image: ImageData, words: Uint32Array}} Layer
 * @typedef {{
 *   index: WeakMap<Frame, Index>, deaths: Map<number, Creature[]>, stamps: Map<number, Uint32Array>, layers: Map<boolean, Layer>,
 * }} Memo
 * @typedef {import("./game.js").Replay<Frame>} Replay
 * @typedef {import("./game.js").Scene<Frame, Memo>} Scene
 */

/** @type {Record<string, [number, number]>} right and down */
const STEPS = { north: [0, -1], east: [1, 0], south: [0, 1], west: [-1, 0] };

/** Minimum cell size in pixels for letters and hit-point rings. */
const CLOSE = 20;

/** Minimum cell size in pixels for the grid, attacks and deaths. */
const LINED = 5;

/** Minimum cell size in pixels for recognisable marks. */
const SHAPED = 5;

/** Rounds over which the cross of a death fades. */
const FADING = 3;

/** Levels of hit points distinguished by colour strength. */
const LEVELS = 4;

/** @type {import("./game.js").Game<Frame, Memo>} */
export const END_OF_CODES = {
  legend: [
    "A creature is a disc with a letter, or a mark where it is small; the weaker it is, the shorter its ring or the paler its mark.",
    "A short line is an attack; a red cross, which fades, is a death.",
    "(0, 0) is at the bottom left.",
  ],
  measures: [
    { name: "creatures", of: (frame, replay) => summed(frame, replay, () => 1) },
    { name: "hit points", of: (frame, replay) => summed(frame, replay, ({ hp }) => hp) },
  ],
  numbered: true,

  extent: ({ W, H }) => ({ width: W, height: H }),

  prepare: () => ({ index: new WeakMap(), stamps: new Map(), layers: new Map(), deaths: new Map() }),

  draw(scene) {
    const { ctx, frame, camera } = scene;
    ctx.fillStyle = inks(scene).ground;
    ctx.fillRect(0, 0, frame.W, frame.H);
    const lined = camera.scale >= LINED && !scene.mini;
    if (lined) {
      grid(scene, frame.W, frame.H, inks(scene).line);
    }
    ctx.strokeStyle = inks(scene).muted;
    ctx.lineWidth = 1.5 / camera.scale;
    ctx.strokeRect(0, 0, frame.W, frame.H);
    if (lined && !scene.replay.people) {
      drawDeaths(scene);
    }
    drawCreatures(scene);
    if (lined) {
      drawAttacks(scene);
    }
    axes(scene, frame.W, frame.H, true);
    ringSpot(scene);
  },

  spotAt(scene, x, y) {
    const { frame, replay } = scene;
    const [column, row] = [Math.floor(x), frame.H - 1 - Math.floor(y)];
    if (column < 0 || row < 0 || column >= frame.W || row >= frame.H) {
      return null;
    }
    const creature = indexed(scene.memo, frame).cells.get(row * frame.W + column);
    const spot = { key: `${column},${row}`, x: column + 0.5, y: frame.H - row - 0.5, r: 0.46 };
    if (!creature) {
      return { ...spot, text: `(${column}, ${row}) empty` };
    }
    const seat = replay.seat(creature.userid);
    const person = replay.people?.[String(creature.userid)];
    const bubble = [
      `${letterOf(seat)} ${replay.name(creature.userid)}`,
      ...(person?.country ? [person.country] : []),
      `id ${creature.creatureid}`,
      countOf(creature.hp, "hit point"),
      `(${creature.x}, ${creature.y})`,
    ];
    return { ...spot, text: bubble.join(", "), bubble, person };
  },

  happened(moment) {
    const { replay, before, after, actions } = moment;
    const losses = differences(before, after, replay);
    return replay.seats
      .filter(({ index }) => before.players[index].died === null || losses[index].died)
      .map(({ key, index }) => {
        const intents = intentsOf(actions[key]);
        const moves = intents.filter(({ action }) => action === "move").length;
        const attacks = intents.filter(({ action }) => action === "attack").length;
        const { died, hits } = losses[index];
        const done = [moves ? countOf(moves, "move") : "", attacks ? countOf(attacks, "attack") : ""].filter(Boolean);
        const parts = [done.join(", ") || "idle"];
        parts.push(hits ? `lost ${countOf(hits, "hit point")}` : "", died ? `${died} died` : "");
        // A row has no room for the hit points of the dead too.
        const short = died ? [`${died} died`, ...done] : [parts[0], hits ? `lost ${hits}` : ""];
        return { seat: index, text: parts.filter(Boolean).join("; "), short: short.filter(Boolean).join("; ") };
      });
  },

  events({ replay, before, after }) {
    const fallen = differences(before, after, replay)
      .map(({ died }, index) => ({ died, name: replay.seats[index].name }))
      .filter(({ died }) => died > 0);
    const out = replay.seats.filter(
      ({ index }) => after.players[index].died !== null && before.players[index].died === null,
    );
    const words = fallen.slice(0, 4).map(({ died, name }) => `${name} lost ${countOf(died, "creature")}`);
    const rest = fallen.length > 4 ? [`${fallen.length - 4} more lost some`] : [];
    const exits = out.map(({ name }) => `${doing(name, "is", "are")} out`);
    return fallen.length || out.length
      ? [{ kind: "death", text: [...words, ...rest, ...exits].join(", "), ...shortOf(exits, fallen, before) }]
      : [];
  },

  ending(end) {
    const words = ENDINGS[end.reason]?.(end);
    return words ? `${words} ${faulty(end, "", "was thrown out")}`.trim() : "";
  },

  describe(frame, replay) {
    const living = summed(frame, replay, () => 1);
    const words = replay.seats.map(({ name, index }) => `${doing(name, "has", "have")} ${countOf(living[index], "creature")}`);
    return `Map of ${frame.W} by ${frame.H} cells after ${countOf(frame.round, "round")}. ${words.join(", ")}.`;
  },
};

/** @type {Record<string, (end: import("../ending.js").End<Frame>) => string>} */
const ENDINGS = {
  last_standing: ({ best, replay, frame, turn }) => {
    const left = summed(frame, replay, () => 1)[best[0].index];
    const fallen = fallenIn(frame, replay);
    const last = fallen ? `${fallen} lost the last creature, and ` : "";
    return `${atTurn(turn)} ${last}${best[0].name} alone had creatures left: ${left}.`;
  },
  all_dead: ({ frame, replay, turn }) => `The last creatures, of ${fallenIn(frame, replay)}, died together ${inTurn(turn)}.`,
  round_cap: ({ best }) => {
    const names = listedNames(best.map(({ name }) => name));
    return `The last round was played, and ${names} still had creatures and share the first rank, however many they had.`;
  },
  no_players: (end) => `${atStart(reasonOf(end))}.`,
};

/**
 * Return the names of those who lost their last creature in the round of a frame.
 * @param {Frame} frame
 * @param {Replay} replay
 * @returns {string} "" for nobody
 */
function fallenIn({ players, round }, replay) {
  return listedNames(players.filter(({ died }) => died === round).map(({ userid }) => replay.name(userid)));
}

/**
 * Return the text and weight of deaths on the line of turns.
 * @param {string[]} exits who is out
 * @param {{died: number}[]} fallen
 * @param {Frame} before
 * @returns {{short?: string, weight: number}}
 */
function shortOf(exits, fallen, before) {
  const died = fallen.reduce((sum, each) => sum + each.died, 0);
  const living = before.creatures.filter(({ hp }) => hp > 0).length;
  return exits.length ? { short: exits.join(", "), weight: 70 } : { weight: (30 * died) / Math.max(1, living) };
}

/**
 * Return the orders to a player's creatures.
 * @param {unknown} action
 * @returns {Record<string, unknown>[]}
 */
function intentsOf(action) {
  return listed(fields(action).intent).map(fields);
}

/**
 * Sum up a number over the living creatures of each player.
 * @param {Frame} frame
 * @param {Replay} replay
 * @param {(creature: Creature) => number} measure
 * @returns {number[]}
 */
function summed(frame, replay, measure) {
  const sums = replay.seats.map(() => 0);
  for (const creature of frame.creatures) {
    if (creature.hp > 0) {
      sums[replay.seat(creature.userid)] += measure(creature);
    }
  }
  return sums;
}

/**
 * Count the deaths and lost hit points of a round, by player.
 * @param {Frame} before
 * @param {Frame} after
 * @param {Replay} replay
 * @returns {{died: number, hits: number}[]}
 */
function differences(before, after, replay) {
  const losses = replay.seats.map(() => ({ died: 0, hits: 0 }));
  after.creatures.forEach((creature, index) => {
    const old = before.creatures[index];
    if (creature !== old && creature.hp < old.hp) {
      const sum = losses[replay.seat(creature.userid)];
      sum.hits += old.hp - Math.max(creature.hp, 0);
      sum.died += old.hp > 0 && creature.hp <= 0 ? 1 : 0;
    }
  });
  return losses;
}

/**
 * Return the living creatures of a frame by cell, and all creatures by id.
 * @param {Memo} memo
 * @param {Frame} frame
 * @returns {Index}
 */
function indexed(memo, frame) {
  const index = memo.index.get(frame);
  if (index) {
    return index;
  }
  const living = frame.creatures.filter(({ hp }) => hp > 0);
  const lookup = {
    cells: new Map(living.map((creature) => [creature.y * frame.W + creature.x, creature])),
    ids: new Map(frame.creatures.map((creature) => [creature.creatureid, creature])),
  };
  memo.index.set(frame, lookup);
  return lookup;
}

/** @param {Scene} scene */
function drawCreatures(scene) {
  const { frame, camera } = scene;
  const view = cellsInSight(scene, frame.W, frame.H);
  const living = frame.creatures.filter(({ hp, x, y }) => {
    const top = frame.H - 1 - y;
    return hp > 0 && x >= view.left && x < view.right && top >= view.top && top < view.bottom;
  });
  if (camera.scale >= CLOSE && !scene.mini) {
    drawLarge(scene, living);
  } else {
    drawSmall(scene, living);
  }
}

/**
 * @param {Scene} scene
 * @param {Creature[]} living
 */
function drawLarge(scene, living) {
  const { ctx, frame, replay } = scene;
  for (const { userid, x, y, hp } of living) {
    const seat = replay.seat(userid);
    disc(scene, seat, x + 0.5, frame.H - y - 0.5, 0.4);
    ctx.strokeStyle = inks(scene).ink;
    ctx.lineWidth = 0.06;
    ctx.globalAlpha = 0.8 * strength(scene, seat);
    ctx.beginPath();
    ctx.arc(x + 0.5, frame.H - y - 0.5, 0.44, -Math.PI / 2, (2 * hp / frame.MAX_HP - 0.5) * Math.PI);
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

/**
 * Draw creatures too small for letters, pixel by pixel, which is fast for thousands of them.
 * @param {Scene} scene
 * @param {Creature[]} living
 */
function drawSmall(scene, living) {
  const { ctx, frame, replay, camera, ratio } = scene;
  const layer = layerOf(scene);
  const scale = camera.scale * ratio;
  const pixels = Math.max(1, Math.round(scale));
  const [left, top] = [Math.round(camera.x * scale), Math.round(camera.y * scale)];
  layer.words.fill(0);
  for (const { userid, x, y, hp } of living) {
    const level = Math.min(LEVELS - 1, Math.floor((hp / frame.MAX_HP) * LEVELS));
    const stamp = stampOf(scene, replay.seat(userid), level, pixels);
    press(layer, stamp, pixels, Math.round(x * scale) - left, Math.round((frame.H - 1 - y) * scale) - top);
  }
  layer.ctx.putImageData(layer.image, 0, 0);
  ctx.save();
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.drawImage(layer.ctx.canvas, 0, 0);
  ctx.restore();
}

/**
 * Return the pixel layer for small marks, at the resolution of the picture.
 * @param {Scene} scene
 * @returns {Layer}
 */
function layerOf({ ctx: { canvas: { width, height } }, memo, mini }) {
  const candidate = memo.layers.get(mini);
  if (candidate?.image.width === width && candidate.image.height === height) {
    return candidate;
  }
  const ctx = hidden(width, height);
  const image = ctx.createImageData(width, height);
  const layer = { ctx, image, words: new Uint32Array(image.data.buffer) };
  memo.layers.set(mini, layer);
  return layer;
}

/**
 * Copy a small mark into the pixels.
 * @param {Layer} layer
 * @param {Uint32Array} stamp
 * @param {number} pixels its width
 * @param {number} left
 * @param {number} top
 */
function press({ image: { width, height }, words }, stamp, pixels, left, top) {
  const right = Math.min(pixels, width - left);
  const bottom = Math.min(pixels, height - top);
  for (let y = Math.max(0, -top); y < bottom; y++) {
    for (let x = Math.max(0, -left); x < right; x++) {
      words[(top + y) * width + left + x] = stamp[y * pixels + x];
    }
  }
}

/**
 * Return the pixels of a small mark.
 * @param {Scene} scene
 * @param {number} seat
 * @param {number} level of hit points, from 0
 * @param {number} pixels its width
 * @returns {Uint32Array}
 */
function stampOf(scene, seat, level, pixels) {
  const { stamps } = scene.memo;
  const faded = strength(scene, seat) < 1 ? 1 : 0;
  const name = ((((seat + 1) * LEVELS + level) * 2 + faded) * 2 + (scene.dark ? 1 : 0)) * 256 + Math.min(pixels, 255);
  const mark = stamps.get(name);
  if (mark) {
    return mark;
  }
  const alpha = (0.55 + (0.45 * level) / (LEVELS - 1)) * strength(scene, seat);
  const stamp = smallMark(seat, colour(scene, seat), alpha, pixels);
  stamps.set(name, stamp);
  return stamp;
}

/**
 * @param {number} seat
 * @param {string} ink
 * @param {number} alpha
 * @param {number} pixels
 * @returns {Uint32Array}
 */
function smallMark(seat, ink, alpha, pixels) {
  const ctx = hidden(pixels, pixels);
  ctx.globalAlpha = alpha;
  ctx.fillStyle = ink;
  ctx.translate(pixels / 2, pixels / 2);
  const r = Math.max(0.6, pixels * 0.44);
  ctx.scale(r, r);
  ctx.fill(pathOf(pixels < SHAPED ? 0 : seat));
  return new Uint32Array(ctx.getImageData(0, 0, pixels, pixels).data.buffer);
}

/**
 * @param {number} width
 * @param {number} height
 * @returns {CanvasRenderingContext2D}
 */
function hidden(width, height) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  return contextOf(canvas, { willReadFrequently: true });
}

/**
 * Draw crosses where creatures died, fading over the next rounds.
 * @param {Scene} scene
 */
function drawDeaths(scene) {
  const { ctx, frame, turn, camera } = scene;
  ctx.strokeStyle = inks(scene).death;
  for (let back = Math.min(FADING, turn) - 1; back >= 0; back--) {
    ctx.globalAlpha = 1 - back / FADING;
    for (const { x, y } of deathsOf(scene, turn - back)) {
      cross(ctx, x + 0.5, frame.H - y - 0.5, 0.26, Math.max(0.1, 1.5 / camera.scale));
    }
  }
  ctx.globalAlpha = 1;
}

/**
 * Return the creatures that died in a round; cached, as computing an old frame takes long.
 * @param {Scene} scene
 * @param {number} turn
 * @returns {Creature[]}
 */
function deathsOf({ replay, memo: { deaths } }, turn) {
  const list = deaths.get(turn);
  if (list) {
    return list;
  }
  const [before, after] = [replay.frame(turn - 1), replay.frame(turn)];
  const died = after.creatures.filter((creature, index) => {
    const old = before.creatures[index];
    return creature !== old && creature.hp <= 0 && old.hp > 0;
  });
  deaths.set(turn, died);
  return died;
}

/** @param {Scene} scene */
function drawAttacks(scene) {
  const { ctx, frame, replay, turn, memo, camera } = scene;
  if (turn === 0) {
    return;
  }
  const { ids } = indexed(memo, replay.frame(turn - 1));
  ctx.strokeStyle = inks(scene).ink;
  ctx.lineWidth = Math.max(0.1, 1.5 / camera.scale);
  ctx.lineCap = "round";
  ctx.beginPath();
  for (const orders of Object.values(replay.actions(turn))) {
    for (const { creatureid, action, direction } of intentsOf(orders)) {
      const creature = ids.get(creatureid);
      const step = STEPS[String(direction)];
      if (action === "attack" && creature && step) {
        const [x, y] = [creature.x + 0.5, frame.H - creature.y - 0.5];
        ctx.moveTo(x + step[0] * 0.36, y + step[1] * 0.36);
        ctx.lineTo(x + step[0] * 0.64, y + step[1] * 0.64);
      }
    }
  }
  ctx.stroke();
}
