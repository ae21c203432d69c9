/** The cards of the players, and what each did in a turn. */

import { shortNumber } from "./chart.js";
import { badge, byId, element, markPicture } from "./elements.js";

/** Players whose deeds of a turn are listed. */
const MOST_LISTED = 24;

/** Cards with the numbers of every player. */
export class Players {
  /**
   * @param {import("./replay.js").Replay} replay
   * @param {import("./games/game.js").Game} game
   * @param {(seat: number) => void} chosen
   */
  constructor(replay, game, chosen) {
    this.replay = replay;
    this.game = game;
    this.cards = replay.seats.map((seat) => cardOf(seat, game, chosen));
    byId("players").replaceChildren(...this.cards.map(({ card }) => card));
    byId("players").classList.toggle("many", this.cards.length > 2);
  }

  /**
   * Show the numbers of a frame.
   * @param {unknown} frame
   * @param {number} focus the player whose view is shown, -1 for none
   */
  show(frame, focus) {
    const numbers = this.game.measures.map(({ of }) => of(frame, this.replay));
    this.cards.forEach(({ button, values }, seat) => {
      values.forEach((value, index) => { value.textContent = shortNumber(numbers[index][seat] ?? 0); });
      button.setAttribute("aria-pressed", String(seat === focus));
    });
  }
}

/**
 * @param {import("./replay.js").Seat} seat
 * @param {import("./games/game.js").Game} game
 * @param {(seat: number) => void} chosen
 * @returns {{card: HTMLElement, button: HTMLButtonElement, values: HTMLElement[]}}
 */
function cardOf(seat, game, chosen) {
  const values = game.measures.map(() => element("b", ""));
  const numbers = game.measures.map(({ name }, index) => element("span", "number", `${name} `, values[index]));
  const name = element("span", "name", seat.name);
  name.title = seat.name;
  const button = element("button", "card", badge(seat.index), markPicture(seat.index), name, element("span", "numbers", ...numbers));
  button.type = "button";
  button.addEventListener("click", () => chosen(seat.index));
  return { card: element("li", "", button), button, values };
}

/**
 * List what happened in a turn.
 * @param {HTMLElement} list
 * @param {import("./replay.js").Replay} replay
 * @param {import("./games/game.js").Happening[]} happenings
 * @param {import("./games/game.js").Event[]} events of the turn
 */
export function listHappenings(list, replay, happenings, events) {
  const rows = happenings.slice(0, MOST_LISTED).map(({ seat, text }) => {
    const name = element("b", "", replay.seats[seat]?.name ?? "");
    return element("li", "", badge(seat), element("span", "", name, ` ${text}`));
  });
  const marked = events.map(({ kind, text }) => element("li", `event ${kind}`, element("span", "", text)));
  const more = happenings.length - rows.length;
  const rest = more > 0 ? [element("li", "muted", `and ${more} more players`)] : [];
  list.replaceChildren(...marked, ...rows, ...rest);
}
