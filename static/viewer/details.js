/** The parts below the board: result, match, events, and response times. */

import { Chart } from "./chart.js";
import { element } from "../shared/dom.js";
import { badge, byId } from "./elements.js";
import { endingOf } from "./ending.js";
import { MARKS } from "./marks.js";
import { countOf } from "../shared/counts.js";
import { opponents, standings, timeWords, titleOf, winnerOf } from "./words.js";

const MOST_EVENTS = 1000;
const MOST_TIMES = 8;

/**
 * Show everything that does not depend on the turn.
 * @param {import("./replay.js").Replay} replay
 * @param {import("./games/game.js").Game} game
 * @param {boolean} told whether the result may be shown
 */
export function showDetails(replay, game, told) {
  showTitle(replay);
  byId("result").hidden = !told;
  byId("reason").textContent = `${winnerOf(replay)}. ${endingOf(replay, game)}`;
  byId("legend").replaceChildren(...game.legend.map((text) => element("li", "", text)));
  byId("standings").replaceChildren(...standings(replay).map(standingRow));
  byId("facts").replaceChildren(...facts(replay).map(
    ([name, value]) => element("div", "", element("dt", "", name), element("dd", "", value)),
  ));
}

/**
 * Show who plays; the winner is shown below.
 * @param {import("./replay.js").Replay} replay
 */
function showTitle(replay) {
  const title = opponents(replay);
  const game = titleOf(replay.document.game);
  byId("title").textContent = title;
  byId("subtitle").textContent = `${game}, ${replay.over ? countOf(replay.last, "turn") : "being played"}`;
  document.title = `${title} | ${game} | Replay`;
}

/**
 * @param {ReturnType<typeof standings>[number]} standing
 * @returns {HTMLElement}
 */
function standingRow({ seat, rank, score }) {
  const name = element("td", "who", badge(seat.index), seat.name);
  return element("tr", "",
    element("td", "", rank === null ? "-" : String(rank)), name,
    element("td", "muted", seat.bot), element("td", "", score === null ? "-" : String(score)));
}

/**
 * @param {import("./replay.js").Replay} replay
 * @returns {string[][]}
 */
function facts({ document, last }) {
  const options = Object.entries(document.options).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
  // Until the end a hub reveals neither, as the rest of the match could be computed from them.
  const [seed, hash] = document.hash ? [[["Seed", String(document.seed)]], [["Hash", document.hash.slice(0, 12)]]] : [[], []];
  return [
    ["Game", titleOf(document.game)], ["Played", document.date.replace("T", " ").replace("Z", " UTC")],
    ["Turns", String(last)], ...seed, ...options, ["Rules", `version ${document.rules}`], ...hash,
  ];
}

/** The list of events. */
export class EventLog {
  /** @param {(turn: number) => void} visit */
  constructor(visit) {
    this.list = byId("events");
    this.count = 0;
    this.list.addEventListener("click", (/** @type {Event} */ event) => {
      const button = /** @type {HTMLElement} */ (event.target).closest("button");
      if (button) {
        visit(Number(button.dataset.turn));
      }
    });
  }

  /** Remove all events. */
  clear() {
    this.list.replaceChildren();
    this.count = 0;
  }

  /**
   * Add new events.
   * @param {import("./games/game.js").Event[]} events
   */
  show(events) {
    const next = events.slice(this.count, MOST_EVENTS);
    this.list.append(...next.map(eventItem));
    this.count += next.length;
    const more = events.length - this.count;
    byId("more-events").textContent = more > 0 ? `and ${more} more` : "";
  }
}

/**
 * @param {import("./games/game.js").Event} event
 * @returns {HTMLElement}
 */
function eventItem({ turn, kind, text }) {
  const mark = element("span", `kind ${kind}`, MARKS[kind].sign);
  mark.setAttribute("aria-hidden", "true");
  const button = element("button", "event-link", mark, element("span", "at", String(turn)), element("span", "", text));
  button.type = "button";
  button.dataset.turn = String(turn);
  return element("li", "", button);
}

/** The bots' response times: a chart and a table. */
export class Latency {
  /** @param {(turn: number) => void} visit */
  constructor(visit) {
    this.chart = new Chart(byId("latency"));
    this.visit = visit;
  }

  /** @param {import("./replay.js").Replay} replay */
  show(replay) {
    const before = Array(replay.first).fill(NaN);
    const series = replay.seats.map(({ key }) => [...before, ...replay.document.turns.map(({ ms }) => Number(ms?.[key] ?? NaN))]);
    this.chart.show(series, replay.last);
    const rows = replay.seats.slice(0, MOST_TIMES).map((seat, index) => this.row(seat, series[index]));
    byId("latency-rows").replaceChildren(...rows);
  }

  /**
   * @param {import("./replay.js").Seat} seat
   * @param {number[]} series
   * @returns {HTMLElement}
   */
  row({ index, name }, series) {
    const times = series.filter(Number.isFinite).sort((one, other) => one - other);
    const at = (/** @type {number} */ part) => (times.length ? timeWords(times[Math.floor((times.length - 1) * part)]) : "-");
    const longest = element("td", "", at(1));
    if (times.length) {
      const turn = series.indexOf(times[times.length - 1]);
      const button = element("button", "link", `turn ${turn}`);
      button.type = "button";
      button.addEventListener("click", () => this.visit(turn));
      longest.append(" in ", button);
    }
    return element("tr", "", element("td", "who", badge(index), name), element("td", "", at(0.5)), element("td", "", at(0.95)), longest);
  }
}
