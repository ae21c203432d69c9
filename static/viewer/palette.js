/**
 * How players are told apart: a colour that stays apart for every kind of colour vision, and a
 * letter and a mark that need no colour.
 */

/** Pairs of colours, for a light and for a dark ground. */
export const COLOURS = [
  ["#0a63b0", "#6cb8ff"],
  ["#b54700", "#ffa24f"],
  ["#00705a", "#45d6a6"],
  ["#a0247c", "#f48fd3"],
  ["#6f5a00", "#f0d848"],
  ["#00728c", "#62dcee"],
  ["#8c1c1c", "#ff8d86"],
  ["#5546b0", "#b9abff"],
];

/** @type {((path: Path2D, r: number) => void)[]} */
const MARKS = [
  (path, r) => path.arc(0, 0, r, 0, 7),
  (path, r) => polygon(path, 3, r * 1.15, -Math.PI / 2),
  (path, r) => path.rect(-r * 0.82, -r * 0.82, r * 1.64, r * 1.64),
  (path, r) => polygon(path, 4, r * 1.15, 0),
  (path, r) => { path.rect(-r, -r * 0.32, 2 * r, 0.64 * r); path.rect(-r * 0.32, -r, 0.64 * r, 2 * r); },
  (path, r) => polygon(path, 6, r, 0),
  (path, r) => path.rect(-r, -r * 0.42, 2 * r, 0.84 * r),
  (path, r) => path.rect(-r * 0.42, -r, 0.84 * r, 2 * r),
];

/**
 * Give the colour of a player.
 * @param {number} seat counted from 0
 * @param {boolean} dark whether the ground is dark
 * @returns {string}
 */
export function colourOf(seat, dark) {
  return COLOURS[seat % COLOURS.length][dark ? 1 : 0];
}

/**
 * Give the letter of a player: A to Z, then AA, AB and so on.
 * @param {number} seat
 * @returns {string}
 */
export function letterOf(seat) {
  const rest = String.fromCharCode(65 + (seat % 26));
  return seat < 26 ? rest : letterOf(Math.floor(seat / 26) - 1) + rest;
}

/**
 * Give the outline of a player's mark around (0, 0).
 * @param {number} seat
 * @param {number} r half its size
 * @returns {Path2D}
 */
export function markOf(seat, r) {
  const path = new Path2D();
  MARKS[seat % MARKS.length](path, r);
  return path;
}

/**
 * Colour an element as a player's: its style sheet uses var(--player).
 * @param {HTMLElement} element
 * @param {number} seat
 */
export function paintElement(element, seat) {
  const [light, dark] = COLOURS[seat % COLOURS.length];
  element.style.setProperty("--player", `light-dark(${light}, ${dark})`);
}

/**
 * Tell whether the page is shown in its dark colours.
 * @returns {boolean}
 */
export function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/**
 * @param {Path2D} path
 * @param {number} corners
 * @param {number} r
 * @param {number} from angle of the first corner
 */
function polygon(path, corners, r, from) {
  for (let corner = 0; corner < corners; corner++) {
    const angle = from + (corner * 2 * Math.PI) / corners;
    path.lineTo(r * Math.cos(angle), r * Math.sin(angle));
  }
  path.closePath();
}
