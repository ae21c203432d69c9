/** The points of teams after each round, as lines; a table below has the values. */

import { ink, keepDrawn } from "./line_chart.js";
import uPlot from "../vendor/uplot-1.6.32/uPlot.esm.js";

const HEIGHT = 260;
const MOST = 5;

/** Lines differ by colour and by dashes, as in hub/static/hub/ladder.css. */
const COLOURS = ["--accent", "--two", "--one", "--danger", "--third", "--muted"];
const DASHES = [[], [10, 5], [3, 4], [14, 4, 3, 4], [6, 3], [2, 2]];

/** @type {uPlot | null} */
let chart = null;

/**
 * Return the values in the table.
 * @returns {{names: string[], data: [number[], ...number[][]]}}
 */
function totals() {
  const head = [...document.querySelectorAll("#totals thead th")].slice(1);
  const rows = [...document.querySelectorAll("#totals tbody tr")];
  const rounds = rows.map((_, index) => index);
  const sums = head.map((_, column) =>
    rows.map((row) => Number(row.querySelectorAll("td")[column].textContent)));
  return { names: head.map((cell) => cell.textContent ?? ""), data: [rounds, ...sums] };
}

/** Draw the table's values. */
function draw() {
  chart?.destroy();
  chart = null;
  const place = document.getElementById("chart");
  const legend = document.getElementById("legend");
  if (!place || !legend) return;
  const { names, data } = totals();
  const [line, text] = [ink(place, "--line"), ink(place, "--muted")];
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const last = data[0].length - 1;
  chart = new uPlot({
    width: place.clientWidth,
    height: HEIGHT,
    scales: {
      x: { time: false, range: () => [0, last] },
      y: { range: (_, low, high) => [Math.min(low, 0), high > 0 ? high * 1.05 : 1] },
    },
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    axes: [
      { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] },
      { ...axis, size: 56 },
    ],
    series: [{}, ...names.map((_, index) => ({
      stroke: ink(place, COLOURS[index]),
      width: index === 0 ? 3 : 2,
      dash: DASHES[index],
      points: { show: last <= 20, size: 6 },
    }))],
  }, data, place);
  legend.replaceChildren(...names.map((name, index) =>
    Object.assign(document.createElement("li"), { className: `line-${index}`, textContent: name })));
  legend.hidden = names.length < 2;
}

/** Limit the number of ticked teams to what the chart can compare. */
function bindForm() {
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector(".compare"));
  const boxes = /** @type {HTMLInputElement[]} */ ([...(form?.querySelectorAll("input") ?? [])]);
  const bound = () => {
    const isFull = boxes.filter((box) => box.checked).length >= MOST;
    for (const box of boxes) box.disabled = isFull && !box.checked;
  };
  form?.addEventListener("change", bound);
  bound();
}

keepDrawn(draw);
addEventListener("renewed", draw);
bindForm();
draw();
