/** Shows what the check of a bot has found as soon as it is known. */

import { keepAsking } from "./asking.js";

const panel = /** @type {HTMLElement} */ (document.querySelector("[data-state]"));

keepAsking(panel.dataset.state ?? "", (check) => {
  const isOver = check.status !== "PENDING";
  if (isOver) location.reload();
  return !isOver;
});
