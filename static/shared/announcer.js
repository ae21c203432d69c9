/** Announces events to screen readers: at most one sentence a second, the latest. */

const EVERY = 1000;

/** Speaks through a live region. */
export class Announcer {
  /** @param {HTMLElement} place a live region */
  constructor(place) {
    this.place = place;
    this.spoken = "";
    this.waiting = "";
    this.isResting = false;
  }

  /** @param {string} text */
  say(text) {
    this.waiting = text;
    if (!this.isResting) {
      this.speak();
    }
  }

  /** Announce the waiting sentence, then pause, because screen readers finish every sentence. */
  speak() {
    const { waiting } = this;
    this.waiting = "";
    this.isResting = waiting !== "" && waiting !== this.spoken;
    if (this.isResting) {
      this.spoken = waiting;
      this.place.textContent = waiting;
      setTimeout(() => this.speak(), EVERY);
    }
  }
}
