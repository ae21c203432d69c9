/** Says how a match stands that cannot be watched yet, and shows it when it can. */

import { keepAsking } from "./asking.js";

const panel = /** @type {HTMLElement} */ (document.querySelector("[data-state]"));
const sentence = /** @type {HTMLElement} */ (document.querySelector("#sentence"));

/** @type {ReadonlySet<string>} */
const OPEN = new Set(["queued", "in_progress", "interrupted"]);

keepAsking(panel.dataset.state ?? "", (said) => {
  if (said.state === "done") location.reload();
  if (sentence.textContent !== said.sentence) sentence.textContent = said.sentence;
  return OPEN.has(said.state);
}).then(() => document.querySelector(".bar")?.remove());
