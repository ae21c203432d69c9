/** A line over time, as in all charts of a hub; a table beside it has the values. */

import uPlot from "../vendor/uplot-1.6.32/uPlot.esm.js";

/**
 * How a chart is drawn.
 * @typedef {object} Look
 * @property {number} width
 * @property {number} height
 * @property {boolean} dots whether each value has a dot
 * @property {uPlot.Scales} scales
 * @property {uPlot.Axis} [y] changes to the vertical axis
 * @property {{at: number, words: string}[]} [marks] times marked by a line across the chart
 */

/**
 * Draw a line into an element of the page, in the current colours.
 * @param {HTMLElement} place
 * @param {[number[], number[]]} data seconds since 1970, and values
 * @param {Look} look
 * @returns {uPlot}
 */
export function lineChart(place, data, { width, height, dots, scales, y = {}, marks = [] }) {
  const [line, text, accent] = ["--line", "--muted", "--accent"].map((name) => ink(place, name));
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  return new uPlot({
    width,
    height,
    scales,
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    axes: [axis, { ...axis, ...y }],
    hooks: { draw: [(chart) => drawMarks(chart, marks, text)] },
    series: [{}, { stroke: accent, width: 2, points: { show: dots, size: 7, fill: accent } }],
  }, data, place);
}

/**
 * Mark times by lines across a chart, with a word at the top of each.
 * @param {uPlot} chart
 * @param {{at: number, words: string}[]} marks
 * @param {string} colour
 */
function drawMarks(chart, marks, colour) {
  const { ctx: context, bbox: { left, top, width, height } } = chart;
  const pixels = devicePixelRatio;
  context.save();
  Object.assign(context, { strokeStyle: colour, fillStyle: colour, lineWidth: pixels, textAlign: "left", font: `${11 * pixels}px sans-serif` });
  context.setLineDash([3 * pixels, 3 * pixels]);
  for (const { at, words } of marks) {
    const x = chart.valToPos(at, "x", true);
    if (x < left || x > left + width) continue;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, top + height);
    context.stroke();
    context.fillText(words, x + 4 * pixels, top + 11 * pixels);
  }
  context.restore();
}

/**
 * Redraw whenever the width or the colours of the page change.
 * @param {() => void} draw
 */
export function keepDrawn(draw) {
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

/**
 * Return a colour of the page.
 * @param {HTMLElement} place
 * @param {string} name a custom property of its style
 * @returns {string}
 */
export function ink(place, name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  place.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
