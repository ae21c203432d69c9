/** Everything beside the board: the headline, the players' cards, the list of moves. */

import { countOf } from "../shared/counts.js";
import {
  boardText, detail, headline, lastMove, nameOf, pageTitle, standing,
} from "./words.js";

/**
 * Show a view in the page.
 * @param {import("./words.js").View} view
 */
export function showPage(view) {
  document.title = pageTitle(view);
  showStage(view);
  [1, 2].forEach((player) => showCard(view, player));
  showFacts(view);
  $("#board").attr("aria-label", boardText(view));
}

/** @param {import("./words.js").View} view */
function showStage(view) {
  const title = headline(view);
  $("#match").attr({ "data-phase": view.phase, "data-winner": view.winner });
  $("#headline").text(title).toggleClass("long", title.length > 28);
  $("#status").text(view.status.status);
  $("#detail").text(detail(view));
  $("#join").prop("hidden", view.phase !== "waiting");
  const { replay } = view.history;
  $("#replay").prop("hidden", !replay).attr("href", replay ?? "");
  view.scores.forEach((score, index) => {
    const share = /** @type {HTMLElement} */ ($(`#share-${index + 1}`)[0]);
    share.style.setProperty("--share", String(score / view.total));
  });
}

/**
 * @param {import("./words.js").View} view
 * @param {number} player
 */
function showCard(view, player) {
  const card = $(`#card-${player}`);
  const team = view.history.teams[player - 1];
  const name = team ?? "no team yet";
  card.toggleClass("absent", !team).toggleClass("active", view.turn === player);
  card.toggleClass("winner", view.winner === player);
  card.find("[data-name]").text(name);
  card.find(".name").attr("title", name)
    .toggleClass("long", name.length > 8).toggleClass("longer", name.length > 16);
  card.find(".score").toggleClass("long", view.scores[player - 1] > 99);
  card.find("[data-score]").text(view.scores[player - 1]);
  card.find("[data-unit]").text(view.scores[player - 1] === 1 ? "square" : "squares");
  card.find("[data-chip]").text(standing(view, player));
}

/** @param {import("./words.js").View} view */
function showFacts(view) {
  const { board_size: size } = view.status;
  $("#fact-size").text(`${size} × ${size}`);
  $("#fact-moves").text(view.history.moves.length);
  $("#fact-free").text(view.free);
  $("#fact-win").text(countOf(Math.ceil(view.total / 2), "square"));
}

/** The list of moves, newest first. */
export class MoveList {
  /** @param {HTMLOListElement} list */
  constructor(list) {
    this.list = list;
    /** @type {string[]} */
    this.names = [];
    /** @type {import("./words.js").History["moves"]} */
    this.moves = [];
  }

  /**
   * Add new moves; start over for another game.
   * @param {import("./words.js").View} view
   */
  show(view) {
    const { moves } = view.history;
    if (!this.isContinuedBy(moves) || view.names.join() !== this.names.join()) {
      this.list.replaceChildren();
      this.moves = [];
    }
    for (let index = this.moves.length; index < moves.length; index++) {
      this.list.prepend(moveItem(view, index));
    }
    this.names = view.names;
    this.moves = moves;
    $("#no-moves").prop("hidden", moves.length > 0);
  }

  /**
   * @param {import("./words.js").History["moves"]} moves
   * @returns {boolean}
   */
  isContinuedBy(moves) {
    return this.moves.every(([, move], index) => moves[index]?.[1] === move);
  }
}

/**
 * @param {import("./words.js").View} view
 * @param {number} index
 * @returns {Element}
 */
function moveItem(view, index) {
  const [player, move, points] = view.history.moves[index];
  const item = $("<li>", { class: `move by-${player}`, value: index + 1 });
  item.append($("<span>", { class: "number", "aria-hidden": "true" }).text(index + 1));
  item.append($("<span>", { class: "team" }).text(`${nameOf(view, player)}:`), " ");
  item.append($("<span>", { class: "what" }).text(move));
  if (points) {
    item.append(" ", $("<span>", { class: "points" }).text(`+${points}`));
  }
  return item[0];
}

/**
 * Return a sentence for screen readers that describes a view.
 * @param {import("./words.js").View} view
 * @returns {string}
 */
export function announcement(view) {
  const sentences = [`${headline(view)}.`];
  if (view.phase !== "playing") {
    sentences.push(detail(view));
  } else if (view.history.moves.length) {
    sentences.unshift(lastMove(view));
  }
  return sentences.join(" ");
}
