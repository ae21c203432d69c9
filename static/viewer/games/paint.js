/** Paint: squares, avatars, shots in flight, obstacles. */

import { axes, colour, disc, grid, inks, mark, ringSpot, strength } from "../drawing.js";
import { atStart, comparedThings, faulty, inTurn, reasonOf } from "../ending.js";
import { fields, isPair } from "../json.js";
import { letterOf } from "../palette.js";
import { countOf } from "../../shared/counts.js";
import { doing, listedNames } from "../words.js";

/**
 * @typedef {{
 *   width: number, height: number, colors: (string | null)[][], obstacles?: [number, number][],
 *   player_positions: Record<string, [number, number]>, turns_left: number,
 * }} Frame places are rows and columns
 * @typedef {import("./game.js").Replay<Frame>} Replay
 * @typedef {import("./game.js").Scene<Frame>} Scene
 */

/** @type {Record<string, string>} by row and column step */
export const DIRECTIONS = { "-1,0": "up", "1,0": "down", "0,-1": "left", "0,1": "right", "-1,-1": "up-left",
  "-1,1": "up-right", "1,-1": "down-left", "1,1": "down-right" };

/** Squares taken from others in one turn from which the scrubber marks it. */
const MANY = 3;

/** @type {import("./game.js").Game<Frame>} */
export const PAINT = {
  legend: [
    "A square has the colour and the mark of its owner; grey squares are obstacles.",
    "A disc with a letter is where a player stands.",
    "A line with a dot at its end is a shot: it has painted up to there.",
  ],
  measures: [{ name: "squares", of: owned }],
  total: ({ width, height, obstacles = [] }) => width * height - obstacles.length,

  extent: ({ width, height }) => ({ width, height }),

  draw(scene) {
    const { ctx, frame } = scene;
    ctx.fillStyle = inks(scene).ground;
    ctx.fillRect(0, 0, frame.width, frame.height);
    drawSquares(scene);
    drawObstacles(scene);
    if (!scene.mini) {
      grid(scene, frame.width, frame.height, inks(scene).line);
      drawShots(scene);
    }
    drawAvatars(scene);
    axes(scene, frame.width, frame.height);
    ringSpot(scene);
  },

  spotAt(scene, x, y) {
    const { frame, replay } = scene;
    const [row, col] = [Math.floor(y), Math.floor(x)];
    if (row < 0 || col < 0 || row >= frame.height || col >= frame.width) {
      return null;
    }
    const parts = [];
    const owner = frame.colors[row][col];
    if (isObstacle(frame, row, col)) {
      parts.push("obstacle");
    } else {
      parts.push(owner === null ? "unowned" : `owned by ${tagged(replay, owner)}`);
    }
    for (const [player, [at, across]] of Object.entries(frame.player_positions)) {
      if (at === row && across === col) {
        parts.push(`${tagged(replay, player)} is here`);
      }
    }
    return { key: `${row},${col}`, text: `[${row}, ${col}] ${parts.join(", ")}`, x: col + 0.5, y: row + 0.5, r: 0.44 };
  },

  happened({ replay, before, after, actions }) {
    const gains = gainsOf(replay, before, after);
    return replay.seats.map(({ key, index }) => {
      const { type, direction } = fields(actions[key]);
      const towards = DIRECTIONS[String(direction)];
      const did = towards ? `${type === "shoot" ? "shot" : "walked"} ${towards}` : "stood still";
      const { fresh, stolen } = gains[index];
      const painted = fresh + stolen ? `, painted ${countOf(fresh + stolen, "square")}` : "";
      const text = `${did}${painted}${stolen ? `, ${stolen} taken from others` : ""}`;
      const gained = fresh + stolen ? `, +${fresh + stolen}` : "";
      return { seat: index, text, short: `${did}${gained}${stolen ? ` (${stolen} taken)` : ""}` };
    });
  },

  events({ replay, before, after }) {
    return gainsOf(replay, before, after)
      .map(({ stolen }, index) => ({
        kind: /** @type {const} */ ("capture"),
        stolen,
        text: `${replay.seats[index].name} took ${countOf(stolen, "square")}`,
        weight: (100 * stolen) / (after.width * after.height),
      }))
      .filter(({ stolen }) => stolen >= MANY);
  },

  ending(end) {
    const { reason, turn, scores, best } = end;
    if (reason === "not_enough_ready") {
      return `${atStart(reasonOf(end))}, so no turn was played. ${faulty(end, "", "was not ready")}`.trim();
    }
    if (reason !== "turns_over") {
      return "";
    }
    const names = listedNames(best.map(({ name }) => name));
    const tie = `${names} own ${countOf(scores[best[0]?.index ?? 0], "square")} each, and there is no tie-break`;
    return `The last turn was played, ${inTurn(turn).slice(3)}: ${best.length > 1 ? tie : comparedThings(end, scores, "square")}.`;
  },

  describe(frame, replay) {
    const squares = owned(frame, replay);
    const words = replay.seats.map(({ name, index }) => `${doing(name, "owns")} ${countOf(squares[index], "square")}`);
    return `Board of ${frame.width} by ${frame.height} squares, ${countOf(frame.turns_left, "turn")} left. ${words.join(", ")}.`;
  },
};

