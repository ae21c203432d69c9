/** Playing on: from the turn that is shown bots take the seats, or a person one of them. */

import { element } from "../shared/dom.js";
import { badge, byId } from "./elements.js";

/** How a form names the person at the page. */
const PERSON = "human";

/** Seats for which a player is chosen; the usual bot takes those after them. */
const MOST_SEATS = 12;

/** The dialog that begins a match with the position of a turn; not every page has one. */
export class PlayOn {
  constructor() {
    this.button = byId("play-on");
    this.turn = 0;
    /** The seat that a person is offered. */
    this.mover = 0;
    /** @type {HTMLSelectElement[]} */
    this.seats = [];
    this.button?.addEventListener("click", () => this.open());
    byId("play-on-cancel")?.addEventListener("click", () => byId("play-on-dialog")?.close());
  }

  /**
   * Offer the seats of a replay.
   * @param {import("./replay.js").Replay} replay
   */
  offer({ seats }) {
    const players = byId("play-on-players");
    if (players) {
      const offered = seats.slice(0, MOST_SEATS);
      this.seats = offered.map(({ index, bot }) => this.choice(index, bot, players.content));
      byId("play-on-seats").replaceChildren(
        ...offered.map(({ index, name }) => element("label", "row", badge(index), element("span", "name", name), this.seats[index])),
      );
    }
  }

  /**
   * Make the choice of who takes a seat: first whoever had it, if it was a strategy of the server.
   * @param {number} index
   * @param {string} bot
   * @param {DocumentFragment} players
   * @returns {HTMLSelectElement}
   */
  choice(index, bot, players) {
    const choice = element("select", "", players.cloneNode(true));
    choice.name = `seat-${index + 1}`;
    const before = [...choice.options].find(({ value }) => value === bot && value !== PERSON);
    if (before) {
      before.defaultSelected = true;
      before.selected = true;
    }
    choice.addEventListener("change", () => this.leaveOnePerson(choice));
    return choice;
  }

  /**
   * Let a bot have every seat but one: one person plays.
   * @param {HTMLSelectElement} choice
   */
  leaveOnePerson(choice) {
    for (const other of this.seats.filter((seat) => seat !== choice)) {
      if (choice.value === PERSON && other.value === PERSON) {
        letBotPlay(other);
      }
    }
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

  /** Ask who plays; where people play by hand, the person is offered the seat that is to move. */
  open() {
    const [dialog, at] = [byId("play-on-dialog"), byId("play-on-at")];
    if (dialog && at) {
      byId("play-on-turn").textContent = String(this.turn);
      at.value = String(this.turn);
      this.seats.forEach(letBotPlay);
      const [mine] = [...(this.seats[this.mover]?.options ?? [])].filter(({ value }) => value === PERSON);
      if (mine) {
        mine.selected = true;
      }
      dialog.showModal();
    }
  }
}

/**
 * Choose the bot that is offered first for a seat.
 * @param {HTMLSelectElement} seat
 */
function letBotPlay(seat) {
  const usual = [...seat.options].findLast(({ defaultSelected }) => defaultSelected);
  if (usual) {
    usual.selected = true;
  }
}
