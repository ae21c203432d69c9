/** What bots wrote to their standard error, where the server lets the page see it. */

import { badge, byId, element } from "./elements.js";

/**
 * Show what the bots of a match have put out; a page that may not see it has no place for it.
 * @param {import("./replay.js").Replay} replay that is over
 */
export async function showOutput(replay) {
  const part = byId("output-part");
  const address = byId("viewer").dataset.output;
  if (!part || !address) {
    return;
  }
  const answer = await fetch(address).catch(() => null);
  const output = answer?.ok ? (await answer.json()).output : [];
  const blocks = replay.seats.filter(({ index }) => output[index]).map((seat) => blockOf(seat, String(output[seat.index])));
  byId("output").replaceChildren(...blocks);
  part.hidden = blocks.length === 0;
  // The end says most: where a program crashed, the reason stands there.
  part.querySelectorAll("pre").forEach((text) => { text.scrollTop = text.scrollHeight; });
}

/**
 * @param {import("./replay.js").Seat} seat
 * @param {string} text
 * @returns {HTMLElement}
 */
function blockOf({ index, name }, text) {
  const words = element("pre", "scroller", text);
  words.tabIndex = 0;
  words.setAttribute("role", "region");
  words.setAttribute("aria-label", `Output of ${name}`);
  return element("div", "", element("h3", "", badge(index), name), words);
}
