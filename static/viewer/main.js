/** The page with a viewer: takes the replay from the server, from the page itself, or from a file. */

import { byId } from "./elements.js";
import { Feed } from "./live.js";
import { Play } from "./play/play.js";
import { readReplay } from "./replay.js";
import { Viewer } from "./viewer.js";

const LARGEST_FILE = 256 * 1024 * 1024;

const viewer = new Viewer();
const root = byId("viewer");

/**
 * Show a replay, or say why it cannot be shown.
 * @param {() => Promise<Uint8Array<ArrayBuffer>>} load
 */
async function show(load) {
  byId("trouble").hidden = true;
  try {
    const replay = await readReplay(await load());
    root.hidden = false;
    viewer.open(replay);
    return true;
  } catch (error) {
    byId("title").textContent = "No replay";
    byId("trouble").textContent = error instanceof Error ? error.message : String(error);
    byId("trouble").hidden = false;
    return false;
  }
}

/**
 * @param {string} address
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) {
    throw new Error(`The server does not give this replay (${answer.status}).`);
  }
  return new Uint8Array(await answer.arrayBuffer());
}

/**
 * Give the replay that stands in the page, packed and in base64.
 * @param {string} text
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function decoded(text) {
  return Uint8Array.from(atob(text.trim()), (sign) => sign.charCodeAt(0));
}

/**
 * Watch a match that is being played, and play in it with its key.
 * @param {string} address of its document
 * @param {string} key "" to watch only
 */
function watchLive(address, key) {
  /** @type {Play | null} */
  let play = null;
  const feed = new Feed(address, key, {
    opened: (replay) => viewer.open(replay),
    grown: () => viewer.grow(),
    asked: (replay, yours) => play?.show(replay, yours),
    kept: (address) => {
      linkTo(byId("kept").getElementsByTagName("a")[0], address);
      byId("kept").hidden = address === "";
    },
    said: (words) => { Object.assign(byId("trouble"), { textContent: words, hidden: words === "" }); },
  });
  play = key ? new Play(viewer, feed) : null;
  void feed.run();
}

/**
 * Show a file of the viewer's machine; it goes nowhere by itself.
 * @param {File} file
 */
async function showFile(file) {
  const shown = await show(async () => {
    if (file.size > LARGEST_FILE) {
      throw new Error(`This file is larger than ${LARGEST_FILE} bytes.`);
    }
    return new Uint8Array(await file.arrayBuffer());
  });
  if (shown) {
    byId("shelf")?.setAttribute("hidden", "");
    document.dispatchEvent(new CustomEvent("file-shown", { detail: file }));
    byId("title").focus();
  }
}

/**
 * Take files that are chosen, or dropped anywhere on the page.
 * @param {HTMLInputElement} input
 */
function bindFiles(input) {
  input.addEventListener("change", () => input.files?.[0] && showFile(input.files[0]));
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const file = event.dataTransfer?.files[0];
    if (file) {
      void showFile(file);
    }
  });
}

/**
 * Show a link to another replay of this server, where the page names one.
 * @param {HTMLAnchorElement} link
 * @param {string | undefined} address
 */
function linkTo(link, address) {
  const there = address ? new URL(address, location.href) : null;
  if (there && there.origin === location.origin) {
    Object.assign(link, { href: there.href, hidden: false });
  }
}

const chooser = byId("file");
if (chooser) {
  bindFiles(chooser);
}
const { source, live, key, download } = root.dataset;
const address = source ?? live;
if (address && download) {
  Object.assign(byId("download"), { href: address, download, hidden: false });
}
for (const which of /** @type {const} */ (["previous", "next"])) {
  linkTo(byId(`${which}-replay`), root.dataset[which]);
}
const data = byId("replay-data");
if (live) {
  watchLive(live, key ?? "");
} else if (source) {
  void show(() => fetched(source));
} else if (data) {
  void show(() => decoded(data.text));
}
