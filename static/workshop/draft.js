/** The files on disk are the draft: typed text is soon saved there, and changes by others are loaded. */

import { byId, element } from "../shared/dom.js";
import { ask, Refused, wordsOf } from "./server.js";

/** Milliseconds after the last key, and the maximum after the first unsaved one. */
const SOON = 500;
const LATEST = 1500;

/** Milliseconds between checks of the disk, and before a failed request is repeated. */
const LOOK = 2000;

/**
 * A file as reported by the server.
 * @typedef {{name: string, text: string, digest: string}} File
 */

/** Keeps the editor and the disk in sync. */
export class Draft {
  /**
   * @param {import("./editor.js").Editor} editor
   * @param {string} main the file shown first
   */
  constructor(editor, main) {
    this.editor = editor;
    this.main = main;
    /** @type {Map<string, string>} the digest of each file on disk */
    this.digests = new Map();
    /** @type {Map<string, number>} since when files have unsaved changes */
    this.dirty = new Map();
    /** @type {Map<string, File | null>} others' version of files changed on both sides; null: deleted */
    this.conflicts = new Map();
    this.tag = "";
    this.timer = 0;
    this.saving = Promise.resolve();
    this.isTaking = false;
    this.isAway = false;
    byId("take-theirs").addEventListener("click", () => this.takeTheirs());
    byId("keep-mine").addEventListener("click", () => this.keepMine());
    byId("new-file").addEventListener("click", () => this.add());
    byId("files").addEventListener("keydown", (event) => this.walk(event));
    window.addEventListener("pagehide", () => void this.save(true));
  }

  /** Show the files, and check regularly for changes by others. */
  async open() {
    await this.look();
    this.show(this.main);
    setInterval(() => { if (!document.hidden) { void this.look(); } }, LOOK);
  }

  /** Load the files on disk. */
  async look() {
    try {
      const headers = { Accept: "application/json", ...(this.tag ? { "If-None-Match": this.tag } : {}) };
      const answer = await fetch(`${byId("workshop").dataset.base}files`, { headers, cache: "no-store" });
      if (answer.ok) {
        this.tag = answer.headers.get("ETag") ?? "";
        this.takeAll((await answer.json()).files);
      }
      this.noteAnswer();
    } catch (error) {
      this.isAway = true;
      this.say(wordsOf(error), true);
    }
  }

  /** Withdraw the message that the workshop does not answer. */
  noteAnswer() {
    if (this.isAway) {
      this.isAway = false;
      this.say(this.dirty.size ? "" : "Saved");
    }
  }

  /** @param {File[]} files */
  takeAll(files) {
    for (const file of files) {
      this.takeIn(file);
    }
    const names = new Set(files.map(({ name }) => name));
    for (const name of this.digests.keys()) {
      if (!names.has(name) && !this.dirty.has(name) && name !== this.editor.name) {
        this.digests.delete(name);
        this.editor.forget(name);
      }
    }
    this.showTabs();
  }

  /**
   * Load a file from disk; if both sides have changed, the author is asked when it is saved.
   * @param {File} file
   */
  takeIn({ name, text, digest }) {
    if (this.digests.get(name) === digest || this.dirty.has(name)) {
      return;
    }
    this.isTaking = true;
    this.editor.take(name, text);
    this.isTaking = false;
    if (this.digests.has(name)) {
      this.say(`${name} was changed elsewhere, and was reloaded.`);
    }
    this.digests.set(name, digest);
  }

  /**
   * Record a change by typing.
   * @param {string} name
   */
  noteChange(name) {
    if (this.isTaking) {
      return;
    }
    const since = this.dirty.get(name) ?? performance.now();
    this.dirty.set(name, since);
    this.showTabs();
    clearTimeout(this.timer);
    const left = since + LATEST - performance.now();
    this.timer = setTimeout(() => void this.save(), Math.max(0, Math.min(SOON, left)));
  }

  /**
   * Save all unsaved files.
   * @param {boolean} [isLeaving] the page, which the request outlives
   * @returns {Promise<void>}
   */
  save(isLeaving = false) {
    clearTimeout(this.timer);
    const save = async () => {
      await Promise.all([...this.dirty.keys()].map((name) => this.saveFile(name, isLeaving)));
    };
    this.saving = isLeaving ? save() : this.saving.then(save);
    return this.saving;
  }

