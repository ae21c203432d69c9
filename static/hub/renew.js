/** Renews a list every half minute, without a reload; nothing is sent while nothing has changed. */

export {};

const EVERY = 30_000;
const body = document.querySelector("[data-renew]");
const updated = document.querySelector("[data-updated] time");

/**
 * Mark the rows of who looks; everybody is sent the same.
 * @param {HTMLElement} body
 */
function markOwn(body) {
  for (const row of body.querySelectorAll("[data-owner]")) {
    const isOwn = row instanceof HTMLElement && row.dataset.owner === body.dataset.own;
    row.classList.toggle("own", isOwn);
    row.querySelector(".yours")?.toggleAttribute("hidden", !isOwn);
  }
}

async function renew() {
  if (!(body instanceof HTMLElement)) return;
  // The browser asks with the ETag of what it has.
  const answer = await fetch(body.dataset.renew ?? "", { cache: "no-cache" });
  if (!answer.ok) return;
  const said = await answer.json();
  body.innerHTML = said.rows;
  markOwn(body);
  if (updated instanceof HTMLTimeElement) updated.dateTime = said.updated;
}

setInterval(() => {
  renew().catch(() => undefined);
}, EVERY);
