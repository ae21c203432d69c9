/** Renews a list every half minute, without a reload; nothing is sent while nothing has changed. */

import { Poller, Source } from "../shared/poller.js";

const EVERY = 30_000;
const body = /** @type {HTMLElement} */ (document.querySelector("[data-renew]"));
const updated = /** @type {HTMLTimeElement | null} */ (document.querySelector("[data-updated] time"));
const list = new Source(body.dataset.renew ?? "");

/** Mark the rows of who looks; everybody is sent the same. */
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
  // Our own server has made them, and escaped what people have written.
  body.innerHTML = rows;
  markOwn();
  if (updated) updated.dateTime = moment;
}

void new Poller(renew, EVERY).run({ later: true });
