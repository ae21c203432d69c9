/** Keeps the page of a championship as it stands, without a reload. */

import { byId } from "./viewer/elements.js";

const POLL_EVERY = 1000;
const REST_EVERY = 5000;
const PATIENCE = 10_000;

const stand = byId("stand");
const notice = byId("notice");

/** @returns {HTMLElement} */
function shown() {
  return byId("championship");
}

/** Ask how it stands, and show it if that has changed. */
async function refresh() {
  const answer = await fetch(String(stand.dataset.source), {
    headers: { "If-None-Match": String(stand.dataset.tag) },
    cache: "no-store",
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (answer.status === 304) {
    return;
  }
  if (!answer.ok) {
    throw new Error(`the server answers ${answer.status}`);
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("championship");
  if (fresh) {
    show(fresh);
    stand.dataset.tag = answer.headers.get("ETag") ?? "";
  }
}

/** @param {HTMLElement} fresh */
function show(fresh) {
  const before = shown().dataset.phase;
  renew(shown(), fresh);
  document.title = `${shown().dataset.title} | Championship`;
  if (shown().dataset.phase !== before) {
    byId("announcer").textContent = String(shown().dataset.title);
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
  const command = document.createElement("code");
  command.textContent = `cw serve --replays ${notice.dataset.folder}`;
  notice.replaceChildren(
    over
      ? "The championship is over, and this page is no longer served. It stays as it is; its replays are shown again by "
      : "The runner of this championship no longer answers. The page stays as it was; it is shown again by ",
    command,
  );
  notice.hidden = false;
}

/** Ask again and again, less often where nothing is being played. */
async function poll() {
  try {
    await refresh();
    notice.hidden = true;
  } catch {
    showSilence();
  }
  setTimeout(poll, shown().dataset.phase === "running" ? POLL_EVERY : REST_EVERY);
}

poll();
