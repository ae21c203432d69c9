/** The position from which a run starts: a turn of the replay named in the page's address, if any. */

import { element } from "../shared/dom.js";
import { byId } from "./elements.js";
import { wordsOf } from "./server.js";

/** Chooses the position. */
export class Position {
  /**
   * @param {{show: () => void, say: (words: string, isTrouble?: boolean) => void}} page
   * @param {import("./match.js").Match} match
   */
  constructor(page, match) {
    this.page = page;
    this.match = match;
    /** Whether the replay is shown; its current turn is then the chosen one. */
    this.isShown = false;
    /** The seats of a new game, and of the replay. */
    this.seats = [...byId("seat").options].map(({ text }) => text);
    /** @type {string[]} */
    this.players = [];
    this.place = document.getElementById("position");
    if (this.place) {
      byId("show-replay").addEventListener("click", () => void this.show());
      byId("from-turn").addEventListener("change", () => void this.show());
      byId("from-position").addEventListener("change", () => this.offerSeats());
      byId("from-turn").value = new URLSearchParams(location.search).get("from") ?? "0";
      void this.show();
    }
  }

  /** @returns {{replay?: string, turn?: number}} the parameters of a run */
  get request() {
    const isWanted = this.place && byId("from-position").checked;
    return isWanted ? { replay: this.place?.dataset.name, turn: byId("from-turn").valueAsNumber || 0 } : {};
  }

  /** Show the replay at the chosen turn. */
  async show() {
    const turn = byId("from-turn").valueAsNumber || 0;
    try {
      const replay = await this.match.load(this.place?.dataset.document ?? "");
      if (replay) {
        this.players = replay.document.players.map(({ name }, index) => `${index + 1} (${name})`);
        byId("from-turn").max = String(Math.max(0, replay.last - 1));
        this.offerSeats();
        this.match.visit(turn);
        this.isShown = true;
        this.point(this.match.turn);
        this.page.show();
      }
    } catch (error) {
      this.page.say(`The replay cannot be shown. ${wordsOf(error)}`, true);
    }
  }

  /** Record that another match is shown. */
  leave() {
    this.isShown = false;
  }

  /**
   * Record the current turn.
   * @param {number} turn
   */
  point(turn) {
    if (this.isShown) {
      byId("from-turn").value = String(turn);
    }
  }

  /** Offer the seats of the match that a run would start. */
  offerSeats() {
    const names = byId("from-position").checked && this.players.length ? this.players : this.seats;
    const { value } = byId("seat");
    byId("seat").replaceChildren(...names.map((name, index) => {
      const option = element("option", "", name);
      option.value = String(index + 1);
      return option;
    }));
    byId("seat").value = Number(value) <= names.length ? value : "1";
  }
}
