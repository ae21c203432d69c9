/** Shows what the check of a bot has found as soon as it is known. */

import { keepAsking } from "./asking.js";

const panel = /** @type {HTMLElement} */ (document.querySelector("[data-state]"));
const { state = "", status = "", checked = "", address = "" } = panel.dataset;

keepAsking(state, (check) => {
  const isOver = check.status !== "PENDING" && (status === "PENDING" || check.checked_at !== checked);
  if (isOver) location.replace(address);
  return !isOver;
});