  /**
   * @param {string} name
   * @param {boolean} isLeaving
   */
  async saveFile(name, isLeaving) {
    if (this.conflicts.has(name)) {
      return;
    }
    const text = this.editor.text(name);
    const base = this.digests.get(name) ?? "";
    try {
      /** @type {File} */
      const answer = await ask("PUT", `files/${encodeURIComponent(name)}`, { text, base }, { keepalive: isLeaving });
      this.digests.set(name, answer.digest);
      if (this.editor.text(name) === text) {
        this.dirty.delete(name);
      }
      this.say("Saved");
    } catch (error) {
      this.fail(name, error);
    }
    this.showTabs();
  }

  /**
   * @param {string} name
   * @param {unknown} error
   */
  fail(name, error) {
    if (error instanceof Refused && error.status === 409) {
      this.conflicts.set(name, error.report.now);
      this.showConflict();
      return;
    }
    this.say(`${name} is not saved: ${wordsOf(error)}`, true);
    this.timer = setTimeout(() => void this.save(), LOOK);
  }

  /** Load a file that both sides have changed from disk. */
  takeTheirs() {
    const [name, theirs] = [...this.conflicts][0] ?? ["", null];
    this.conflicts.delete(name);
    this.dirty.delete(name);
    this.digests.delete(name);
    if (theirs) {
      this.takeIn(theirs);
    }
    this.tag = "";
    void this.look();
    this.showConflict();
  }

  /** Overwrite the disk with the editor's text. */
  keepMine() {
    const [name, theirs] = [...this.conflicts][0] ?? ["", null];
    this.conflicts.delete(name);
    this.digests.set(name, theirs?.digest ?? "");
    this.showConflict();
    void this.save();
  }

  /** Ask about the first file that both sides have changed. */
  showConflict() {
    const name = [...this.conflicts.keys()][0];
    byId("conflict").hidden = name === undefined;
    byId("conflict-file").textContent = name ?? "";
    if (name !== undefined) {
      this.show(name);
    }
  }

  /** Add a file. */
  add() {
    const name = window.prompt("Name of the new file")?.trim();
    if (name && !this.editor.has(name)) {
      this.editor.take(name, "");
      this.dirty.set(name, performance.now());
      this.show(name);
      void this.save();
    }
  }

  /**
   * Show a file.
   * @param {string} name
   * @param {number} [line] to go to
   */
  show(name, line) {
    if (!this.editor.has(name)) {
      return;
    }
    this.editor.show(name);
    this.showTabs();
    if (line) {
      this.editor.goTo(line);
    }
  }

  /** Show a tab for each file. */
  showTabs() {
    const names = [...new Set([...this.digests.keys(), ...this.dirty.keys()])];
    const hadFocus = byId("files").contains(document.activeElement);
    byId("files").replaceChildren(...names.map((name) => this.tab(name)));
    if (hadFocus) {
      /** @type {HTMLElement | null} */ (byId("files").querySelector("[aria-selected=true]"))?.focus();
    }
  }

  /**
   * @param {string} name
   * @returns {HTMLElement}
   */
  tab(name) {
    const isShown = name === this.editor.name;
    const tab = element("button", "", name);
    tab.type = "button";
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", String(isShown));
    tab.setAttribute("aria-controls", "editor");
    tab.tabIndex = isShown ? 0 : -1;
    tab.classList.toggle("dirty", this.dirty.has(name));
    tab.addEventListener("click", () => this.show(name));
    return tab;
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
      const tabs = /** @type {HTMLElement[]} */ ([...byId("files").children]);
      const now = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
      this.show(tabs[(now + step + tabs.length) % tabs.length].textContent ?? "");
    }
  }

  /**
   * @param {string} words
   * @param {boolean} [isTrouble]
   */
  say(words, isTrouble = false) {
    byId("saved").textContent = words;
    byId("saved").classList.toggle("refused", isTrouble);
  }
}
