/** The calendar that opens from the date of a game: days with games are buttons. */

import { element } from "../shared/dom.js";

/** @typedef {{match: string, at: string}} Game */

const DAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];

/** A month of games. */
class Calendar {
  /** @param {HTMLElement} picker */
  constructor(picker) {
    this.picker = picker;
    this.body = /** @type {HTMLElement} */ (picker.querySelector("[popover]"));
    const month = new Date(picker.dataset.shown ?? "");
    this.year = month.getUTCFullYear();
    this.month = month.getUTCMonth();
    this.body.addEventListener("beforetoggle", (event) => {
      if (/** @type {ToggleEvent} */ (event).newState === "open") {
        void this.show();
      }
    });
    this.body.addEventListener("toggle", () => this.place());
  }

  /** Place it below the date. */
  place() {
    const box = /** @type {HTMLElement} */ (this.picker.querySelector(".date")).getBoundingClientRect();
    const left = Math.min(box.left, document.documentElement.clientWidth - this.body.offsetWidth - 12);
    this.body.style.left = `${Math.max(12, left)}px`;
    this.body.style.top = `${box.bottom + 6}px`;
  }

  /** The month as in addresses. */
  get name() {
    return `${this.year}-${String(this.month + 1).padStart(2, "0")}`;
  }

  /**
   * Move forward or back by a month.
   * @param {1 | -1} by
   */
  async turn(by) {
    const first = new Date(Date.UTC(this.year, this.month + by, 1));
    [this.year, this.month] = [first.getUTCFullYear(), first.getUTCMonth()];
    await this.show();
    /** @type {HTMLElement | null} */ (this.body.querySelector(by > 0 ? ".later" : ".earlier"))?.focus();
  }

  /** Show the month. */
  async show() {
    const address = new URL(this.picker.dataset.calendar ?? "", location.href);
    address.searchParams.set("month", this.name);
    const answer = await fetch(address).catch(() => null);
    /** @type {Record<string, Game[]>} */
    const games = answer?.ok ? await answer.json() : {};
    this.body.replaceChildren(this.heading(), this.table(games), element("div", "times"));
  }

  /** @returns {HTMLElement} */
  heading() {
    const words = new Intl.DateTimeFormat("en-GB", { year: "numeric", month: "long", timeZone: "UTC" })
      .format(Date.UTC(this.year, this.month, 1));
    const title = element("span", "", words);
    title.setAttribute("aria-live", "polite");
    return element("div", "heading", this.arrow(-1, "‹", "Previous month", "earlier"), title, this.arrow(1, "›", "Next month", "later"));
  }

  /**
   * @param {1 | -1} by
   * @param {string} sign
   * @param {string} words
   * @param {string} name
   * @returns {HTMLElement}
   */
  arrow(by, sign, words, name) {
    const button = Object.assign(element("button", name, sign), { type: "button" });
    button.setAttribute("aria-label", words);
    button.addEventListener("click", () => void this.turn(by));
    return button;
  }

  /**
   * @param {Record<string, Game[]>} games
   * @returns {HTMLElement}
   */
  table(games) {
    const before = (new Date(Date.UTC(this.year, this.month, 1)).getUTCDay() + 6) % 7;
    const days = new Date(Date.UTC(this.year, this.month + 1, 0)).getUTCDate();
    const cells = [...Array(before).fill(0), ...Array.from({ length: days }, (_, day) => day + 1)];
    const weeks = Array.from({ length: Math.ceil(cells.length / 7) }, (_, week) => cells.slice(7 * week, 7 * week + 7));
    const head = element("tr", "", ...DAYS.map((day) => element("th", "", day)));
    const rows = weeks.map((week) => element("tr", "", ...week.map((day) => element("td", "", ...this.day(day, games)))));
    return element("table", "", element("thead", "", head), element("tbody", "", ...rows));
  }

  /**
   * @param {number} day 0 for none
   * @param {Record<string, Game[]>} games
   * @returns {(Node | string)[]}
   */
  day(day, games) {
    const gamesOfDay = games[`${this.name}-${String(day).padStart(2, "0")}`] ?? [];
    if (!day || !gamesOfDay.length) {
      return day ? [String(day)] : [];
    }
    const button = Object.assign(element("button", "", String(day)), { type: "button" });
    if (gamesOfDay.some(({ match }) => match === this.picker.dataset.match)) {
      button.setAttribute("aria-current", "date");
    }
    button.addEventListener("click", () => (gamesOfDay.length === 1 ? this.go(gamesOfDay[0]) : this.list(gamesOfDay)));
    return [button];
  }

  /**
   * List the games of a day by time.
   * @param {Game[]} games
   */
  list(games) {
    const buttons = games.map((game) => {
      const words = new Date(game.at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
      const button = Object.assign(element("button", "", words), { type: "button" });
      button.addEventListener("click", () => this.go(game));
      return button;
    });
    this.body.querySelector(".times")?.replaceChildren(...buttons);
    buttons[0].focus();
  }

  /** @param {Game} game */
  go({ match }) {
    location.assign((this.picker.dataset.to ?? "").replace("MATCH", match));
  }
}

/** Make the dates of this page open their calendars. */
export function bindCalendars() {
  for (const picker of document.querySelectorAll(".picker")) {
    new Calendar(/** @type {HTMLElement} */ (picker));
  }
}
