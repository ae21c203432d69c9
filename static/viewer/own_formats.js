/** Replays in a game's own format, made into documents that the viewer draws. */

import { fromCodeBattle } from "./games/code_battle_format.js";

/**
 * Each gives the replay that a file tells, null for a file of another format.
 * @type {((file: unknown) => import("./replay.js").ReplayDocument | null)[]}
 */
const READERS = [fromCodeBattle];

/**
 * Give the replay of a file in any format, the file itself where no game knows its format.
 * @param {unknown} file
 * @returns {unknown}
 * @throws {Error} with a sentence for the viewer
 */
export function inArenaFormat(file) {
  for (const read of READERS) {
    const replay = read(file);
    if (replay) {
      return replay;
    }
  }
  return file;
}
