/** A document as lines of text, and the view that shows them. */

import { element } from "../shared/dom.js";
import { isRecord } from "./json.js";

const MOST_LINES = 500;
const MOST_MEMBERS = 100;
const DEEPEST = 8;
const WIDEST = 96;
const LONGEST_KEY = 60;

/** Maximum letters per cell of a board shown as text. */
const WIDEST_PLACE = 6;

/**
 * One line; `isNew` if it differs from the previous turn.
 * @typedef {{depth: number, key: string, text: string, isNew: boolean}} Line
 */

/**
 * Return a value as one line.
 * @param {unknown} value
 * @param {number} longest letters
 * @returns {string} truncated with "…"
 */
export function brief(value, longest) {
  const parts = new Parts(longest);
  parts.add(value);
  return parts.text.length > longest ? `${parts.text.slice(0, longest - 1)}…` : parts.text;
}

/**
 * Return an action as one readable line, without the punctuation of a document.
 * @param {unknown} action
 * @param {number} longest letters
 * @returns {string} truncated with "…"
 */
export function actionWords(action, longest) {
  const plain = (/** @type {unknown} */ value) => brief(value, longest).replace(/^"(.*)"$/s, "$1").replace(/[[\]{}"]/g, "");
  const text = isRecord(action)
    ? Object.keys(action).slice(0, MOST_MEMBERS).map((key) => `${key.slice(0, LONGEST_KEY)} ${plain(action[key])}`).join(", ")
    : plain(action);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

/** A text that stops growing when it is too long, as values may be huge. */
class Parts {
  /** @param {number} longest */
  constructor(longest) {
    this.longest = longest;
    this.text = "";
  }

  /** @param {unknown} value */
  add(value) {
    if (this.text.length > this.longest) {
      return;
    }
    if (Array.isArray(value)) {
      this.list("[", "]", value, (member) => this.add(member));
    } else if (isRecord(value)) {
      this.list("{", "}", Object.keys(value), (key) => {
        this.text += `${key.slice(0, LONGEST_KEY)}: `;
        this.add(value[key]);
      });
    } else {
      this.text += typeof value === "string" ? `"${value.slice(0, this.longest)}"` : String(value);
    }
  }

  /**
   * @template Member
   * @param {string} open
   * @param {string} close
   * @param {Member[]} members
   * @param {(member: Member) => void} add
   */
  list(open, close, members, add) {
    this.text += open;
    for (const [index, member] of members.entries()) {
      if (this.text.length > this.longest) {
        return;
      }
      this.text += index ? ", " : "";
      add(member);
    }
    this.text += close;
  }
}

/**
 * Return a document as lines, as many as are readable.
 * @param {unknown} value
 * @param {unknown} before the previous turn's document; unchanged parts are the same objects
 * @returns {Line[]}
 */
export function linesOf(value, before) {
  /** @type {Line[]} */
  const lines = [];
  addMembers(lines, value, before, 0);
  if (lines.length >= MOST_LINES) {
    lines.push({ depth: 0, key: "", text: "… and more", isNew: false });
  }
  return lines;
}

/**
 * @param {Line[]} lines
 * @param {unknown} value an object or a list
 * @param {unknown} before
 * @param {number} depth
 */
function addMembers(lines, value, before, depth) {
  const keys = isRecord(value) || Array.isArray(value) ? Object.keys(value) : [];
  for (const key of keys.slice(0, MOST_MEMBERS)) {
    addLine(lines, key, memberOf(value, key), memberOf(before, key), depth);
  }
  if (keys.length > MOST_MEMBERS && lines.length < MOST_LINES) {
    lines.push({ depth, key: "", text: `… and ${keys.length - MOST_MEMBERS} more`, isNew: false });
  }
}

/**
 * @param {Line[]} lines
 * @param {string} key
 * @param {unknown} value
 * @param {unknown} before
 * @param {number} depth
 */
function addLine(lines, key, value, before, depth) {
  if (lines.length >= MOST_LINES) {
    return;
  }
  const text = brief(value, WIDEST);
  const isNew = value !== before;
  const line = { depth, key: key.slice(0, LONGEST_KEY), text, isNew };
  if (isGrid(value)) {
    lines.push({ ...line, text: "" });
    rowsOf(value).forEach((row) => lines.push({ depth: depth + 1, key: "", text: row, isNew }));
  } else if (text.endsWith("…") && typeof value === "object" && depth < DEEPEST) {
    lines.push({ ...line, text: Array.isArray(value) ? `list of ${value.length}` : "" });
    addMembers(lines, value, before, depth + 1);
  } else {
    lines.push(line);
  }
}

/**
 * Return whether a value is the grid of a board: rows of equal length, with a few letters per cell.
 * @param {unknown} value
 * @returns {value is unknown[][]}
 */
function isGrid(value) {
  const [first] = Array.isArray(value) ? value : [];
  if (!Array.isArray(first) || first.length < 2 || first.length > MOST_MEMBERS || /** @type {unknown[]} */ (value).length < 2) {
    return false;
  }
  return /** @type {unknown[]} */ (value).slice(0, MOST_MEMBERS).every((row) => Array.isArray(row) && row.length === first.length
    && row.every((place) => (typeof place !== "object" || place === null) && String(place).length <= WIDEST_PLACE));
}

/**
 * @param {unknown[][]} grid
 * @returns {string[]} its rows, with cells of equal width
 */
function rowsOf(grid) {
  const rows = grid.slice(0, MOST_MEMBERS);
  const width = Math.max(...rows.flat().map((place) => signOf(place).length));
  return rows.map((row) => row.map((place) => signOf(place).padStart(width)).join(" "));
}

/**
 * @param {unknown} place
 * @returns {string} a dot for nothing
 */
function signOf(place) {
  return place === null || place === "" ? "·" : String(place);
}

/**
 * @param {unknown} value
 * @param {string} key
 * @returns {unknown} undefined without such a member
 */
function memberOf(value, key) {
  const whole = /** @type {Record<string, unknown>} */ (value);
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? whole[key] : undefined;
}

/** Shows lines; reuses its elements from turn to turn. */
export class Outline {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {HTMLElement[]} */
    this.rows = [];
  }

  /** @param {Line[]} lines */
  show(lines) {
    while (this.rows.length < lines.length) {
      const row = element("p", "outline-line", element("b", ""), element("span", ""));
      this.rows.push(row);
      this.place.append(row);
    }
    this.rows.splice(lines.length).forEach((row) => row.remove());
    lines.forEach((line, index) => fillRow(this.rows[index], line));
  }
}

/**
 * @param {HTMLElement} row
 * @param {Line} line
 */
function fillRow(row, { depth, key, text, isNew }) {
  const [name, value] = /** @type {HTMLCollectionOf<HTMLElement>} */ (row.children);
  row.style.setProperty("--depth", String(depth));
  row.classList.toggle("fresh", isNew);
  name.textContent = key === "" ? "" : `${key}: `;
  value.textContent = text;
}
