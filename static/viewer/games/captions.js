/** Scores and moves as text for games that the viewer does not know, provided by the server or by the page. */

import { askServer, bundleOfPage, Busy, placeOf } from "./drawings.js";
import { showingOf } from "./installed.js";

/** Maximum turns of a request, and maximum characters of their frames. */
const AT_ONCE = 400;
const LARGEST = 1_000_000;

/** Milliseconds before a busy server is asked again, and the number of attempts. */
const PAUSE = 1000;
const TRIES = 4;

/** @typedef {import("../replay.js").Replay} Replay */

/**
 * The captions of some turns: scores by seat (no unit means no scores), and texts by player.
 * @typedef {{unit: string, scores: number[][], words: Record<string, string>[]}} Part
 */

/** The captions of a replay, as far as they are known. */
export class Captions {
  constructor() {
    this.unit = "";
    /** @type {number[][]} by turn */
    this.scores = [];
    /** @type {Record<string, string>[]} by turn */
    this.words = [];
  }

  /** @param {Part} part of the turns after the known ones */
  add({ unit, scores, words }) {
    this.unit = unit;
    this.scores.push(...scores);
    this.words.push(...words);
  }
}

/** @type {WeakMap<Replay, Captions>} */
const known = new WeakMap();

/**
 * Return the captions of a replay.
 * @param {Replay} replay
 * @returns {Captions} empty without any
 */
export function captionsOf(replay) {
  const captions = known.get(replay) ?? new Captions();
  known.set(replay, captions);
  return captions;
}

/**
 * Fetch the captions of new turns of a replay; if there are none, it is shown without.
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
 * Return the captions in the page; turns without scores get the scores before them.
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
