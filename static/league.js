/** Keeps the page of a league up to date without a reload. */

import { byId, documentOf } from "./shared/dom.js";
import { Poller, Source } from "./shared/poller.js";
import { renew } from "./shared/renew.js";

const POLL_EVERY = 1000;

const { source: address = "", tag = "" } = byId("stand").dataset;
const source = new Source(address, tag);

/** Fetch the status, and show it if it has changed. */
async function refresh() {
  const answer = await source.ask();
  const fresh = answer && documentOf(await answer.text()).getElementById("league");
  if (fresh) {
    renew(byId("league"), fresh);
    document.title = String(fresh.dataset.title);
  }
}

/** @param {boolean} answers whether the server does */
function showLink(answers) {
  byId("notice").hidden = answers;
}

void new Poller(refresh, POLL_EVERY, showLink).run();
