/** Uploads the replay shown in the viewer. */

import { element } from "./shared/dom.js";
import { byId } from "./viewer/elements.js";

const panel = byId("upload");
const button = byId("upload-button");
const words = byId("upload-words");
const largest = Number(panel.dataset.largest);

/** @type {File | null} */
let watched = null;

/**
 * Show the status beside the button.
 * @param {boolean} refused
 * @param {...(string | Node)} parts
 */
function say(refused, ...parts) {
  words.classList.toggle("refused", refused);
  words.replaceChildren(...parts);
}

/**
 * Send a file; return the address of its replay.
 * @param {File} file
 * @returns {Promise<{address: string, name: string, is_new: boolean}>}
 */
async function send(file) {
  if (file.size > largest) {
    throw new Error(`The server accepts files of up to ${largest / 1024 / 1024} MiB: compress it with gzip.`);
  }
  let answer;
  try {
    answer = await fetch(String(panel.dataset.address), { method: "POST", body: file });
  } catch {
    throw new Error("The server does not answer, or the file has changed.");
  }
  const payload = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new Error(`The server rejected it: ${payload.error ?? answer.status}.`);
  }
  return payload;
}

/** Upload the current file, and link to its page. */
async function uploadShown() {
  const file = watched;
  if (!file) {
    return;
  }
  button.disabled = true;
  say(false, "Uploading.");
  try {
    const { address, name, is_new: isNew } = await send(file);
    if (file === watched) {
      const link = element("a", "", name);
      link.href = address;
      say(false, isNew ? "Uploaded: " : "Already on this server: ", link);
    }
  } catch (error) {
    if (file === watched) {
      button.disabled = false;
      say(true, error instanceof Error ? error.message : String(error));
    }
  }
}

button.addEventListener("click", () => void uploadShown());
document.addEventListener("file-shown", (event) => {
  watched = /** @type {CustomEvent<File>} */ (event).detail;
  button.disabled = false;
  panel.hidden = false;
  say(false, "Only this browser has it so far.");
});
