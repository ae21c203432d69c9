/** Bot settings: shows the bot's answer as soon as it is known. */

import { byId, documentOf } from "../shared/dom.js";
import { Poller, Source } from "../shared/poller.js";

const EVERY = 1000;

/** Maximum number of polls: a bot may take 5 seconds, and others may be asked first. */
const MOST = 60;

const status = byId("status");
const probe = new Source(status.dataset.probe ?? "");
let looks = 0;

/**
 * Fetch the last probe, and show it if it differs from the one on the page.
 * @returns {Promise<boolean>} whether polling is over
 */
async function look() {
  looks++;
  const answer = await probe.ask();
  const { checked_at: checkedAt, html } = answer ? await answer.json() : { checked_at: "", html: "" };
  if (checkedAt === "" || checkedAt === status.dataset.checked) {
    return looks >= MOST;
  }
  status.dataset.checked = checkedAt;
  status.replaceChildren(...documentOf(html).body.childNodes);
  return true;
}

void new Poller(look, EVERY).run({ later: true });
