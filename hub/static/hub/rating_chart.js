/** The rating of a bot over time, as a line and as a table. */

import { byId, element } from "../shared/dom.js";
import { keepDrawn, lineChart } from "./line_chart.js";

const A_DAY = 86_400;
const HEIGHT = 260;

const place = /** @type {HTMLElement} */ (document.querySelector("[data-chart]"));
const rows = byId("ratings");
const period = /** @type {HTMLSelectElement} */ (byId("period"));
const none = byId("no-points");

async function show() {
  const answer = await fetch(place.dataset.chart ?? "");
  if (!answer.ok) return;
  /** @type {{times: number[], ratings: number[], versions: {at: number, number: number}[]}} */
  const { times, ratings, versions } = await answer.json();
  /** @type {{destroy(): void} | null} */
  let chart = null;

  /** @returns {[number[], number[]]} the points of the chosen period */
  function pointsOfPeriod() {
    const days = Number(period.value);
    const since = days === 0 ? -Infinity : Date.now() / 1000 - days * A_DAY;
    const first = times.findIndex((time) => time >= since);
    return first < 0 ? [[], []] : [times.slice(first), ratings.slice(first)];
  }

  function draw() {
    chart?.destroy();
    const data = pointsOfPeriod();
    none.hidden = data[0].length > 0;
    place.hidden = data[0].length === 0;
    const [at] = data;
    // Centre a single match between two days.
    const around = at.length === 1 ? A_DAY : 0;
    chart = place.hidden ? null : lineChart(place, data, {
      width: place.clientWidth,
      height: HEIGHT,
      dots: at.length === 1,
      scales: { x: { range: () => [at[0] - around, at[at.length - 1] + around] } },
      y: { size: 56 },
      marks: versions.map(({ at: time, number }) => ({ at: time, words: `v${number}` })),
    });
  }

  function list() {
    const [at, points] = pointsOfPeriod();
    const since = at[0] ?? Infinity;
    const entries = [
      ...at.map((time, index) => ({ time, words: String(Math.round(points[index])) })),
      ...versions.filter((version) => version.at >= since).map(({ at: time, number }) => ({ time, words: `version ${number} plays` })),
    ].sort((one, other) => other.time - one.time);
    rows.replaceChildren(...entries.map(({ time, words }) => rowOf(time, words)));
  }

  period.addEventListener("change", () => { draw(); list(); });
  keepDrawn(draw);
  draw();
  list();
}

/**
 * @param {number} time
 * @param {string} words
 * @returns {HTMLElement}
 */
function rowOf(time, words) {
  const row = element("tr", "");
  const moment = new Date(time * 1000).toISOString();
  for (const text of [`${moment.slice(0, 10)} ${moment.slice(11, 16)} UTC`, words]) {
    row.append(element("td", "", text));
  }
  return row;
}

show();
