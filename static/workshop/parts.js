/** The parts of the page: on a wide screen code and match are beside the others, on a narrow one all are tabs. */

import { byId } from "./elements.js";

const NARROW = window.matchMedia("(max-width: 899px)");

/** Parts with a place of their own on a wide screen. */
const BESIDE = ["code", "picture"];

/** Shows one part at a time. */
export class Parts {
  /** @param {(part: string) => void} listener receives the visible part */
  constructor(listener) {
    this.listener = listener;
    this.part = "code";
    this.lower = "start";
    byId("parts").addEventListener("click", ({ target }) => {
      const tab = target instanceof Element ? target.closest("[data-part]") : null;
      if (tab instanceof HTMLElement) {
        this.show(tab.dataset.part ?? "");
      }
    });
    byId("parts").addEventListener("keydown", (event) => this.walk(event));
    NARROW.addEventListener("change", () => this.render());
    this.render();
  }

  /** @returns {HTMLElement[]} the visible tabs */
  get tabs() {
    const tabs = /** @type {HTMLElement[]} */ ([...byId("parts").children]);
    return tabs.filter((tab) => NARROW.matches || !BESIDE.includes(tab.dataset.part ?? ""));
  }

  /** @returns {string} the part of the selected tab */
  get current() {
    return NARROW.matches ? this.part : this.lower;
  }

  /**
   * Show a part.
   * @param {string} part
   */
  show(part) {
    this.part = part;
    if (!BESIDE.includes(part)) {
      this.lower = part;
    }
    this.render();
    this.listener(part);
  }

  /**
   * Show a part on a wide screen, if that hides neither the code nor the match.
   * @param {string} part
   */
  offer(part) {
    this.lower = part;
    this.render();
    this.listener(part);
  }

  /** Show the selected part. */
  render() {
    byId("workshop").dataset.part = this.part;
    for (const panel of document.querySelectorAll(".lower")) {
      /** @type {HTMLElement} */ (panel).hidden = panel.id !== `part-${this.lower}`;
    }
    for (const tab of this.tabs) {
      const isChosen = tab.dataset.part === this.current;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
  }

  /**
   * Move through the tabs with the arrow keys.
   * @param {KeyboardEvent} event
   */
  walk(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      event.preventDefault();
      event.stopPropagation();
      const { tabs } = this;
      const now = tabs.findIndex((tab) => tab.dataset.part === this.current);
      const next = tabs[(now + step + tabs.length) % tabs.length];
      this.show(next.dataset.part ?? "");
      next.focus();
    }
  }
}
