/** Keeps the times on a page up to date, by the server's clock. */

import { localTime, relative } from "./relative.js";

const EVERY = 5_000;

/** Milliseconds by which the server's clock is ahead of this machine's. */
const ahead = Date.parse(document.body.dataset.now ?? "") - Date.now() || 0;

/** Update all times on the page, including those added later. */
function renew() {
  const now = Date.now() + ahead;
  for (const time of document.querySelectorAll("time")) {
    const moment = Date.parse(time.dateTime);
    if (Number.isNaN(moment)) {
      continue;
    }
    const words = relative(moment, now);
    if (time.textContent !== words) {
      time.textContent = words;
    }
    time.title = localTime(moment);
  }
}

/** Update all times from now on. */
export function keepTimes() {
  renew();
  setInterval(renew, EVERY);
}
