/** Ticks or clears all boxes of a table at once. */

import { element } from "../shared/dom.js";

for (const heading of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-tick-all]"))) {
  const boxes = /** @type {HTMLInputElement[]} */ (
    [...heading.closest("table")?.querySelectorAll("tbody input[type='checkbox']") ?? []]);
  const all = Object.assign(document.createElement("input"), { type: "checkbox" });
  const words = element("span", "unseen", heading.dataset.tickAll ?? "");
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  const label = element("label", "tick", words, element("span", "", heading.textContent ?? ""));
  label.prepend(all);
  heading.replaceChildren(label);
}
