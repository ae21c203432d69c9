/** Requests of the page to its server. */

const { base: BASE = "", token = "" } = document.getElementById("workshop")?.dataset ?? {};

/** The server has refused a request, with a reason. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {any} report its answer
   */
  constructor(status, report) {
    super(String(report?.error ?? `The server refused this (${status}).`));
    this.status = status;
    this.report = report;
  }
}

/**
 * Send a request to the server.
 * @param {"GET" | "POST" | "PUT"} method
 * @param {string} path below that of the page
 * @param {unknown} [document] what is sent
 * @param {RequestInit} [options]
 * @returns {Promise<any>} its answer; null if nothing has changed
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

/** Milliseconds between requests about a task that waits for a machine, or after a failed request. */
const WAITING = 1000;

/** Consecutive failures after which polling ends. */
const MOST_FAILURES = 5;

/**
 * The status of a task.
 * @typedef {{goes_on: boolean, waits?: string, is_lost?: boolean}} Going `waits` says what for, "" for nothing
 */

/**
 * Poll while a task is running.
 * @template {Going} T
 * @param {string} path
 * @param {number} pause milliseconds between requests
 * @param {(report: T) => boolean | void} take processes an answer; true ends polling
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
 * Send a request, and repeat it if the server is silent or fails.
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
 * Return what went wrong as text.
 * @param {unknown} error
 * @returns {string}
 */
export function wordsOf(error) {
  if (error instanceof TypeError) {
    return "The workshop does not answer: is it still running?";
  }
  return error instanceof Error ? error.message : String(error);
}
