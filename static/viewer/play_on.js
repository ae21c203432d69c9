/** Playing on: from the current turn, bots take the seats, or a person takes one of them. */

import { element } from "../shared/dom.js";
import { badge, byId } from "./elements.js";

/** The person at the page, as a form names them. */
const PERSON = "human";

/** Maximum number of seats with a choice of player; the default bot takes the rest. */
const MOST_SEATS = 12;

/** The dialog that starts a match from the position of a turn; not every page has one. */
export class PlayOn {
  constructor() {
    this.button = byId("play-on");
    this.turn = 0;
    /** The seat offered to a person. */
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
   * Create the choice of a seat's player: by default the player who had it, if that is a strategy of the server.
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
   * Replace other persons by bots: only one person plays.
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
   * Set the current turn. Playing on is disabled at the end, and hidden while the person plays in this match.
   * @param {import("./replay.js").Replay} replay
   * @param {number} turn
   * @param {number} mover the seat to move, -1 if all act at once
   */
  show(replay, turn, mover) {
    if (this.button) {
      Object.assign(this, { turn, mover: Math.max(0, mover) });
      this.button.disabled = replay.over && turn === replay.last;
      this.button.hidden = !replay.over && Boolean(byId("viewer").dataset.key);
    }
  }

  /** Open the dialog; if people can play by hand, the seat to move is offered to the person. */
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
 * Choose the default bot of a seat.
 * @param {HTMLSelectElement} seat
 */
function letBotPlay(seat) {
  const usual = [...seat.options].findLast(({ defaultSelected }) => defaultSelected);
  if (usual) {
    usual.selected = true;
  }
}
