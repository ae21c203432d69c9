/** Bot settings: shows what the bot has said as soon as that is known. */

const EVERY = 1000;

/** Looks after which it is left: a bot may take 5 seconds, and others may be asked before. */
const MOST = 60;

const status = /** @type {HTMLElement} */ (document.getElementById("status"));

/**
 * Ask for the last probe.
 * @returns {Promise<boolean>} whether it is another than the one on the page
 */
async function look() {
  const answer = await fetch(status.dataset.probe ?? "", { cache: "no-cache" });
  const said = await answer.json();
  if (!answer.ok || said.checked_at === status.dataset.checked || said.checked_at === "") {
    return false;
  }
  status.dataset.checked = said.checked_at;
  // Our own server has made it, and escaped what bots have said.
  status.replaceChildren(...new DOMParser().parseFromString(said.html, "text/html").body.childNodes);
  return true;
}

for (let looks = 0; looks < MOST; looks++) {
  await new Promise((resolve) => setTimeout(resolve, EVERY));
  if (await look().catch(() => false)) {
    break;
  }
}

export {};
