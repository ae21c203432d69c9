/** The clock of the player to move, which counts down between two answers of the server. */

/** @typedef {{digits: HTMLElement, bar: HTMLElement}} Face */

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Runs one clock at a time, on the card of the player to move. */
export class Clock {
  /** @param {HTMLElement[]} cards the cards of player 1 and 2 */
  constructor(cards) {
    this.faces = cards.map((card) => ({ digits: part(card, "clock"), bar: part(card, "bar") }));
    /** @type {Face | null} */
    this.face = null;
    this.endsAt = 0;
    this.limit = 1;
    this.stop();
  }

  /** Clear both clocks. */
  stop() {
    this.face = null;
    this.faces.forEach(({ digits, bar }) => {
      digits.textContent = "";
      bar.style.setProperty("--left", "0");
    });
  }

  /**
   * Start the clock of a turn.
   * @param {number} player the player to move, 0 for none
   * @param {number} timeLeft in milliseconds as reported, -1 for no limit
   * @param {number} limit the time for a turn in milliseconds
   * @param {number} heardAt when the server reported it
   */
  start(player, timeLeft, limit, heardAt) {
    this.stop();
    if (player && timeLeft < 0) {
      this.faces[player - 1].digits.textContent = "no time limit";
    } else if (player) {
      this.limit = limit;
      this.face = this.faces[player - 1];
      this.endsAt = heardAt + timeLeft;
      this.tick();
    }
  }

  /** Show the time left. */
  tick() {
    const { face } = this;
    if (face) {
      const step = calm.matches ? 1000 : 100;
      const left = Math.ceil(Math.max(0, this.endsAt - performance.now()) / step) * step;
      face.digits.textContent = `${(left / 1000).toFixed(calm.matches ? 0 : 1)} s`;
      face.digits.classList.toggle("low", left <= 1000);
      face.bar.style.setProperty("--left", String(left / this.limit));
    }
  }
}

/**
 * Return a part of a card.
 * @param {HTMLElement} card
 * @param {string} name
 * @returns {HTMLElement}
 */
function part(card, name) {
  return /** @type {HTMLElement} */ (card.querySelector(`[data-${name}]`));
}
