/** Replays in a game's own format, converted to documents for the viewer. */

import { fromCodeBattle } from "./games/code_battle_format.js";

/**
 * Each converts a file to a replay, or returns null for another format.
 * @type {((file: unknown) => import("./replay.js").ReplayDocument | null)[]}
 */
const READERS = [fromCodeBattle];

/**
 * Return the replay in a file of any known format, otherwise the file itself.
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
