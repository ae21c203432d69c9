/** Playing on: from the turn that is shown a person takes a seat, and a bot the others. */

import { byId } from "./elements.js";

/** The dialog that begins a match with the position of a turn; not every page has one. */
export class PlayOn {
  constructor() {
    this.button = byId("play-on");
    this.turn = 0;
    /** The seat that is offered first. */
    this.mover = 0;
    this.button?.addEventListener("click", () => this.open());
    byId("play-on-cancel")?.addEventListener("click", () => byId("play-on-dialog")?.close());
  }

  /**
   * Offer the seats of a replay.
   * @param {import("./replay.js").Replay} replay
   */
  offer({ seats }) {
    byId("play-on-seat")?.replaceChildren(
      ...seats.map(({ index, letter, name }) => new Option(`${letter} ${name}`, String(index + 1))),
    );
  }

  /**
   * Take in which turn is shown: none is left to play at the end, and whoever is playing plays that match first.
   * @param {import("./replay.js").Replay} replay
   * @param {number} turn
   * @param {number} mover the seat that is to move, -1 where all act at once
   */
  show(replay, turn, mover) {
    if (this.button) {
      Object.assign(this, { turn, mover: Math.max(0, mover) });
      this.button.disabled = replay.over && turn === replay.last;
      this.button.hidden = !replay.over && Boolean(byId("viewer").dataset.key);
    }
  }

  /** Ask which seat, and against whom. */
  open() {
    const [dialog, seat, at] = [byId("play-on-dialog"), byId("play-on-seat"), byId("play-on-at")];
    if (dialog && seat && at) {
      byId("play-on-turn").textContent = String(this.turn);
      at.value = String(this.turn);
      seat.selectedIndex = this.mover;
      dialog.showModal();
    }
  }
}
