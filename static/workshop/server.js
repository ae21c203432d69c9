/** What the page asks of its server. */

const BASE = document.getElementById("workshop")?.dataset.base ?? "";

/** The server has refused something, and says why. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {any} told what it says
   */
  constructor(status, told) {
    super(String(told?.error ?? `The server refused this (${status}).`));
    this.status = status;
    this.told = told;
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
  const answer = await fetch(BASE + path, { method, body, headers: { Accept: "application/json" }, ...options });
  if (answer.status === 304) {
    return null;
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new Refused(answer.status, told);
  }
  return told;
}

/**
 * Ask again and again until an answer is the last one.
 * @template T
 * @param {string} path
 * @param {number} pause milliseconds between two questions
 * @param {(told: T) => boolean} take takes an answer; returns whether it was the last one
 */
export async function follow(path, pause, take) {
  while (!take(await ask("GET", path))) {
    await new Promise((resolve) => { setTimeout(resolve, pause); });
  }
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
