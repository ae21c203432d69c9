/** Tells screen readers what happened: at most one sentence a second, the latest. */

const EVERY = 1000;

/** Speaks through a live region. */
export class Announcer {
  /** @param {HTMLElement} place a live region */
  constructor(place) {
    this.place = place;
    this.waiting = "";
    this.resting = false;
  }

  /** @param {string} text */
  say(text) {
    this.waiting = text;
    if (!this.resting) {
      this.speak();
    }
  }

  /** Say what waits, then rest, for screen readers say every sentence to its end. */
  speak() {
    this.resting = this.waiting !== "";
    if (this.resting) {
      this.place.textContent = this.waiting;
      this.waiting = "";
      setTimeout(() => this.speak(), EVERY);
    }
  }
}
