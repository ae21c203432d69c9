/** Says how a match stands that cannot be watched yet, and shows it when it can. */

const EVERY = 1000;
const panel = /** @type {HTMLElement} */ (document.querySelector("[data-state]"));
const sentence = /** @type {HTMLElement} */ (document.querySelector("#sentence"));

/** @type {ReadonlySet<string>} */
const OPEN = new Set(["queued", "in_progress", "interrupted"]);

/** Ask how the match stands; answers true while that can change. */
async function look() {
  // The browser asks with the ETag of what it has, and is told 304 while nothing has changed.
  const answer = await fetch(panel.dataset.state ?? "", { cache: "no-cache" });
  if (!answer.ok) return answer.status >= 500;
  const said = await answer.json();
  if (said.state === "done") location.reload();
  sentence.textContent = said.sentence;
  return OPEN.has(said.state);
}

async function keepLooking() {
  let going = true;
  while (going) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    going = await look().catch(() => true);
  }
  document.querySelector(".bar")?.remove();
}

keepLooking();
