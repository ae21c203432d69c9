/** Asks how something stands, as long as that can change. */

import { NoAnswer, Poller, Source } from "../shared/poller.js";

const EVERY = 1000;

/**
 * Ask an address each second until it has answered what is the end of it, or has nothing to say.
 * @param {string} address
 * @param {(said: any) => boolean} take takes what is new, and returns whether to go on
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
 * @param {number} status of an answer that is a refusal, 0 if there was none
 * @returns {boolean} whether asking again cannot help
 */
function isFinal(status) {
  return status >= 400 && status < 500 && status !== 429;
}
