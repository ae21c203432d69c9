/** Refreshes a list every half minute, without a reload; an unchanged list transfers nothing. */

import { Poller, Source } from "../shared/poller.js";

const EVERY = 30_000;
const body = /** @type {HTMLElement} */ (document.querySelector("[data-renew]"));
const updated = /** @type {HTMLTimeElement | null} */ (document.querySelector("[data-updated] time"));
const list = new Source(body.dataset.renew ?? "");

/** Mark the viewer's own rows; everybody gets the same list. */
function markOwn() {
  for (const row of /** @type {NodeListOf<HTMLElement>} */ (body.querySelectorAll("[data-owner]"))) {
    const isOwn = row.dataset.owner === body.dataset.own;
    row.classList.toggle("own", isOwn);
    row.querySelector(".yours")?.toggleAttribute("hidden", !isOwn);
  }
}

async function renew() {
  const answer = await list.ask();
  if (!answer) return;
  const { rows, updated: moment } = await answer.json();
  // Our own server rendered the rows, and escaped what people wrote.
  body.innerHTML = rows;
  markOwn();
  if (updated) updated.dateTime = moment;
}

void new Poller(renew, EVERY).run({ later: true });
