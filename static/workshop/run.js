/** A run: one match of the bot as it is now, which is shown while it is played. */

import { byId } from "./elements.js";
import { ask, follow, wordsOf } from "./server.js";

const PAUSE = 250;

/**
 * @typedef {{match: string, seed: number, over: boolean, failed: boolean, words: string, protection: string,
 *   compiler: string, output: [number, string][], marks: import("./output.js").Mark[]}} Told
 */

/** Runs the bot. */
export class Run {
  /**
   * @param {{save: () => Promise<void>, begun: (match: string) => void, ended: (told: Told) => void,
   *   wrote: (output: [number, string][]) => void}} led
   */
  constructor(led) {
    this.led = led;
    this.number = 0;
    /** @type {number | null} of the run before */
    this.seed = null;
    byId("run-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.begin();
    });
    byId("stop").addEventListener("click", () => void this.stop());
  }

  /**
   * Run the bot, in the place of the run before.
   * @param {{seat: number, seed: number} | null} [again] a match that is played again
   */
  async begin(again = null) {
    const number = ++this.number;
    byId("stop").disabled = false;
    byId("run").setAttribute("aria-busy", "true");
    this.say("It starts...");
    try {
      await this.led.save();
      const seed = again?.seed ?? (byId("same-seed").checked ? this.seed : null);
      const wanted = { opponent: byId("opponent").value, seat: again?.seat ?? Number(byId("seat").value), seed };
      const begun = await ask("POST", "run", wanted);
      this.seed = begun.seed;
      this.led.begun(begun.match);
      await follow("run", PAUSE, (/** @type {Told} */ told) => number !== this.number || this.take(told));
    } catch (error) {
      this.say(wordsOf(error), true);
    }
    if (number === this.number) {
      byId("stop").disabled = true;
      byId("run").removeAttribute("aria-busy");
    }
  }

  /**
   * @param {Told} told
   * @returns {boolean} whether the run is over
   */
  take(told) {
    if (told.over) {
      this.say(told.words, told.failed);
      this.led.ended(told);
    } else {
      this.led.wrote(told.output);
    }
    return told.over;
  }

  /** Stop the run. */
  async stop() {
    this.say("It is being stopped...");
    await ask("POST", "stop").catch((error) => this.say(wordsOf(error), true));
  }

  /**
   * @param {string} words
   * @param {boolean} [isTrouble]
   */
  say(words, isTrouble = false) {
    byId("words").textContent = words;
    byId("words").classList.toggle("refused", isTrouble);
  }
}