/**
 * @param {Frame} frame
 * @param {Replay} replay
 * @returns {number[]}
 */
function owned(frame, replay) {
  const squares = replay.seats.map(() => 0);
  for (const row of frame.colors) {
    for (const owner of row) {
      if (owner !== null) {
        squares[replay.seat(owner)] += 1;
      }
    }
  }
  return squares;
}

/**
 * Count what each player painted in a turn: free squares, and other players' squares.
 * @param {Replay} replay
 * @param {Frame} before
 * @param {Frame} after
 * @returns {{fresh: number, stolen: number}[]}
 */
function gainsOf(replay, before, after) {
  const gains = replay.seats.map(() => ({ fresh: 0, stolen: 0 }));
  after.colors.forEach((row, at) => {
    if (row !== before.colors[at]) {
      row.forEach((owner, across) => {
        const old = before.colors[at][across];
        const gain = owner !== null && owner !== old ? gains[replay.seat(owner)] : undefined;
        if (gain) {
          gain[old === null ? "fresh" : "stolen"] += 1;
        }
      });
    }
  });
  return gains;
}

/** @param {Scene} scene */
function drawSquares(scene) {
  const { ctx, frame, replay, camera } = scene;
  const marked = camera.scale >= 16 && !scene.mini;
  frame.colors.forEach((row, y) => row.forEach((owner, x) => {
    if (owner === null) {
      return;
    }
    const seat = replay.seat(owner);
    ctx.globalAlpha = 0.62 * strength(scene, seat);
    ctx.fillStyle = colour(scene, seat);
    ctx.fillRect(x, y, 1, 1);
    if (marked) {
      ctx.globalAlpha = 0.55 * strength(scene, seat);
      mark(scene, seat, x + 0.5, y + 0.5, 0.13, inks(scene).ground);
    }
  }));
  ctx.globalAlpha = 1;
}

/** @param {Scene} scene */
function drawObstacles(scene) {
  const { ctx, frame } = scene;
  for (const [row, col] of frame.obstacles ?? []) {
    ctx.fillStyle = inks(scene).stone;
    ctx.fillRect(col + 0.08, row + 0.08, 0.84, 0.84);
  }
}

/** @param {Scene} scene */
function drawShots(scene) {
  const { ctx, frame, replay, turn } = scene;
  const before = turn > 0 ? replay.frame(turn - 1) : frame;
  for (const [player, action] of Object.entries(replay.actions(turn))) {
    const place = frame.player_positions[player];
    const { type, direction } = fields(action);
    if (type === "shoot" && isPair(direction) && place) {
      const [row, col] = place;
      const [down, across] = direction;
      const reach = Math.max(0.75, flown(frame, before, player, place, direction));
      ctx.globalAlpha = strength(scene, replay.seat(player));
      streak(scene, replay.seat(player), [col + 0.5, row + 0.5], [across, down], reach);
      ctx.globalAlpha = 1;
    }
  }
}

/**
 * @param {Scene} scene
 * @param {number} seat
 * @param {number[]} from x and y
 * @param {number[]} direction
 * @param {number} reach in squares
 */
function streak(scene, seat, [x, y], [across, down], reach) {
  const { ctx } = scene;
  const [toX, toY] = [x + across * reach, y + down * reach];
  for (const { width, ink } of [{ width: 0.2, ink: inks(scene).ground }, { width: 0.1, ink: colour(scene, seat) }]) {
    ctx.strokeStyle = ink;
    ctx.lineWidth = width;
    ctx.lineCap = "round";
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(toX, toY);
    ctx.stroke();
  }
  ctx.fillStyle = inks(scene).ink;
  ctx.beginPath();
  ctx.arc(toX, toY, 0.14, 0, 7);
  ctx.fill();
}

/**
 * Return how far a shot visibly flew: to the last square that changed its colour.
 * @param {Frame} frame
 * @param {Frame} before
 * @param {string} player
 * @param {number[]} place
 * @param {number[]} direction
 * @returns {number}
 */
function flown(frame, before, player, [row, col], [down, across]) {
  let reach = 0;
  for (let step = 1; ; step++) {
    const [y, x] = [row + down * step, col + across * step];
    if (frame.colors[y]?.[x] !== player) {
      return reach;
    }
    if (before.colors[y][x] !== player) {
      reach = step;
    }
  }
}

/** @param {Scene} scene */
function drawAvatars(scene) {
  const { ctx, frame, replay } = scene;
  for (const [player, [row, col]] of Object.entries(frame.player_positions)) {
    const seat = replay.seat(player);
    ctx.globalAlpha = strength(scene, seat);
    ctx.fillStyle = inks(scene).ground;
    ctx.beginPath();
    ctx.arc(col + 0.5, row + 0.5, 0.48, 0, 7);
    ctx.fill();
    disc(scene, seat, col + 0.5, row + 0.5, 0.37);
  }
}

/**
 * @param {Frame} frame
 * @param {number} row
 * @param {number} col
 * @returns {boolean}
 */
function isObstacle(frame, row, col) {
  return (frame.obstacles ?? []).some(([at, across]) => at === row && across === col);
}

/**
 * @param {Replay} replay
 * @param {string} player
 * @returns {string}
 */
function tagged(replay, player) {
  return `${letterOf(replay.seat(player))} ${replay.name(player)}`;
}
