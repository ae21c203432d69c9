/** Asks an address again and again, by the tag of what is known: nothing is sent that is known. */

/**
 * What an address has answered.
 * @typedef {object} News
 * @property {any} said
 * @property {string} tag
 * @property {number} asked when, in milliseconds of this page
 * @property {number} answered
 */

/**
 * Give what an address answers; null if that is known, or cannot be had now.
 * @param {string} address
 * @param {string} tag of what is known, "" if nothing is
 * @returns {Promise<News | null>}
 */
export async function news(address, tag) {
  const asked = performance.now();
  // With a tag of its own the browser's store is not asked: it would answer with an old clock.
  /** @type {HeadersInit} */
  const headers = tag ? { "If-None-Match": `"${tag}"` } : {};
  const answer = await fetch(address, { headers, cache: "no-store" }).catch(() => null);
  if (!answer?.ok) return null;
  const said = await answer.json().catch(() => null);
  const found = (answer.headers.get("ETag") ?? "").replace(/^W\//, "").replaceAll('"', "");
  return said === null ? null : { said, tag: found, asked, answered: performance.now() };
}
