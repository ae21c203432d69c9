/** Keeps the page of a championship as it stands, without a reload. */

import { Announcer } from "./shared/announcer.js";
import { byId, element, parsed } from "./shared/dom.js";
import { Poller, Source } from "./shared/poller.js";

const POLL_EVERY = 1000;
const REST_EVERY = 5000;

const notice = byId("notice");
const { source: address = "", tag = "" } = byId("stand").dataset;
const source = new Source(address, tag);
const announcer = new Announcer(byId("announcer"));

/** @returns {HTMLElement} */
function shown() {
  return byId("championship");
}

/** Ask how it stands, and show it if that has changed. */
async function refresh() {
  const answer = await source.ask();
  const fresh = answer && parsed(await answer.text()).getElementById("championship");
  if (fresh) {
    show(fresh);
  }
}

/** @param {HTMLElement} fresh */
function show(fresh) {
  const before = shown().dataset.phase;
  renew(shown(), fresh);
  document.title = `${shown().dataset.title} | Championship`;
  if (shown().dataset.phase !== before) {
    announcer.say(String(shown().dataset.title));
  }
}

/**
 * Make an element equal to a fresh one, and keep what is equal: focus, what is scrolled or open.
 * @param {ChildNode} old
 * @param {ChildNode} fresh
 */
function renew(old, fresh) {
  if (old.isEqualNode(fresh)) {
    return;
  }
  if (!(old instanceof Element && fresh instanceof Element) || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return;
  }
  for (const { name } of [...old.attributes].filter(({ name }) => name !== "open")) {
    if (!fresh.hasAttribute(name)) {
      old.removeAttribute(name);
    }
  }
  for (const { name, value } of fresh.attributes) {
    old.setAttribute(name, value);
  }
  renewChildren(old, [...old.childNodes], [...fresh.childNodes]);
}

/**
 * @param {Element} old
 * @param {ChildNode[]} children
 * @param {ChildNode[]} fresh
 */
function renewChildren(old, children, fresh) {
  children.slice(fresh.length).forEach((child) => child.remove());
  fresh.forEach((child, index) => {
    if (index < children.length) {
      renew(children[index], child);
    } else {
      old.append(child);
    }
  });
}

/** Say that the server does not answer; what it said last stays. */
function showSilence() {
  const over = shown().dataset.phase === "over";
  notice.replaceChildren(
    over
      ? "The championship is over, and this page is no longer updated. To show its replays again: "
      : "The runner of this championship no longer answers, so this page stays as it was. To show it again: ",
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

void new Poller(refresh, () => (shown().dataset.phase === "running" ? POLL_EVERY : REST_EVERY), showLink).run();
