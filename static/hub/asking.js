/** Asks again and again how something stands, as long as that can change. */

const EVERY = 1000;

/**
 * Ask an address each second until it has answered what is the end of it.
 * @param {string} address
 * @param {(said: any) => boolean} take Takes what is new, and answers whether to go on.
 */
export async function keepAsking(address, take) {
  let going = true;
  while (going) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    going = await ask(address, take).catch(() => true);
  }
}

/**
 * Ask once. The browser sends the ETag of what it has, and is told 304 while nothing has changed.
 * @param {string} address
 * @param {(said: any) => boolean} take
 * @returns {Promise<boolean>}
 */
async function ask(address, take) {
  const answer = await fetch(address, { cache: "no-cache", headers: { Accept: "application/json" } });
  return answer.ok ? take(await answer.json()) : answer.status === 429 || answer.status >= 500;
}
