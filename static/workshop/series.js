/** A series: many matches in the background, what they say about the bot's strength, and a link to each. */

import { element } from "../shared/dom.js";
import { byId } from "./elements.js";
import { ask, follow, wordsOf } from "./server.js";

const PAUSE = 500;
/** @type {Record<string, string>} */
const LETTERS = { won: "W", drawn: "D", lost: "L" };

/**
 * @typedef {{number: number, seed: number, seat: number, came: string, faults: number, words: string}} SeriesMatch
 * @typedef {{wins: number, draws: number, losses: number, win_rate: number, interval: [number, number], faults: number}} Tally
 * @typedef {{opponent: string, total: number, matches: SeriesMatch[], tally: Tally | null, goes_on: boolean, trouble: string, waits?: string}} Report
 */

/** Plays series and shows them. */
export class Series {
  /**
   * @param {{save: () => Promise<void>, show: (address: string, match: SeriesMatch) => Promise<void>}} page
   */
  constructor(page) {
    this.page = page;
    this.number = 0;
    this.count = 0;
    byId("series-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.begin();
    });
    byId("series-stop").addEventListener("click", () => void ask("POST", "series/stop"));
    byId("opponent").addEventListener("change", () => this.name());
    this.name();
  }

  /** Show the opponent of the series. */
  name() {
    byId("series-opponent").textContent = byId("opponent").value;
  }

  /** Start a series, and follow it to its end. */
  async begin() {
    const number = ++this.number;
    this.count = 0;
    byId("series-matches").replaceChildren();
    byId("series-words").textContent = "Starting the series...";
    byId("series-stop").disabled = false;
    try {
      await this.page.save();
      await ask("POST", "series", { opponent: byId("opponent").value, matches: byId("series-number").valueAsNumber });
      await follow("series", PAUSE, (/** @type {Report} */ report) => {
        if (number === this.number) {
          this.take(report);
        }
        return number !== this.number;
      });
    } catch (error) {
      byId("series-words").textContent = wordsOf(error);
      byId("series-stop").disabled = true;
    }
  }

  /** @param {Report} report */
  take(report) {
    const fresh = report.matches.slice(this.count);
    byId("series-matches").append(...fresh.map((match) => this.square(match)));
    this.count = report.matches.length;
    byId("series-words").textContent = [report.waits || wordsOfSeries(report), report.trouble].filter(Boolean).join(" ");
    byId("series-bar").hidden = report.tally === null;
    if (report.tally) {
      const [low, high] = report.tally.interval;
      byId("series-bar").style.setProperty("--low", String(low));
      byId("series-bar").style.setProperty("--high", String(high));
      byId("series-bar").style.setProperty("--rate", String(report.tally.win_rate));
    }
    byId("series-stop").disabled = !report.goes_on;
  }

  /**
   * @param {SeriesMatch} match
   * @returns {HTMLElement}
   */
  square(match) {
    const { number, seat, seed, came, words, faults } = match;
    const button = element("button", `square ${came}`, LETTERS[came]);
    button.type = "button";
    button.title = `Match ${number}, seat ${seat}, seed ${seed}: ${words}`;
    button.setAttribute("aria-label", button.title);
    button.classList.toggle("faulty", faults > 0);
    const address = `${byId("workshop").dataset.base}series/${number}/document`;
    button.addEventListener("click", () => {
      byId("series-matches").querySelector("[aria-current]")?.removeAttribute("aria-current");
      button.setAttribute("aria-current", "true");
      void this.page.show(address, match);
    });
    return element("li", "", button);
  }
}

/**
 * @param {Report} report
 * @returns {string}
 */
function wordsOfSeries({ opponent, total, matches, tally }) {
  if (!tally) {
    return "Playing the first matches...";
  }
  const { wins, draws, losses, win_rate: rate, interval: [low, high], faults } = tally;
  const wrong = faults ? ` ${faults} ${faults === 1 ? "fault" : "faults"}.` : "";
  const extent = matches.length < total ? ` of the first ${matches.length} of ${total}` : "";
  return `It wins ${percent(rate)} against ${opponent} (95 % interval: ${percent(low)} to ${percent(high)}).`
    + ` ${wins} won, ${draws} drawn, ${losses} lost${extent}.${wrong}`;
}

/**
 * @param {number} share
 * @returns {string}
 */
function percent(share) {
  return `${Math.round(share * 100)} %`;
}
