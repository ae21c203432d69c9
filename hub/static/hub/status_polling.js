/** Polls a status for as long as it can change. */

import { NoAnswer, Poller, Source } from "../shared/poller.js";

const EVERY = 1000;

/**
 * Poll an address every second until the final answer, or until it has nothing to report.
 * @param {string} address
 * @param {(said: any) => boolean} take takes a new answer, and returns whether to go on
 */
export async function keepAsking(address, take) {
  const source = new Source(address);
  await new Poller(async () => {
    try {
      const answer = await source.ask();
      return answer !== null && !take(await answer.json());
    } catch (error) {
      if (error instanceof NoAnswer && isFinal(error.status)) return true;
      throw error;
    }
  }, EVERY).run({ later: true });
}

/**
 * @param {number} status of a refusal, 0 without an answer
 * @returns {boolean} whether asking again cannot help
 */
function isFinal(status) {
  return status >= 400 && status < 500 && status !== 429;
}
