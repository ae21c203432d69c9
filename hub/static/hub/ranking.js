/** The Ranking page: the calendar, the gaps, the filter, and the current game. */

import { byId, element } from "../shared/dom.js";
import { Poller, Source } from "../shared/poller.js";
import { bindCalendars } from "./calendar.js";
import { bindGaps } from "./ranking_gap.js";

const EVERY = 15_000;

const now = byId("now");
const source = new Source(now.dataset.now ?? "");

/**
 * The last game when the page was loaded, "" if there was none. The page of another game does not name it: there it is
 * the server's first answer.
 */
let last = now.dataset.last;

/**
 * Show the current game.
 * @param {{running: string | null, next: string | null}} said
 */
function tell({ running, next }) {
  if (running) {
    now.textContent = "Game is currently running";
  } else if (!next) {
    now.textContent = "No game is planned";
  } else if (now.querySelector("time")?.dateTime !== next) {
    const time = Object.assign(element("time", ""), { dateTime: next });
    now.replaceChildren("Next game ", time);
  }
}

/** Fetch the current game. */
async function look() {
  const answer = await source.ask();
  if (!answer) {
    return;
  }
  const ranking = await answer.json();
  tell(ranking);
  last ??= ranking.last ?? "";
  if ((ranking.last ?? "") !== last) {
    byId("ended").hidden = false;
  }
}

bindCalendars();
bindGaps();
document.getElementById("filter")?.addEventListener("change", (event) => {
  /** @type {HTMLSelectElement} */ (event.target).form?.submit();
});
void new Poller(look, EVERY).run({ later: true });
