/** The line graph of a player's ranks: best on top, scaled to the ranks of the period. */

import { byId, element, link } from "../shared/dom.js";
import { keepDrawn, lineChart } from "./line_chart.js";

/** @typedef {{match: string, at: string, rank: number, players: number}} Point */

const HEIGHT = 240;

const section = /** @type {HTMLElement} */ (document.querySelector("[data-graph]"));
const plot = byId("plot");
const rows = byId("points");
const period = /** @type {HTMLSelectElement} */ (byId("period"));

/** @type {{destroy(): void} | null} */
let chart = null;

/**
 * Return the points in the table.
 * @returns {[number[], number[]]} seconds since 1970, and ranks
 */
function series() {
  const points = [...rows.querySelectorAll("tr")].map(({ dataset }) => dataset);
  return [
    points.map(({ at }) => Date.parse(at ?? "") / 1000),
    points.map(({ rank }) => Number(rank)),
  ];
}

/**
 * Return the ends of the vertical scale.
 * @param {number[]} ranks
 * @returns {[number, number]}
 */
function ends(ranks) {
  const [best, worst] = [Math.min(...ranks), Math.max(...ranks)];
  return best === worst ? [best - 1, worst + 1] : [best, worst];
}

/** Draw the table's values. */
function draw() {
  chart?.destroy();
  chart = null;
  plot.replaceChildren();
  const [times, ranks] = series();
  byId("no-points").hidden = times.length > 0;
  if (times.length === 0) {
    return;
  }
  const [best, worst] = ends(ranks);
  // Centre a single game between two days.
  const around = times.length === 1 ? 86_400 : 0;
  chart = lineChart(plot, [times, ranks], {
    width: section.clientWidth - 40,
    height: HEIGHT,
    dots: true,
    scales: {
      x: { range: () => [times[0] - around, times[times.length - 1] + around] },
      y: { dir: -1, range: () => [best, worst] },
    },
    y: {
      size: 46,
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      values: (_, marks) => marks.map((mark) => (mark >= 1 ? String(mark) : "")),
    },
  });
}

/**
 * Write points into the table.
 * @param {Point[]} points
 */
function list(points) {
  rows.replaceChildren(...points.map(({ match, at, rank, players }) => {
    const game = link(`/match/${match}`, `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`);
    const row = element("tr", "", ...[game, String(rank), String(players)].map((content) => element("td", "", content)));
    Object.assign(row.dataset, { at, rank: String(rank) });
    return row;
  }));
}

period.addEventListener("change", async () => {
  const address = new URL(section.dataset.graph ?? "", location.href);
  address.searchParams.set("period", period.value);
  const answer = await fetch(address);
  if (answer.ok) {
    list(await answer.json());
    draw();
  }
});

keepDrawn(draw);
draw();
