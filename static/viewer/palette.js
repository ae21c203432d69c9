/**
 * How players are distinguished: by a colour suited to every kind of colour vision, and by a letter and a mark that
 * need no colour.
 */

/** Pairs of colours, for light and dark backgrounds. */
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

/**
 * Outlines that are distinct at seven pixels, around (0, 0) with half a side of 1: disc, triangle, square, plus,
 * triangle on its head, ring, flat bar, upright bar. Diamonds and crosses mean other things.
 */
const MARKS = [
  "M1 0A1 1 0 1 1-1 0 1 1 0 1 1 1 0Z",
  "M0-1.1 1.1.85H-1.1Z",
  "M-.85-.85H.85V.85H-.85Z",
  "M-.38-1H.38V-.38H1V.38H.38V1H-.38V.38H-1V-.38H-.38Z",
  "M0 1.1 1.1-.85H-1.1Z",
  "M1.1 0A1.1 1.1 0 1 1-1.1 0 1.1 1.1 0 1 1 1.1 0ZM.5 0A.5.5 0 1 0-.5 0 .5.5 0 1 0 .5 0Z",
  "M-1.1-.5H1.1V.5H-1.1Z",
  "M-.5-1.1H.5V1.1H-.5Z",
];

const PATHS = MARKS.map((outline) => new Path2D(outline));

/**
 * Return the colour of a player.
 * @param {number} seat counted from 0
 * @param {boolean} dark whether the background is dark
 * @returns {string}
 */
export function colourOf(seat, dark) {
  return COLOURS[seat % COLOURS.length][dark ? 1 : 0];
}

/**
 * Return the letter of a player: A to Z, then AA, AB and so on.
 * @param {number} seat
 * @returns {string}
 */
export function letterOf(seat) {
  const rest = String.fromCharCode(65 + (seat % 26));
  return seat < 26 ? rest : letterOf(Math.floor(seat / 26) - 1) + rest;
}

/**
 * Return the outline of a player's mark in SVG syntax, around (0, 0) with half a side of 1.
 * @param {number} seat
 * @returns {string}
 */
export function outlineOf(seat) {
  return MARKS[seat % MARKS.length];
}

/**
 * Return the same outline for a canvas.
 * @param {number} seat -1 for no player's, a disc
 * @returns {Path2D}
 */
export function pathOf(seat) {
  return PATHS[Math.max(seat, 0) % PATHS.length];
}

/**
 * Colour an element as a player's: its style sheet uses var(--player).
 * @param {HTMLElement | SVGElement} element
 * @param {number} seat
 */
export function paintElement(element, seat) {
  element.style.setProperty("--player", playerColour(seat));
}

/**
 * Return the colour of a player in CSS, for both themes.
 * @param {number} seat
 * @returns {string}
 */
export function playerColour(seat) {
  const [light, dark] = COLOURS[seat % COLOURS.length];
  return `light-dark(${light}, ${dark})`;
}

/**
 * Return whether the page uses its dark colours.
 * @returns {boolean}
 */
export function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}
