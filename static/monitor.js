/** The monitor of Circuit Wars: polls the server for the state of the game, and shows it. */

import { BoardPicture } from "./monitor/board.js";
import { Clock } from "./monitor/clock.js";
import { Coordinates } from "./monitor/coordinates.js";
import { keyOf } from "./monitor/geometry.js";
import { announcement, MoveList, showPage } from "./monitor/page.js";
import { bindRestart } from "./monitor/restart.js";
import { viewOf } from "./monitor/words.js";
import { Announcer } from "./shared/announcer.js";
import { byId } from "./shared/dom.js";
import { NoAnswer, Poller } from "./shared/poller.js";

const POLL_EVERY = 200;
const PATIENCE = 3000;
const TICK_EVERY = 100;

/**
 * @typedef {import("./monitor/words.js").Status} Status
 * @typedef {import("./monitor/words.js").History} History
 * @typedef {import("./monitor/words.js").View} View
 */

const picture = new BoardPicture(/** @type {SVGSVGElement} */ ($("#board")[0]));
const clock = new Clock([byId("card-1"), byId("card-2")]);
const moves = new MoveList(/** @type {HTMLOListElement} */ (byId("moves")));
const announcer = new Announcer(byId("announcer"));
const coordinates = new Coordinates(
  picture, byId("board-frame"), /** @type {HTMLInputElement} */ (byId("coordinates")), byId("readout"),
);

/**
 * The latest answer of the server; `due` while the history belonging to the status is missing.
 * @type {{status: Status | null, at: number, due: boolean, view: View | null}}
 */
const latest = { status: null, at: 0, due: false, view: null };

/**
 * Send a request to the server; addresses are relative, so that a room asks about its own game.
 * @param {string} address
 * @param {boolean} ifModified whether to return undefined if nothing has changed
 */
function ask(address, ifModified = false) {
  // A request without this header counts as a player's, and would keep a seat.
  const headers = { "X-Monitor": "1" };
  return $.ajax({ url: address, dataType: "json", timeout: PATIENCE, ifModified, headers });
}

/**
 * Fetch a document for the page.
 * @param {string} address
 * @param {boolean} ifModified
 */
async function answerOf(address, ifModified = false) {
  try {
    return await ask(address, ifModified);
  } catch (failure) {
    throw new NoAnswer(address, /** @type {FailedRequest} */ (failure).status);
  }
}

/** Fetch the state of the game, and show it if it has changed. */
async function refresh() {
  const status = /** @type {Status | undefined} */ (await answerOf("status", true));
  if (status) {
    Object.assign(latest, { status, at: performance.now(), due: true });
  }
  if (latest.status && latest.due) {
    const history = /** @type {History} */ (await answerOf("history"));
    latest.due = false;
    show(viewOf(latest.status, history));
  }
}

/** @param {View} view */
function show(view) {
  latest.view = view;
  const authors = new Map(view.history.moves.map(([player, move]) => [keyOf(move), player]));
  picture.show(view.status.board, view.status.last_move, authors);
  showPage(view);
  moves.show(view);
  coordinates.show(view);
  announcer.say(announcement(view));
  startClock();
}

/** Start the clock of the latest known turn. */
function startClock() {
  const { view, status, at } = latest;
  if (view && status) {
    clock.start(view.turn, status.time_left, view.history.limit, at);
  }
}

/**
 * Show whether the server answers; the last board stays on the screen.
 * @param {boolean} answers
 */
function showLink(answers) {
  const notice = $("#gone");
  if (notice.prop("hidden") === answers) {
    return;
  }
  notice.prop("hidden", answers);
  $("#match").toggleClass("stale", !answers);
  if (answers) {
    startClock();
  } else {
    clock.stop();
    document.title = "No connection | Circuit Wars";
  }
}

/** Fill in the addresses for clients that join this game. */
function showAddresses() {
  const here = new URL(".", location.href).href;
  const server = here.replace(/\/$/, "");
  $("#join-server").text(`SERVER = "${server}"`);
  $("#join-built-in").text(`cw bots join ${server} greedy`);
  $("#join-register").text(`${here}reg/<team_id>`);
}

bindRestart(() => latest.view?.phase === "playing", () => ask("restart"));
showAddresses();
setInterval(() => clock.tick(), TICK_EVERY);
void new Poller(refresh, POLL_EVERY, showLink).run();
