/** Shows the status of a match, and the match once it can be watched: live, or when it is over. */

import { keepAsking } from "./status_polling.js";

const panel = /** @type {HTMLElement} */ (document.querySelector("[data-state]"));
const sentence = /** @type {HTMLElement} */ (document.querySelector("#sentence"));

/** @type {ReadonlySet<string>} */
const OPEN = new Set(["queued", "in_progress", "interrupted"]);

const isWatched = document.querySelector("#viewer") !== null;

keepAsking(panel.dataset.state ?? "", (state) => {
  const isOpen = OPEN.has(state.state);
  if (state.state === "done" || (isWatched ? !isOpen : state.watched)) location.reload();
  if (!isWatched && sentence.textContent !== state.sentence) sentence.textContent = state.sentence;
  return isOpen;
}).then(() => document.querySelector(".bar")?.remove());
