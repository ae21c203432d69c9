/** Counts down to the next round of a ladder, by the server's clock. */

const SECOND = 1000;

/** Milliseconds by which the server's clock is ahead of this page's clock. */
const origin = Date.parse(document.body.dataset.now ?? "") - performance.now();

/**
 * Show the time until the next round.
 * @param {HTMLElement} live the part of the page with its start
 */
export function countDown(live) {
  const { next } = live.dataset;
  const line = live.querySelector(".top-lines p");
  if (!next || !line) return;
  const left = Math.max(0, Math.floor((Date.parse(next) - origin - performance.now()) / SECOND));
  const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  const words = (parts[0] ? parts : parts.slice(1)).map((part) => String(part).padStart(2, "0")).join(":");
  const text = (line.textContent ?? "").replace(/starts in [\d:]+\.$/, `starts in ${words}.`);
  if (line.textContent !== text) line.textContent = text;
}
