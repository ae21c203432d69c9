/** The cards of the players, and who leads. */

import { shortNumber } from "./chart.js";
import { element } from "../shared/dom.js";
import { badge, byId, flagOf, markPicture } from "./elements.js";
import { faultWords } from "./faults.js";
import { leadOf, leadWords, sharesOf, tieWords, unitOf } from "./lead.js";
import { paintElement, playerColour } from "./palette.js";
import { isFault, scoresOf, standings, standingWords, winnerOf } from "./words.js";

/** What replays call the bot of a seat at which a person played. */
const PERSON = "human";

/** Numbers of a card; the chart has all. */
const MOST_NUMBERS = 3;

/** Players up to which cards stand beside one another, with a large number. */
const FEW = 2;

/** Letters of a caption for which a phone has room in large type. */
const SHORT_CAPTION = 38;

/** What a card calls the final score of a game that has no numbers of its own. */
const FINAL = "score";

/**
 * @typedef {{name: string, row: HTMLElement, value: HTMLElement, unit: HTMLElement}} Line
 * @typedef {{
 *   card: HTMLElement, button: HTMLButtonElement, lines: Line[], leads: HTMLElement, standing: HTMLElement,
 * }} Card
 */

/** Cards with the numbers of every player, and the bar of who leads. */
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
   * Show how a turn stands.
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
      // Where it is known who played, a card has said their rank all along.
      card.standing.hidden = standing === "" || (ended && Boolean(replay.people));
      card.card.classList.toggle("active", moving === seat || standing === "won");
    });
    this.showLead(frame, lead, ended);
    this.showCaption(lead, turn, ended);
  }

  /**
   * Say the weightiest over the board: who won and by whose fault, who made a fault in this turn, or who leads.
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
 * @returns {string} whose fault decided it, "" where it was played out
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
 * @param {number | undefined} number undefined where it is not known
 */
function fillLine({ name, row, value, unit }, number) {
  row.hidden = number === undefined;
  value.textContent = shortNumber(number ?? 0);
  unit.textContent = unitOf(name, value.textContent);
}
