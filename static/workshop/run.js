/** A run: one match of the current bot, shown live. */

import { element } from "../shared/dom.js";
import { byId } from "./elements.js";
import { ask, follow, wordsOf } from "./server.js";

const PAUSE = 200;
const GONE = "The run that was shown here was deleted.";

/** Prefix of the name under which this window remembers a run. */
const LAST = "run at ";
const REPLACED = "A run in another window replaced it.";

/**
 * @typedef {{match: string, document: string, seed: number, goes_on: boolean, ready: boolean, failed: boolean, words: string,
 *   protection: string, compiler: string, output: [number, string][], marks: import("./output.js").Mark[],
 *   fault: import("./cause.js").Fault | null,
 *   waits?: string, is_lost?: boolean}} Report
 * @typedef {{match: string, document: string, seed: number}} Start a run, and the address of its match
 */

/** Runs the bot. */
export class Run {
  /**
   * @param {{save: () => Promise<void>, position: () => {replay?: string, turn?: number}, begin: () => void, play: (address: string) => void,
   *   grow: (output: [number, string][]) => void, end: (report: Report) => void}} page
   */
  constructor(page) {
    this.page = page;
    this.number = 0;
    /** @type {number | null} of the run before */
    this.seed = null;
    this.words = "";
    byId("run-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.begin();
    });
    byId("stop").addEventListener("click", () => void this.stop());
  }

  /**
   * Run the bot, replacing the previous run.
   * @param {{seat: number, seed: number} | null} [again] a match to repeat
   */
  async begin(again = null) {
    const number = ++this.number;
    // Until the server knows the new run, stopping would affect the previous one.
    byId("stop").disabled = true;
    byId("run").setAttribute("aria-busy", "true");
    this.say("Starting...");
    try {
      await this.page.save();
      const seed = again?.seed ?? (byId("same-seed").checked ? this.seed : null);
      const request = { opponent: byId("opponent").value, seat: again?.seat ?? Number(byId("seat").value), seed, ...this.page.position() };
      /** @type {Start} */
      const start = await ask("POST", "run", request);
      this.page.begin();
      if (number === this.number) {
        byId("stop").disabled = false;
      }
      await this.follow(start, number);
    } catch (error) {
      this.say(wordsOf(error), true);
    }
    if (number === this.number) {
      byId("stop").disabled = true;
      byId("run").removeAttribute("aria-busy");
    }
  }

  /** Resume the run from before the page was reloaded, if it still exists. */
  async resume() {
    const { hasRun, base = "" } = byId("workshop").dataset;
    const earlier = sessionStorage.getItem(LAST + base);
    if (!hasRun) {
      this.say(earlier ? GONE : "");
      return;
    }
    const number = this.number;
    try {
      /** @type {Report} */
      const report = await ask("GET", "run");
      if (number !== this.number) {
        return;
      }
      byId("stop").disabled = !report.goes_on;
      await this.follow(report, number);
    } catch (error) {
      this.say(wordsOf(error), true);
    }
    if (number === this.number) {
      byId("stop").disabled = true;
    }
  }

  /**
   * Follow a run to its end.
   * @param {Start} start
   * @param {number} number of the run in this window: earlier ones are abandoned
   */
  async follow(start, number) {
    this.seed = start.seed;
    sessionStorage.setItem(LAST + byId("workshop").dataset.base, start.match);
    let isShown = false;
    await follow("run", PAUSE, (/** @type {Report} */ report) => {
      if (number !== this.number) {
        return true;
      }
      if (report.match !== start.match) {
        this.say(REPLACED);
        return true;
      }
      if (report.ready && !isShown) {
        isShown = true;
        this.page.play(start.document);
      }
      this.take(report);
      return false;
    });
  }

  /** @param {Report} report */
  take(report) {
    if (!report.goes_on) {
      this.say(report.words, report.failed, report.is_lost);
      this.page.end(report);
    } else if (report.waits) {
      this.say(report.waits);
    } else {
      this.say(report.ready ? "" : "Starting...");
      this.page.grow(report.output);
    }
  }

  /** Stop the run. */
  async stop() {
    this.say("Stopping...");
    await ask("POST", "stop").catch((error) => this.say(wordsOf(error), true));
  }

  /**
   * @param {string} words
   * @param {boolean} [isTrouble]
   * @param {boolean} [isLost] whether to offer another run
   */
  say(words, isTrouble = false, isLost = false) {
    if (words === this.words) {
      // A screen reader would repeat it.
      return;
    }
    this.words = words;
    byId("words").replaceChildren(words, ...(isLost ? [" ", this.again()] : []));
    byId("words").classList.toggle("refused", isTrouble);
  }

  /** @returns {HTMLElement} the button that runs the bot again */
  again() {
    const button = element("button", "link", "Run again");
    button.type = "button";
    button.addEventListener("click", () => void this.begin());
    return button;
  }
}
