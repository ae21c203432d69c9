/** Shows the result of a bot's check as soon as it is known. */

import { keepAsking } from "./status_polling.js";

const panel = /** @type {HTMLElement} */ (document.querySelector("[data-state]"));
const { state = "", status = "", checked = "", address = "" } = panel.dataset;

keepAsking(state, (check) => {
  const isOver = check.status !== "PENDING" && (status === "PENDING" || check.checked_at !== checked);
  if (isOver) location.replace(address);
  return !isOver;
});
