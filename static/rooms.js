/** The lobby: polls the state of all rooms, and shows it. */

import { countOf } from "./shared/counts.js";
import { byId, element, link } from "./shared/dom.js";
import { Poller, Source } from "./shared/poller.js";

const POLL_EVERY = 1000;

/**
 * The state of a game; `room` is null for the game at the root.
 * @typedef {{
 *   room: string | null, status_code: number, status: string, teams: string[], scores: number[], replay: string | null,
 * }} Ended
 * @typedef {Ended & {address: string, squares: number, moves: number}} Room
 * @typedef {{rooms: Room[], most: number, finished: Ended[]}} List
 */

const lobby = byId("lobby");
const input = /** @type {HTMLInputElement} */ (byId("room"));
const source = new Source(lobby.dataset.list ?? "");

/** Fetch the state once, and show changes. */
async function refresh() {
  const answer = await source.ask();
  if (answer) {
    show(/** @type {List} */ (await answer.json()));
  }
}

/** @param {boolean} answers whether the server does */
function showLink(answers) {
  byId("gone").hidden = answers;
  lobby.classList.toggle("stale", !answers);
}

/** @param {List} list */
function show({ rooms, most, finished }) {
  const [main, ...others] = rooms;
  others.sort((one, other) => orderOf(one) - orderOf(other) || nameOf(one).localeCompare(nameOf(other), "en", { numeric: true }));
  const playing = rooms.filter((room) => phaseOf(room) === "playing").length;
  const waiting = rooms.filter(({ status_code: code }) => code === 101).length;
  byId("summary").textContent = [
    `${countOf(others.length, "room")} of ${most}`,
    `${countOf(playing, "match", "matches")} being played`,
    ...(waiting ? [`${countOf(waiting, "player")} waiting for an opponent`] : []),
  ].join(", ");
  byId("rooms").replaceChildren(...[main, ...others].map(card));
  byId("ended").replaceChildren(...finished.map(endedRow));
  byId("ended-table").hidden = finished.length === 0;
  byId("no-ended").hidden = finished.length > 0;
  suggest(others);
  lobby.dataset.state = "ready";
}

/**
 * @param {Ended} room
 * @returns {"waiting" | "playing" | "over"}
 */
function phaseOf({ status_code: code }) {
  return code < 200 ? "waiting" : code < 300 ? "playing" : "over";
}

/**
 * @param {Ended} room
 * @returns {number} its sort order: running games first
 */
function orderOf(room) {
  return ["playing", "waiting", "over"].indexOf(phaseOf(room));
}

/**
 * @param {Ended} room
 * @returns {string}
 */
function nameOf({ room }) {
  return room ?? "Main match";
}

/**
 * Return the number of the winner.
 * @param {Ended} room which is over
 * @returns {number}
 */
function winnerOf({ status_code: code }) {
  return code < 400 ? code % 10 : 3 - (code % 10);
}

/**
 * Return why a game was forfeited.
 * @param {Ended} room which is over
 * @returns {string}
 */
function reasonOf(room) {
  const { status_code: code, teams } = room;
  const loser = teams[2 - winnerOf(room)];
  return code < 500 ? `illegal move by ${loser}` : `time-out by ${loser}`;
}

/**
 * Return the state of a game as text.
 * @param {Room} room
 * @returns {string}
 */
function stateOf(room) {
  const { status_code: code, teams, scores, moves } = room;
  if (code < 200) {
    return code === 100 ? "No players yet." : `${teams[0]} waits for an opponent.`;
  }
  if (code < 300) {
    return moves ? `${countOf(moves, "move")} played` : "No move yet";
  }
  const winner = winnerOf(room);
  const victory = `${teams[winner - 1] ?? `Player ${winner}`} won`;
  if (code < 400) {
    return `${victory}, ${Math.max(...scores)} to ${Math.min(...scores)}, after ${countOf(moves, "move")}.`;
  }
  return `${victory}: ${reasonOf(room)} in turn ${moves}.`;
}

/**
 * @param {Room} room
 * @returns {HTMLElement}
 */
function card(room) {
  const { address, replay, scores, squares, status_code: code } = room;
  const shares = element("div", "shares", ...["one", "two"].map((mark, index) => {
    const share = element("span", `share ${mark}`);
    share.style.setProperty("--share", String(scores[index] / squares));
    return share;
  }));
  shares.setAttribute("aria-hidden", "true");
  const ways = element("p", "ways", explainedLink(address, code < 200 ? "Join or watch" : "Watch", `: ${nameOf(room)}`));
  if (replay) {
    ways.append(explainedLink(replay, "Replay", `: ${nameOf(room)}`));
  }
  return element("li", `room ${phaseOf(room)}`,
    element("h3", "", link(address, nameOf(room))), element("p", "state", stateOf(room)),
    element("ol", "sides", side(room, 1), side(room, 2)), shares, ways);
}

/**
 * @param {Room} room
 * @param {number} player
 * @returns {HTMLElement}
 */
function side(room, player) {
  const { teams, scores, status_code: code } = room;
  const team = teams[player - 1];
  const won = phaseOf(room) === "over" && winnerOf(room) === player;
  const item = element("li", `side ${player === 1 ? "one" : "two"}${team ? "" : " absent"}${won ? " won" : ""}`,
    element("span", "swatch"), element("span", "name", team ?? "free seat"));
  if (code === 200 + player) {
    item.append(element("span", "turn", "to move"));
  }
  item.append(element("b", "score", String(scores[player - 1])));
  return item;
}

/**
 * @param {Ended} game
 * @returns {HTMLElement}
 */
function endedRow(game) {
  const winner = winnerOf(game);
  const names = element("td", "", ...game.teams.flatMap((team, index) => {
    const name = element(index + 1 === winner ? "b" : "span", "", team);
    return index ? [" against ", name] : [name];
  }));
  return element("tr", "",
    element("td", "", nameOf(game)), names, element("td", "figures", game.scores.join(" : ")),
    element("td", "", `${game.teams[winner - 1]} won${game.status_code < 400 ? " by score" : `: ${reasonOf(game)}`}`),
    element("td", "", game.replay ? explainedLink(game.replay, "Watch", ` ${game.teams.join(" against ")}`) : "not saved"));
}

/**
 * @param {string} address
 * @param {string} words
 * @param {string} more words for people who cannot see its context
 * @returns {HTMLElement}
 */
function explainedLink(address, words, more) {
  return link(address, words, element("span", "unseen", more));
}

/**
 * Suggest an unused room.
 * @param {Room[]} rooms
 */
function suggest(rooms) {
  const names = new Set(rooms.map(({ room }) => room));
  let number = 1;
  while (names.has(`table-${number}`)) {
    number++;
  }
  input.placeholder = `table-${number}`;
  showAddress();
}

/** Insert the address of the named room into the commands to type. */
function showAddress() {
  const room = input.validity.patternMismatch ? "" : input.value;
  const here = new URL(".", location.href);
  document.querySelectorAll("[data-address]").forEach((place) => {
    place.textContent = `${here.origin}${here.pathname}${room || input.placeholder}`;
  });
}

input.addEventListener("input", showAddress);
showAddress();
void new Poller(refresh, POLL_EVERY, showLink).run();
