/** Texts about a game: a view that combines status and history, and sentences about it. */

import { countOf } from "../shared/counts.js";
import { allSegments, BORDERS, condition, owner } from "./geometry.js";

/**
 * @typedef {{player: number, kind: string, detail: string}} Fault
 * @typedef {{
 *   teams: string[], limit: number, moves: [number, string, number][], fault: Fault | null,
 *   replay: string | null,
 * }} History
 * @typedef {{
 *   board: number[][], board_size: number, last_move: string, score_1: number, score_2: number,
 *   status: string, status_code: number, time_left: number,
 * }} Status
 * @typedef {{
 *   status: Status, history: History, phase: "waiting" | "playing" | "ended",
 *   turn: number, winner: number, loser: number, names: string[], scores: number[],
 *   total: number, free: number,
 * }} View
 */

/**
 * Return a view for the page.
 * @param {Status} status the status document
 * @param {History} history
 * @returns {View}
 */
export function viewOf(status, history) {
  const group = Math.floor(status.status_code / 100);
  const subject = status.status_code % 100;
  const winner = group < 3 ? 0 : group === 3 ? subject : 3 - subject;
  return {
    status,
    history,
    phase: group === 1 ? "waiting" : group === 2 ? "playing" : "ended",
    turn: group === 2 ? subject : 0,
    winner,
    loser: winner && 3 - winner,
    names: [1, 2].map((player) => history.teams[player - 1] ?? `Player ${player}`),
    scores: [status.score_1, status.score_2],
    total: status.board_size ** 2,
    free: countFree(status),
  };
}

/**
 * @param {Status} status
 * @returns {number}
 */
function countFree({ board, board_size: size }) {
  return allSegments(size).filter((segment) => condition(board, segment) === "free").length;
}

/**
 * @param {View} view
 * @param {number} player
 * @returns {string}
 */
export function nameOf(view, player) {
  return view.names[player - 1];
}

/**
 * Return the state of the game in a few words.
 * @param {View} view
 * @returns {string}
 */
export function headline(view) {
  if (view.phase === "ended") {
    return `${nameOf(view, view.winner)} won`;
  }
  if (view.phase === "playing") {
    return `${nameOf(view, view.turn)} to move`;
  }
  return view.history.teams.length ? "Waiting for Player 2" : "Waiting for players";
}

/**
 * Return why the game ended, who is there, or the last move.
 * @param {View} view
 * @returns {string}
 */
export function detail(view) {
  if (view.phase === "ended") {
    return reason(view);
  }
  if (view.phase === "playing") {
    return lastMove(view);
  }
  const [first] = view.history.teams;
  return first ? `${first} has joined as Player 1.` : "No player has registered yet.";
}

/**
 * Return why the game ended.
 * @param {View} view
 * @returns {string}
 */
export function reason(view) {
  if (view.status.status_code < 400) {
    const [better, worse] = [view.winner, view.loser].map((player) => view.scores[player - 1]);
    return `Score ${better}:${worse}.`;
  }
  const cause = view.status.status_code < 500 ? "Illegal move" : "Time-out";
  const detail = view.history.fault?.detail;
  return `${cause} by ${nameOf(view, view.loser)}${detail ? `: ${detail}` : ""}.`;
}

/**
 * Return the last move as text.
 * @param {View} view
 * @returns {string}
 */
export function lastMove(view) {
  const { moves } = view.history;
  const last = moves.at(-1);
  if (!last) {
    return "No move yet.";
  }
  const [player, move, points] = last;
  const gain = points ? `, ${countOf(points, "square")}` : "";
  return `Move ${moves.length}: ${nameOf(view, player)} ${move}${gain}.`;
}

/**
 * Return a player's status in one or two words, or "".
 * @param {View} view
 * @param {number} player
 * @returns {string}
 */
export function standing(view, player) {
  if (view.phase === "playing") {
    return view.turn === player ? "to move" : "";
  }
  if (view.phase === "waiting") {
    return view.history.teams.length >= player ? "ready" : "";
  }
  if (view.winner === player) {
    return "won";
  }
  const { status_code: code } = view.status;
  return code < 400 ? "lost" : code < 500 ? "illegal move" : "time-out";
}

/**
 * Return the title of the page.
 * @param {View} view
 * @returns {string}
 */
export function pageTitle(view) {
  const [one, two] = view.names;
  const score = view.phase === "waiting" ? "" : ` | ${one} ${view.scores.join(":")} ${two}`;
  return `${headline(view)}${score} | Circuit Wars`;
}

/**
 * Return a description of the board for people who cannot see it.
 * @param {View} view
 * @returns {string}
 */
export function boardText(view) {
  const size = view.status.board_size;
  const owned = [1, 2].map(
    (player) => `${nameOf(view, player)} owns ${countOf(view.scores[player - 1], "square")}`,
  );
  const last = view.status.last_move ? ` Last move ${view.status.last_move}.` : "";
  const free = `${view.free} of ${countOf(2 * size * (size + 1), "segment")} free`;
  return `Board of ${size} by ${size} squares, ${free}. ${owned.join(", ")}.${last}`;
}

/**
 * Return a description of one square, with its number in the status document.
 * @param {View} view
 * @param {number} x
 * @param {number} y
 * @returns {string}
 */
export function squareText(view, x, y) {
  const square = view.status.board[y][x];
  const parts = Object.entries(BORDERS).filter(([, bit]) => square & bit).map(([border]) => border);
  const player = owner(square);
  if (player) {
    parts.push(`owned by ${nameOf(view, player)}`);
  }
  return `Square ${x},${y} = ${square}: ${parts.join(", ") || "nothing drawn"}`;
}
