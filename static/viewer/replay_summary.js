/** Findings about a whole replay: its events, and every player's numbers in every turn. */

import { endingOf } from "./ending.js";
import { didBriefly, didWrong, partsOfDetail } from "./faults.js";
import { doing, winnerOf } from "./words.js";

/** Milliseconds after which the page gets control back. */
const SLICE = 12;

/** Slices after which findings are reported. */
const REPORT = 12;

/**
 * @typedef {import("./games/game.js").Event} Event
 * @typedef {object} Survey
 * @property {Event[]} events in the order of turns
 * @property {{name: string, series: number[][]}[]} measures a series for every player
 * @property {number} leader the last sole leader, -1 for none yet
 * @property {number} turns number of surveyed turns
 * @property {boolean} busy whether a survey is running
 */

/**
 * Survey a replay a little at a time, and continue from there when it has grown.
 * @param {import("./replay.js").Replay} replay
 * @param {import("./games/game.js").Game} game
 * @param {unknown} memo
 * @param {Survey} result previous findings, which are extended
 * @param {() => boolean} report called with new findings; false stops the survey
 */
export async function survey(replay, game, memo, result, report) {
  if (result.busy) {
    return;
  }
  result.busy = true;
  let since = performance.now();
  let slices = 0;
  let before = replay.frame(Math.max(0, result.turns));
  for (let turn = result.turns + 1; turn <= replay.last; turn++) {
    const after = replay.frame(turn);
    look(result, game, { replay, turn, before, after, actions: replay.actions(turn), memo });
    before = after;
    if (performance.now() - since > SLICE) {
      slices += 1;
      if (slices % REPORT === 1 && !report()) {
        return;
      }
      await pause();
      since = performance.now();
    }
  }
  result.busy = false;
  report();
}

/**
 * Return a survey without findings.
 * @param {import("./replay.js").Replay} replay
 * @param {import("./games/game.js").Game} game
 * @returns {Survey}
 */
export function newSurvey(replay, game) {
  const measures = game.measures.map(({ name }) => ({ name, series: replay.seats.map(() => []) }));
  return { events: [], measures, leader: -1, turns: -1, busy: false };
}

/**
 * Process one turn.
 * @param {Survey} result
 * @param {import("./games/game.js").Game} game
 * @param {import("./games/game.js").Moment} moment
 */
function look(result, game, moment) {
  const { replay, turn, after } = moment;
  game.measures.forEach(({ of }, index) => {
    of(after, replay, turn).forEach((value, seat) => result.measures[index].series[seat]?.push(value));
  });
  const isLast = turn === replay.last && replay.over;
  if (turn > 0) {
    // In a running match, the faults of bots asked about a turn become known only after it.
    result.events.push(...(replay.first === 0 ? faultsOf(replay, turn - 1) : []));
    result.events.push(...game.events(moment).map((event) => ({ ...event, turn })));
  }
  result.events.push(...leadOfTurn(result, replay, turn), ...(replay.first === 1 || isLast ? faultsOf(replay, turn) : []));
  if (isLast) {
    // The short text is visible all along, and must not reveal the winner.
    const text = `${winnerOf(replay)}. ${endingOf(replay, game)}`;
    result.events.push({ kind: "end", turn, text, short: "the end" });
  }
  result.turns = turn;
}

/**
 * Return an event if another player took the lead in a turn.
 * @param {Survey} result stores the leader
 * @param {import("./replay.js").Replay} replay
 * @param {number} turn
 * @returns {Event[]}
 */
function leadOfTurn(result, replay, turn) {
  const { name, series } = result.measures[0] ?? { name: "", series: [] };
  const values = series.map((numbers) => numbers[turn] ?? 0);
  const most = Math.max(...values);
  const ahead = values.indexOf(most);
  if (values.length < 2 || values.lastIndexOf(most) !== ahead || ahead === result.leader) {
    return [];
  }
  result.leader = ahead;
  const next = Math.max(...values.filter((_, seat) => seat !== ahead));
  const who = replay.seats[ahead].name;
  const text = `${doing(who, "takes")} the lead in ${name}, ${most} to ${next}`;
  return turn > 0 ? [{ turn, kind: "lead", text, short: doing(who, "leads") }] : [];
}

/**
 * Return the faults of a turn as events.
 * @param {import("./replay.js").Replay} replay
 * @param {number} turn
 * @returns {Event[]}
 */
function faultsOf(replay, turn) {
  return (replay.faults.get(turn) ?? []).map((fault) => {
    const { exception, how } = partsOfDetail(fault.detail);
    const name = replay.name(fault.player);
    const why = exception || how;
    return { turn, kind: "fault", text: `${doing(name, didWrong(fault))}${why ? `: ${why}` : ""}`, short: doing(name, didBriefly(fault)) };
  });
}

/** Let the page handle what is waiting. */
function pause() {
  return new Promise((resolve) => { setTimeout(resolve, 0); });
}
