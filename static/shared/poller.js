/** Polling: less frequent while the server does not answer, and paused while the page is hidden. */

/** Milliseconds after the first request without an answer; each further failure doubles them. */
const FIRST_RETRY = 1000;
const LONGEST_RETRY = 8000;

const PATIENCE = 10_000;

/** The server has not answered, or has refused to. */
export class NoAnswer extends Error {
  /**
   * @param {string} message
   * @param {number} status of the answer, 0 if there was none
   */
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

/** An address that sends nothing if nothing has changed. */
export class Source {
  /**
   * @param {string} address
   * @param {string} tag of the known version, "" for none
   */
  constructor(address, tag = "") {
    this.address = address;
    this.tag = bare(tag);
  }

  /**
   * Fetch the latest version.
   * @param {string} address an alternative address whose answers have the same tags
   * @returns {Promise<Response | null>} null if nothing has changed
   * @throws {NoAnswer}
   */
  async ask(address = this.address) {
    const answer = await this.fetchWhole(address).catch((error) => { throw new NoAnswer(error.message); });
    if (answer.status === 304) {
      return null;
    }
    if (!answer.ok) {
      throw new NoAnswer(answer.statusText, answer.status);
    }
    this.tag = bare(answer.headers.get("ETag") ?? "");
    return answer;
  }

  /**
   * Fetch a complete response: a partial one does not count as known.
   * @param {string} address
   */
  async fetchWhole(address) {
    // With our own tag the browser cache is bypassed: it would answer with an old clock.
    const headers = new Headers(this.tag ? { "If-None-Match": `"${this.tag}"` } : {});
    const answer = await fetch(address, { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
    const { status, statusText } = answer;
    return new Response(status === 304 ? null : await answer.blob(), { status, statusText, headers: answer.headers });
  }

  /** Forget the known version: the next answer is complete. */
  forget() {
    this.tag = "";
  }
}

/**
 * Return a tag without its quotes. A compressing proxy marks tags as weak.
 * @param {string} tag
 * @returns {string}
 */
function bare(tag) {
  return tag.replace(/^W\//, "").replaceAll('"', "");
}

/** Polls until the last answer. */
export class Poller {
  /**
   * @param {() => Promise<boolean | void>} ask sends one request, and returns whether that was the last; it
   *   throws NoAnswer if the server is silent
   * @param {number | (() => number)} every milliseconds between requests
   * @param {(answers: boolean) => void} report called after each request with whether the server answers
   */
  constructor(ask, every, report = () => {}) {
    this.ask = ask;
    this.every = every;
    this.report = report;
    this.failures = 0;
    this.wake = () => {};
  }

  /**
   * Poll until the last answer.
   * @param {{later?: boolean}} options whether to wait before the first request too
   */
  async run({ later = false } = {}) {
    if (later) {
      await this.rest(performance.now());
    }
    let began = performance.now();
    while (!await this.askOnce()) {
      await this.rest(began);
      began = performance.now();
    }
  }

  /** @returns {Promise<boolean>} whether that was the last request */
  async askOnce() {
    try {
      const isOver = await this.ask();
      this.failures = 0;
      this.report(true);
      return isOver === true;
    } catch (error) {
      if (error instanceof NoAnswer) {
        this.failures++;
        this.report(false);
      } else {
        reportError(error);
      }
      return false;
    }
  }

  /**
   * Wait until the next request is due or `wake` is called, then until the page is visible.
   * @param {number} began when the last request was sent
   */
  async rest(began) {
    const pause = this.failures > 0 ? this.retry() : this.interval() - (performance.now() - began);
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, pause));
      this.wake = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });
    await visibility();
  }

  /** @returns {number} milliseconds between requests */
  interval() {
    return typeof this.every === "number" ? this.every : this.every();
  }

  /** @returns {number} milliseconds until an unanswered request is repeated */
  retry() {
    return Math.max(this.interval(), Math.min(FIRST_RETRY * 2 ** (this.failures - 1), LONGEST_RETRY));
  }
}

/** Wait until the page is visible. */
async function visibility() {
  while (document.hidden) {
    await new Promise((resolve) => {
      document.addEventListener("visibilitychange", resolve, { once: true });
    });
  }
}
