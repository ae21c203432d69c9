/** Shows the status of a comparison of versions, and its verdict as soon as there is one. */

import { keepAsking } from "./status_polling.js";

const panel = /** @type {HTMLElement} */ (document.querySelector("[data-state]"));
const sentence = /** @type {HTMLElement} */ (document.querySelector("#sentence"));

keepAsking(panel.dataset.state ?? "", (state) => {
  if (state.state !== "running") location.reload();
  if (sentence.textContent !== state.sentence) sentence.textContent = state.sentence;
  return state.state === "running";
});
