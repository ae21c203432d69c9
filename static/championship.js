/** Keeps the page of a championship up to date without a reload. */

import { Announcer } from "./shared/announcer.js";
import { byId, documentOf, element } from "./shared/dom.js";
import { Poller, Source } from "./shared/poller.js";
import { renew } from "./shared/renew.js";

const POLL_EVERY = 1000;
const REST_EVERY = 5000;

const notice = byId("notice");
const { source: address = "", tag = "" } = byId("stand").dataset;
const source = new Source(address, tag);
const announcer = new Announcer(byId("announcer"));

/** @returns {HTMLElement} */
function page() {
  return byId("championship");
}

/** Fetch the status, and show it if it has changed. */
async function refresh() {
  const answer = await source.ask();
  const fresh = answer && documentOf(await answer.text()).getElementById("championship");
  if (fresh) {
    show(fresh);
  }
}

/** @param {HTMLElement} fresh */
function show(fresh) {
  const before = page().dataset.phase;
  renew(page(), fresh);
  document.title = `${page().dataset.title} | Championship`;
  if (page().dataset.phase !== before) {
    announcer.say(String(page().dataset.title));
  }
}

/** Say that the server does not answer; its last status stays on the page. */
function showSilence() {
  const over = page().dataset.phase === "over";
  notice.replaceChildren(
    over
      ? "The championship is over, and this page is no longer updated. To show its replays again: "
      : "The runner of this championship no longer answers, and this page is no longer updated. To show it again: ",
    element("code", "", `cw serve --replays ${notice.dataset.folder}`),
  );
  notice.hidden = false;
}

/** @param {boolean} answers whether the server does */
function showLink(answers) {
  if (answers) {
    notice.hidden = true;
  } else {
    showSilence();
  }
}

void new Poller(refresh, () => (page().dataset.phase === "running" ? POLL_EVERY : REST_EVERY), showLink).run();
