/** Keeps the score of a challenge up to date until its last match is over. */

import { documentOf } from "../shared/dom.js";
import { keepAsking } from "./status_polling.js";

const standing = /** @type {HTMLElement} */ (document.querySelector("#standing"));

keepAsking(standing.dataset.state ?? "", (report) => {
  standing.replaceChildren(...documentOf(report.standing).body.childNodes);
  return !report.isOver;
}).then(() => document.querySelector("#stop")?.remove());
