/** The page with a viewer: gets the replay from the server, from the page itself, or from a file. */

import { byId } from "./elements.js";
import { endingOf } from "./ending.js";
import { learnCaptions } from "./games/captions.js";
import { loadModule } from "./games/installed.js";
import { Feed } from "./live.js";
import { Play } from "./play/play.js";
import { readReplay } from "./replay.js";
import { Viewer } from "./viewer.js";

const LARGEST_FILE = 256 * 1024 * 1024;

const viewer = new Viewer();
const root = byId("viewer");
const LOADING = byId("title").textContent;

/**
 * Show a replay, or why it cannot be shown.
 * @param {() => Promise<Uint8Array<ArrayBuffer>>} load
 */
async function show(load) {
  say("", "");
  try {
    const people = root.dataset.people ? peopleAt(root.dataset.people) : null;
    const replay = await readReplay(await load());
    await loadModule(replay.document.game);
    await learnCaptions(replay);
    root.hidden = false;
    if (people) {
      replay.introduce(await people);
    }
    viewer.open(replay);
    sayIfEndedAtOnce();
    return true;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "No replay");
    return false;
  }
}

/**
 * Show an error: in place of the board, or above the current one.
 * @param {string} words "" for nothing
 * @param {string} title of a page with nothing else to show
 */
function say(words, title) {
  Object.assign(byId("trouble"), { textContent: words, hidden: words === "" });
  if (root.dataset.state !== "ready") {
    root.dataset.state = words ? "trouble" : "empty";
    byId("title").textContent = words ? title : LOADING;
  }
}

/** Say why a match ended before its first turn: its board does not show it. */
function sayIfEndedAtOnce() {
  const { replay, game } = viewer;
  if (replay?.over && replay.last === 0 && game) {
    say(endingOf(replay, game), "");
  }
}

/**
 * Fetch who played. If that fails, the names in the replay are used.
 * @param {string} address
 * @returns {Promise<Record<string, import("./replay.js").Person>>} by userid
 */
async function peopleAt(address) {
  const answer = await fetch(address, { cache: "no-cache" }).catch(() => null);
  if (!answer?.ok) {
    return {};
  }
  /** @type {{people: [number, string, number, string | null][], countries: Record<string, {name: string, flag: string}>}} */
  const { people, countries } = await answer.json();
  return Object.fromEntries(people.map(([userid, name, rank, code]) => {
    const country = countries[code ?? ""];
    return [userid, { name, rank, country: country?.name ?? "", flag: country?.flag ?? "" }];
  }));
}

/**
 * @param {string} address
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function fetchBytes(address) {
  const answer = await fetch(address);
  if (!answer.ok) {
    throw new Error(`The server did not return this replay (${answer.status}).`);
  }
  return new Uint8Array(await answer.arrayBuffer());
}

/**
 * Fetch the address named in the page's address; the policy permits this site and its store.
 * @param {string} address
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
function fetchNamed(address) {
  return fetchBytes(address).catch((error) => {
    throw error instanceof TypeError
      ? new Error("This page can show only replays of this site and its store.")
      : error;
  });
}

/**
 * Show the replay named in the page's address.
 * @param {string} address
 */
async function showNamed(address) {
  if (await show(() => fetchNamed(address))) {
    byId("shelf")?.setAttribute("hidden", "");
  }
}

/**
 * Return the replay in the page, which is compressed and in base64.
 * @param {string} text
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function decoded(text) {
  return Uint8Array.from(atob(text.trim()), (sign) => sign.charCodeAt(0));
}

/**
 * Watch a match in progress, and play in it with its key.
 * @param {string} address of its document
 * @param {string} key "" to watch only
 */
function watchLive(address, key) {
  /** @type {Play | null} */
  let play = null;
  const feed = new Feed(address, key, {
    open: (replay) => {
      viewer.open(replay);
      sayIfEndedAtOnce();
    },
    grow: () => {
      viewer.grow();
      sayIfEndedAtOnce();
    },
    ask: (replay, yours) => play?.show(replay, yours),
    keep: (address) => {
      if (!byId("kept")) return;
      linkTo(byId("kept").getElementsByTagName("a")[0], address);
      byId("kept").hidden = address === "";
    },
    say: (words, waits) => {
      say(words, waits ? "Waiting for the match" : "No match");
      byId("trouble").classList.toggle("waits", waits);
    },
  }, Number(root.dataset.every) || undefined);
  play = key ? new Play(viewer, feed) : null;
  void feed.run();
}

/**
 * Show a local file; it is not uploaded by itself.
 * @param {File} file
 */
async function showFile(file) {
  const isShown = await show(async () => {
    if (file.size > LARGEST_FILE) {
      throw new Error(`This file is larger than ${LARGEST_FILE} bytes.`);
    }
    return new Uint8Array(await file.arrayBuffer());
  });
  if (isShown) {
    byId("shelf")?.setAttribute("hidden", "");
    document.dispatchEvent(new CustomEvent("file-shown", { detail: file }));
    byId("title").focus();
  }
}

/**
 * Accept files that are chosen, or dropped anywhere on the page.
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
 * Show a link to another replay on this server, if the page names one.
 * @param {HTMLAnchorElement} link
 * @param {string | undefined} address
 */
function linkTo(link, address) {
  const there = address ? new URL(address, location.href) : null;
  if (there && there.origin === location.origin) {
    Object.assign(link, { href: there.href, hidden: false });
  }
}

for (const link of document.querySelectorAll("a[data-from-turn]")) {
  link.addEventListener("click", () => {
    // It links to a page that starts at the current turn.
    const there = new URL(/** @type {HTMLAnchorElement} */ (link).href);
    there.searchParams.set("from", String(viewer.replay ? viewer.playback.turn : 0));
    Object.assign(link, { href: there.href });
  });
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
const queryAddress = chooser ? new URLSearchParams(location.search).get("url") : null;
if (live) {
  watchLive(live, key ?? "");
} else if (source) {
  void show(() => fetchBytes(source));
} else if (queryAddress) {
  void showNamed(queryAddress);
} else if (data) {
  void show(() => decoded(data.text));
}
