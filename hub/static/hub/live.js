/** Moves on to the next match: at once from a replay, and some seconds after the end of a live match. */

import { keepAsking } from "./status_polling.js";

const LINGERS = 5000;

const words = /** @type {HTMLElement} */ (document.querySelector("[data-live-state]"));
const { liveState, match, on } = words.dataset;

keepAsking(liveState ?? "", (state) => {
  if (state.match === match && String(state.on) === on) return true;
  if (on !== "true" && !state.on && match) return true;
  setTimeout(() => location.reload(), on === "true" ? LINGERS : 0);
  return false;
});
