/** A line over time, as all charts of a hub are drawn; its values stand in a table beside it. */

import uPlot from "../vendor/uplot-1.6.32/uPlot.esm.js";

/**
 * How a chart is drawn.
 * @typedef {object} Look
 * @property {number} width
 * @property {number} height
 * @property {boolean} dots whether each value has a dot
 * @property {uPlot.Scales} scales
 * @property {uPlot.Axis} [y] what is special about the vertical axis
 */

/**
 * Draw a line into a place of the page, in its colours of now.
 * @param {HTMLElement} place
 * @param {[number[], number[]]} data seconds since 1970, and values
 * @param {Look} look
 * @returns {uPlot}
 */
export function lineChart(place, data, { width, height, dots, scales, y = {} }) {
  const [line, text, accent] = ["--line", "--muted", "--accent"].map((name) => ink(place, name));
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  return new uPlot({
    width,
    height,
    scales,
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    axes: [axis, { ...axis, ...y }],
    series: [{}, { stroke: accent, width: 2, points: { show: dots, size: 7, fill: accent } }],
  }, data, place);
}

/**
 * Draw anew whenever the width or the colours of the page change.
 * @param {() => void} draw
 */
export function keepDrawn(draw) {
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

/**
 * Give a colour of the page.
 * @param {HTMLElement} place
 * @param {string} name a custom property of its style
 * @returns {string}
 */
export function ink(place, name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  place.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
