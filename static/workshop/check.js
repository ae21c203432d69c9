/** The check: each kind of request that the game may send, and what to do if one fails. */

import { element } from "../shared/dom.js";
import { byId } from "./elements.js";
import { ask, follow, wordsOf } from "./server.js";

const PAUSE = 400;

/** @typedef {{step: string, ok: boolean, problem: string, fix: string, warning: boolean}} Step */
/** @typedef {{steps: Step[], goes_on: boolean, trouble: string, waits?: string}} Report */

/** Checks the bot and shows the steps. */
export class Check {
  /** @param {{save: () => Promise<void>}} page */
  constructor(page) {
    this.page = page;
    this.number = 0;
    byId("check-start").addEventListener("click", () => void this.begin());
    byId("check-stop").addEventListener("click", () => void ask("POST", "check/stop"));
  }

  /** Start a check, and follow it to its end. */
  async begin() {
    const number = ++this.number;
    byId("check-stop").disabled = false;
    byId("check-steps").replaceChildren();
    this.say("Trying the first step...");
    try {
      await this.page.save();
      await ask("POST", "check");
      await follow("check", PAUSE, (/** @type {Report} */ report) => {
        if (number === this.number) {
          this.take(report);
        }
        return number !== this.number;
      });
    } catch (error) {
      this.say(wordsOf(error));
    }
    byId("check-stop").disabled = true;
  }

  /** @param {Report} report */
  take({ steps, goes_on: goesOn, trouble, waits }) {
    byId("check-steps").replaceChildren(...steps.map(row));
    const last = steps.at(-1);
    const failed = last && hasFailed(last);
    const notes = steps.filter((step) => step.warning && !step.ok).length;
    const fine = notes ? `All fine, with ${notes} note${notes === 1 ? "" : "s"}.` : "All fine.";
    const summary = failed ? "Stopped at the first failed step." : fine;
    this.say(trouble || waits || (goesOn ? `${steps.length} steps passed so far...` : summary));
  }

  /** @param {string} words */
  say(words) {
    byId("check-words").textContent = words;
  }
}

/**
 * @param {Step} step
 * @returns {HTMLElement}
 */
function row(step) {
  const failed = hasFailed(step);
  const name = element("b", "", step.ok ? "ok" : failed ? "failed" : "note");
  const problem = element("pre", failed ? "lines refused" : "lines", step.problem);
  const advice = element("p", "fix", failed ? `What to do: ${step.fix}` : step.fix);
  const rest = step.ok ? [] : [problem, advice];
  return element("li", failed ? "failed" : "fine", name, " ", step.step, ...rest);
}

/**
 * @param {Step} step
 * @returns {boolean}
 */
function hasFailed(step) {
  return !step.ok && !step.warning;
}
