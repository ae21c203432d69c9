/** The script of all pages of a hub. */

import { bindCards } from "./cards.js";
import { bindCopies } from "./copy.js";
import { keepTimes } from "./times.js";

for (const button of document.querySelectorAll("[data-dismiss]")) {
  button.addEventListener("click", () => button.parentElement?.remove());
}
keepTimes();
bindCards();
bindCopies();
