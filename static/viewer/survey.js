/** What a whole replay tells: its events, and everybody's numbers in every turn. */

import { faultOf, reasonOf, winnerOf } from "./words.js";

/** Milliseconds after which the page gets its turn. */
const SLICE = 12;

/** Slices after which it is told what is found so far. */
const REPORT = 12;

/**
 * @typedef {import("./games/game.js").Event} Event
 * @typedef {object} Survey
 * @property {Event[]} events in the order of turns
 * @property {{name: string, series: number[][]}[]} measures a series for every player
 * @property {number} turns how many are looked through
 */

/**
 * Look through a replay, a little at a time.
 * @param {import("./replay.js").Replay} replay
 * @param {import("./games/game.js").Game} game
 * @param {any} memo
 * @param {(survey: Survey) => boolean} report is shown what is found so far; false stops
 */
export async function survey(replay, game, memo, report) {
  const found = begin(replay, game);
  let since = performance.now();
  let slices = 0;
  let before = null;
  for (let turn = 0; turn <= replay.last; turn++) {
    const after = replay.frame(turn);
    look(found, game, { replay, turn, before, after, actions: replay.actions(turn), memo });
    before = after;
    if (performance.now() - since > SLICE) {
      slices += 1;
      if (slices % REPORT === 1 && !report(found)) {
        return;
      }
      await pause();
      since = performance.now();
    }
  }
  report(found);
}

/**
 * @param {import("./replay.js").Replay} replay
 * @param {import("./games/game.js").Game} game
 * @returns {Survey}
 */
function begin(replay, game) {
  const measures = game.measures.map(({ name }) => ({ name, series: replay.seats.map(() => []) }));
  return { events: [], measures, turns: -1 };
}

/**
 * Take in one turn.
 * @param {Survey} found
 * @param {import("./games/game.js").Game} game
 * @param {import("./games/game.js").Moment} moment
 */
function look(found, game, moment) {
  const { replay, turn, after } = moment;
  game.measures.forEach(({ of }, index) => {
    of(after, replay).forEach((value, seat) => found.measures[index].series[seat]?.push(value));
  });
  if (turn > 0) {
    found.events.push(...game.events(moment).map((event) => ({ ...event, turn })));
  }
  found.events.push(...faultsOf(replay, turn));
  if (turn === replay.last) {
    const text = `${winnerOf(replay)}. ${reasonOf(replay.document)}`;
    found.events.push({ kind: "end", turn, text });
  }
  found.turns = turn;
}

/**
 * Give the faults of a turn as events.
 * @param {import("./replay.js").Replay} replay
 * @param {number} turn
 * @returns {Event[]}
 */
function faultsOf(replay, turn) {
  return (replay.faults.get(turn) ?? []).map(({ player, kind, detail }) => ({
    turn, kind: "fault", text: `${replay.name(player)} ${faultOf(kind, detail)}`,
  }));
}

/** Let the page do what waits. */
function pause() {
  return new Promise((done) => { setTimeout(done, 0); });
}
