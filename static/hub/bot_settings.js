/** Bot settings: shows what the bot has said as soon as that is known. */

import { byId, documentOf } from "../shared/dom.js";
import { Poller, Source } from "../shared/poller.js";

const EVERY = 1000;

/** Looks after which it is left: a bot may take 5 seconds, and others may be asked before. */
const MOST = 60;

const status = byId("status");
const probe = new Source(status.dataset.probe ?? "");
let looks = 0;

/**
 * Ask for the last probe, and show it if it is another than the one on the page.
 * @returns {Promise<boolean>} whether that was the last look
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
