/** What the page asks of its server. */

const { base: BASE = "", token = "" } = document.getElementById("workshop")?.dataset ?? {};

/** The server has refused something, and says why. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {any} report what it says
   */
  constructor(status, report) {
    super(String(report?.error ?? `The server refused this (${status}).`));
    this.status = status;
    this.report = report;
  }
}

/**
 * Ask the server.
 * @param {"GET" | "POST" | "PUT"} method
 * @param {string} path below that of the page
 * @param {unknown} [document] what is sent
 * @param {RequestInit} [options]
 * @returns {Promise<any>} what it says; null if nothing has changed
 * @throws {Refused}
 */
export async function ask(method, path, document, options = {}) {
  const body = document === undefined ? undefined : JSON.stringify(document);
  const answer = await fetch(BASE + path, { method, body, headers: { Accept: "application/json", "X-CSRFToken": token }, ...options });
  if (answer.status === 304) {
    return null;
  }
  const report = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new Refused(answer.status, report);
  }
  return report;
}

/** Milliseconds between two questions about what waits for a machine, or after a question without an answer. */
const WAITING = 1000;

/** Questions in a row without an answer after which nobody is asked any more. */
const MOST_FAILURES = 5;

/**
 * What is told of something that goes on.
 * @typedef {{goes_on: boolean, waits?: string, is_lost?: boolean}} Going `waits` says for what, "" for nothing
 */

/**
 * Ask again and again while something goes on.
 * @template {Going} T
 * @param {string} path
 * @param {number} pause milliseconds between two questions
 * @param {(report: T) => boolean | void} take takes an answer; true where no more is wanted
 */
export async function follow(path, pause, take) {
  for (;;) {
    /** @type {T} */
    const report = await askPatiently(path);
    if (take(report) || !report.goes_on) {
      return;
    }
    await rest(report.waits ? WAITING : pause);
  }
}

/**
 * Ask the server, again where it is silent, or fails.
 * @param {string} path
 * @returns {Promise<any>}
 */
async function askPatiently(path) {
  for (let failures = 1; ; failures++) {
    try {
      return await ask("GET", path);
    } catch (error) {
      const isFinal = error instanceof Refused && error.status < 500 && error.status !== 429;
      if (isFinal || failures >= MOST_FAILURES) {
        throw error;
      }
      await rest(failures * WAITING);
    }
  }
}

/**
 * @param {number} pause milliseconds
 * @returns {Promise<void>}
 */
function rest(pause) {
  return new Promise((resolve) => { setTimeout(resolve, pause); });
}

/**
 * Say what went wrong.
 * @param {unknown} error
 * @returns {string}
 */
export function wordsOf(error) {
  if (error instanceof TypeError) {
    return "The workshop does not answer: is it still running?";
  }
  return error instanceof Error ? error.message : String(error);
}
