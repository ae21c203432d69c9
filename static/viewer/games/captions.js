/** Scores and moves in words of a game that the viewer cannot read: told by the server, or by the page itself. */

import { askServer, bundleOfPage, Busy, placeOf } from "./drawings.js";
import { showingOf } from "./installed.js";

/** Turns that are asked for at once, and letters of their frames. */
const AT_ONCE = 400;
const LARGEST = 1_000_000;

/** Milliseconds until a server that was busy is asked again, and how often it is. */
const PAUSE = 1000;
const TRIES = 4;

/** @typedef {import("../replay.js").Replay} Replay */

/**
 * What is told of some turns: scores by seat, without a unit none, and words by player.
 * @typedef {{unit: string, scores: number[][], words: Record<string, string>[]}} Part
 */

/** What is told of the turns of a replay, as far as it is known. */
export class Captions {
  constructor() {
    this.unit = "";
    /** @type {number[][]} by turn */
    this.scores = [];
    /** @type {Record<string, string>[]} by turn */
    this.words = [];
  }

  /** @param {Part} part of the turns that follow those that are known */
  add({ unit, scores, words }) {
    this.unit = unit;
    this.scores.push(...scores);
    this.words.push(...words);
  }
}

/** @type {WeakMap<Replay, Captions>} */
const known = new WeakMap();

/**
 * Give what is told of a replay.
 * @param {Replay} replay
 * @returns {Captions} an empty one where nothing is
 */
export function captionsOf(replay) {
  const captions = known.get(replay) ?? new Captions();
  known.set(replay, captions);
  return captions;
}

/**
 * Find out what is told of the turns of a replay that are new; where nobody tells it, it is shown without.
 * @param {Replay} replay
 */
export async function learnCaptions(replay) {
  const { drawing, frames } = showingOf(replay.document.game);
  const captions = captionsOf(replay);
  if (!drawing || captions.words.length > replay.last) {
    return;
  }
  const bundle = await bundleOfPage();
  if (bundle) {
    captions.add(spread(bundle, replay.last));
    return;
  }
  let tries = frames ? TRIES : 0;
  while (tries > 0 && captions.words.length <= replay.last) {
    try {
      captions.add(await askServer(frames ?? "", replay, nextTurns(replay, captions), { captions: true }));
    } catch (error) {
      tries = error instanceof Busy ? tries - 1 : 0;
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
    }
  }
}

/**
 * @param {Replay} replay
 * @param {Captions} captions
 * @returns {number[]} as many turns as a request may hold
 */
function nextTurns(replay, { words: { length: first } }) {
  const size = JSON.stringify(replay.frame(first)).length;
  const most = Math.max(1, Math.min(AT_ONCE, Math.floor(LARGEST / size) - 3));
  return Array.from({ length: Math.min(most, replay.last + 1 - first) }, (_, index) => first + index);
}

/**
 * Give what the page tells; the scores of turns that it does not bring are those before them.
 * @param {import("./drawings.js").Bundle} bundle
 * @param {number} last
 * @returns {Part}
 */
function spread({ turns, captions: { unit, scores, words } }, last) {
  const all = Array.from({ length: last + 1 }, (_, turn) => placeOf(turns, turn));
  return {
    unit,
    scores: unit ? all.map((place) => scores[place]) : [],
    words: all.map((place, turn) => (turns[place] === turn ? words[place] : {})),
  };
}
