/** The clock of the player to move, counted down here between two answers of the server. */

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Runs one clock at a time, on the card of the player whose turn it is. */
export class Clock {
  /** @param {HTMLElement[]} cards the cards of player 1 and 2 */
  constructor(cards) {
    this.faces = cards.map((card) => ({
      digits: card.querySelector("[data-clock]"),
      bar: card.querySelector("[data-bar]"),
    }));
    this.stop();
  }

  /** Clear both clocks. */
  stop() {
    this.face = null;
    this.faces.forEach(({ digits, bar }) => {
      digits.textContent = "";
      bar.style.setProperty("--left", 0);
    });
  }

  /**
   * Start the clock of a turn.
   * @param {number} player whose turn it is, 0 for nobody's
   * @param {number} timeLeft in milliseconds as the server said it, -1 for no limit
   * @param {number} limit the time for a turn in milliseconds
   * @param {number} heardAt when the server said it
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

  /** Show the time left now. */
  tick() {
    if (this.face) {
      const step = calm.matches ? 1000 : 100;
      const left = Math.ceil(Math.max(0, this.endsAt - performance.now()) / step) * step;
      this.face.digits.textContent = `${(left / 1000).toFixed(calm.matches ? 0 : 1)} s`;
      this.face.digits.classList.toggle("low", left <= 1000);
      this.face.bar.style.setProperty("--left", left / this.limit);
    }
  }
}
