/** Asks again and again: less often where no answer comes, and not at all while nobody sees the page. */

/** Milliseconds after the first question without an answer; each further one doubles them. */
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

/** An address that sends nothing while nothing has changed there. */
export class Source {
  /**
   * @param {string} address
   * @param {string} tag of what is known, "" if nothing is
   */
  constructor(address, tag = "") {
    this.address = address;
    this.tag = bare(tag);
  }

  /**
   * Ask for what is new.
   * @param {string} address another one than the usual, whose answers have the same tags
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
   * Fetch an answer to its end: what has come in part is not known.
   * @param {string} address
   */
  async fetchWhole(address) {
    // With a tag of its own the browser's store is not asked: it would answer with an old clock.
    const headers = new Headers(this.tag ? { "If-None-Match": `"${this.tag}"` } : {});
    const answer = await fetch(address, { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
    const { status, statusText } = answer;
    return new Response(status === 304 ? null : await answer.blob(), { status, statusText, headers: answer.headers });
  }

  /** Forget what is known: the next answer is a whole one. */
  forget() {
    this.tag = "";
  }
}

/**
 * Give a tag without its quotes. A proxy that packs answers calls their tags weak.
 * @param {string} tag
 * @returns {string}
 */
function bare(tag) {
  return tag.replace(/^W\//, "").replaceAll('"', "");
}

/** Asks until an answer is the last one. */
export class Poller {
  /**
   * @param {() => Promise<boolean | void>} ask asks once, and returns whether that was the last time; it
   *   throws NoAnswer where the server is silent
   * @param {number | (() => number)} every milliseconds from one question to the next
   * @param {(answers: boolean) => void} report is told after each question whether the server answers
   */
  constructor(ask, every, report = () => {}) {
    this.ask = ask;
    this.every = every;
    this.report = report;
    this.failures = 0;
    this.wake = () => {};
  }

  /**
   * Ask until an answer is the last one.
   * @param {{later?: boolean}} options whether the first question waits as long as all others
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

  /** @returns {Promise<boolean>} whether that was the last time */
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
   * Wait until it is time to ask, or `wake` is called; then until somebody sees the page.
   * @param {number} began when the last question was asked
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

  /** @returns {number} milliseconds from one question to the next */
  interval() {
    return typeof this.every === "number" ? this.every : this.every();
  }

  /** @returns {number} milliseconds until a question is asked again that had no answer */
  retry() {
    return Math.max(this.interval(), Math.min(FIRST_RETRY * 2 ** (this.failures - 1), LONGEST_RETRY));
  }
}

/** Wait until somebody sees the page. */
async function visibility() {
  while (document.hidden) {
    await new Promise((resolve) => {
      document.addEventListener("visibilitychange", resolve, { once: true });
    });
  }
}
