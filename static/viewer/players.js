/** The cards of the players, and the leader. */

import { shortNumber } from "./chart.js";
import { element } from "../shared/dom.js";
import { badge, byId, flagOf, markPicture } from "./elements.js";
import { faultWords } from "./faults.js";
import { leadOf, leadWords, sharesOf, tieWords, unitOf } from "./lead.js";
import { paintElement, playerColour } from "./palette.js";
import { isFault, scoresOf, standings, standingWords, winnerOf } from "./words.js";

/** The bot name in replays for a seat played by a person. */
const PERSON = "human";

/** Maximum number of measures on a card; the chart has all. */
const MOST_NUMBERS = 3;

/** Maximum number of players for cards side by side with a large number. */
const FEW = 2;

/** Maximum length of a caption that fits on a phone in large type. */
const SHORT_CAPTION = 38;

/** The label of the final score in a game without measures. */
const FINAL = "score";

/**
 * @typedef {{name: string, row: HTMLElement, value: HTMLElement, unit: HTMLElement}} Line
 * @typedef {{
 *   card: HTMLElement, button: HTMLButtonElement, lines: Line[], leads: HTMLElement, standing: HTMLElement,
 * }} Card
 */

/** Cards with every player's numbers, and the bar of the leader. */
export class Players {
  /**
   * @param {import("./replay.js").Replay} replay
   * @param {import("./games/game.js").Game} game
   * @param {(seat: number) => void} choose
   */
  constructor(replay, game, choose) {
    this.replay = replay;
    this.game = game;
    this.cards = replay.seats.map((seat) => cardOf(seat, game, choose, replay.people?.[seat.key]));
    byId("players").replaceChildren(...this.cards.map(({ card }) => card));
    const isCrowd = this.cards.length > FEW || replay.people !== null;
    byId("players").classList.toggle("many", isCrowd);
    byId("viewer").classList.toggle("crowd", isCrowd);
    byId("shares").classList.toggle("halved", this.cards.length === FEW);
  }

  /**
   * Show the standing at a turn.
   * @param {unknown} frame
   * @param {number} turn
   * @param {number} focus the player whose view is shown, -1 for none
   */
  show(frame, turn, focus) {
    const { game, replay } = this;
    const ended = replay.over && turn === replay.last;
    const final = ended ? [scoresOf(replay)] : [];
    const numbers = game.measures.length ? game.measures.map(({ of }) => of(frame, replay, turn)) : final;
    const lead = leadOf(frame, replay, game, turn);
    const mover = ended ? null : game.mover?.(frame) ?? null;
    const moving = mover === null ? -1 : replay.seat(mover);
    const words = ended ? standingWords(replay) : [];
    this.cards.forEach((card, seat) => {
      card.lines.forEach((line, index) => fillLine(line, numbers[index]?.[seat]));
      card.button.setAttribute("aria-pressed", String(seat === focus));
      card.leads.hidden = ended || lead.seat !== seat;
      const standing = words[seat] ?? (moving === seat ? "to move" : "");
      card.standing.textContent = standing;
      // If the people are known, the cards show their rank all along.
      card.standing.hidden = standing === "" || (ended && Boolean(replay.people));
      card.card.classList.toggle("active", moving === seat || standing === "won");
    });
    this.showLead(frame, lead, ended);
    this.showCaption(lead, turn, ended);
  }

  /**
   * Show the most important fact over the board: the winner and the deciding fault, a fault in this turn, or the
   * leader.
   * @param {import("./lead.js").Lead} lead
   * @param {number} turn
   * @param {boolean} ended
   */
  showCaption(lead, turn, ended) {
    const { replay } = this;
    const fault = ended ? deciding(replay) : faultWords(replay.faults.get(turn) ?? [], replay);
    const words = ended ? [winnerOf(replay), fault].filter(Boolean).join(": ") : fault || leadWords(lead, replay);
    const tie = ended || fault ? "" : tieWords(lead);
    byId("lead").replaceChildren(words, element("span", "tie", tie));
    byId("lead").classList.toggle("fault", !ended && fault !== "");
    byId("lead").classList.toggle("long", words.length > SHORT_CAPTION);
  }

  /**
   * @param {unknown} frame
   * @param {import("./lead.js").Lead} lead
   * @param {boolean} ended
   */
  showLead(frame, lead, ended) {
    const { game, replay } = this;
    const best = ended ? standings(replay).filter(({ rank }) => rank === 1) : [];
    byId("lead").style.setProperty("--player", best.length === 1 ? playerColour(best[0].seat.index) : "");
    const total = lead.by === game.measures[0]?.name ? game.total?.(frame) ?? 0 : 0;
    byId("shares").replaceChildren(...sharesOf(lead, total).map(shareElement));
  }
}

/**
 * @param {import("./replay.js").Replay} replay that is over
 * @returns {string} whose fault decided it, "" without one
 */
function deciding(replay) {
  const { reason } = replay.document.result.outcome ?? {};
  const fault = replay.document.faults.at(-1);
  return fault && isFault(String(reason)) ? faultWords([fault], replay) : "";
}

/**
 * @param {number} share
 * @param {number} seat
 * @returns {HTMLElement}
 */
function shareElement(share, seat) {
  const bar = element("span", "share");
  paintElement(bar, seat);
  bar.style.setProperty("--share", String(share));
  return bar;
}

/**
 * @param {import("./replay.js").Seat} seat
 * @param {import("./games/game.js").Game} game
 * @param {(seat: number) => void} choose
 * @param {import("./replay.js").Person | undefined} person
 * @returns {Card}
 */
function cardOf(seat, game, choose, person) {
  const names = game.measures.length ? game.measures.slice(0, MOST_NUMBERS).map(({ name }) => name) : [FINAL];
  const lines = names.map(newLine);
  const name = element("span", "name", seat.bot === PERSON && seat.name !== "you" ? `${seat.name} (by hand)` : seat.name);
  name.title = seat.name;
  if (person?.flag) {
    name.prepend(flagOf(person));
  }
  const [leads, standing] = [element("span", "chip leads", "leads"), element("span", "chip standing")];
  const rank = person?.rank ? [element("span", "chip rank", `rank ${person.rank}`)] : [];
  const chips = element("span", "chips", ...rank, leads, standing);
  const who = element("span", "who", badge(seat.index), markPicture(seat.index));
  const button = element("button", "card", who, name, chips, element("span", "numbers", ...lines.map(({ row }) => row)));
  button.type = "button";
  button.addEventListener("click", () => choose(seat.index));
  const card = element("li", "", button);
  paintElement(card, seat.index);
  return { card, button, lines, leads, standing };
}

/**
 * @param {string} name of a measure
 * @returns {Line}
 */
function newLine(name) {
  const [value, unit] = [element("b", ""), element("span", "unit")];
  return { name, row: element("span", "number", value, " ", unit), value, unit };
}

/**
 * @param {Line} line
 * @param {number | undefined} number undefined if unknown
 */
function fillLine({ name, row, value, unit }, number) {
  row.hidden = number === undefined;
  value.textContent = shortNumber(number ?? 0);
  unit.textContent = unitOf(name, value.textContent);
}
