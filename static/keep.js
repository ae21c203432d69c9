/** The button that leaves the file which is watched on the server. */

import { byId, element } from "./viewer/elements.js";

const keep = byId("keep");
const button = byId("keep-button");
const words = byId("keep-words");
const largest = Number(keep.dataset.largest);

/** @type {File | null} */
let shown = null;

/**
 * Say how it stands beside the button.
 * @param {boolean} refused
 * @param {...(string | Node)} parts
 */
function say(refused, ...parts) {
  words.classList.toggle("refused", refused);
  words.replaceChildren(...parts);
}

/**
 * Send a file; give where its replay is watched from now on.
 * @param {File} file
 * @returns {Promise<{address: string, name: string, is_new: boolean}>}
 */
async function send(file) {
  if (file.size > largest) {
    throw new Error(`The server takes files of up to ${largest / 1024 / 1024} MiB: pack it with gzip.`);
  }
  let answer;
  try {
    answer = await fetch(String(keep.dataset.address), { method: "POST", body: file });
  } catch {
    throw new Error("The server does not answer, or the file has changed.");
  }
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new Error(`The server refuses it: ${said.error ?? answer.status}.`);
  }
  return said;
}

/** Keep the file that is watched, and link to its page. */
async function keepShown() {
  const file = shown;
  if (!file) {
    return;
  }
  button.disabled = true;
  say(false, "Sending it.");
  try {
    const { address, name, is_new: isNew } = await send(file);
    if (file === shown) {
      const link = element("a", "", name);
      link.href = address;
      say(false, isNew ? "It is kept: " : "It was here before: ", link);
    }
  } catch (error) {
    if (file === shown) {
      button.disabled = false;
      say(true, error instanceof Error ? error.message : String(error));
    }
  }
}

button.addEventListener("click", () => void keepShown());
document.addEventListener("file-shown", (event) => {
  shown = /** @type {CustomEvent<File>} */ (event).detail;
  button.disabled = false;
  keep.hidden = false;
  say(false, "Only this browser has it so far.");
});
