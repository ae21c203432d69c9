/** The workshop: write a bot, run it, and query it. */

import { Check } from "./check.js";
import { Draft } from "./draft.js";
import { Editor } from "./editor.js";
import { Cause } from "./cause.js";
import { byId } from "./elements.js";
import { Match } from "./match.js";
import { RunOutput } from "./output.js";
import { Parts } from "./parts.js";
import { Position } from "./position.js";
import { Question } from "./question.js";
import { Run } from "./run.js";
import { Series } from "./series.js";

const root = byId("workshop");
const { nonce = "", main = "" } = root.dataset;

const editor = new Editor(byId("editor"), nonce, {
  change: (name) => draft.noteChange(name),
  run: () => void run.begin(),
});
export const draft = new Draft(editor, main);
const save = () => draft.save();
const match = new Match(noteTurn);

const output = new RunOutput({
  turn: (turn) => match.visit(turn),
  line: ({ file, line, turn }) => {
    match.visit(turn);
    lead(file, line);
  },
});
const cause = new Cause({
  line: ({ file, line, turn }) => {
    match.visit(turn);
    lead(file, line);
  },
  turn: (turn) => {
    match.visit(turn);
    parts.show("question");
  },
});
const question = new Question({ save, marks, visit: (turn) => match.visit(turn), first: () => match.viewer.replay?.first ?? 1 });
export const parts = new Parts((part) => {
  question.isSeen = part === "question";
  question.point(match.turn);
  output.reveal();
});

const run = new Run({ save, position: () => position.request, begin: clearRun, play: showRun, grow: (lines) => output.grow(lines), end: showReport });
const position = new Position({ show: showOfReplay, say: (words, isTrouble) => run.say(words, isTrouble) }, match);
new Series({ save, show: showOfSeries });
new Check({ save });

/**
 * Record the current turn.
 * @param {number} turn
 */
function noteTurn(turn) {
  position.point(turn);
  output.point(turn);
  question.point(turn);
}

/**
 * Go to a line of a file.
 * @param {string} file
 * @param {number} line
 */
function lead(file, line) {
  parts.show("code");
  draft.show(file, line);
}

/**
 * Mark lines with problems.
 * @param {import("./output.js").Mark[]} list
 */
function marks(list) {
  editor.mark(list);
}

/** Clear the previous run before a new one. */
function clearRun() {
  editor.mark([]);
  cause.show(null, null);
  output.show([], [], "");
  question.isRun = false;
  if (parts.current === "code") {
    parts.show("picture");
  }
}

/**
 * Show the match of a run live.
 * @param {string} address
 */
function showRun(address) {
  position.leave();
  question.isRun = true;
  question.forget();
  match.follow(address);
}

/**
 * Show the result of a run.
 * @param {import("./run.js").Report} report
 */
function showReport(report) {
  output.show(report.output, report.marks, report.compiler);
  output.point(match.turn);
  marks(report.marks);
  question.forget();
  question.point(match.turn);
  const mark = markOf(report);
  cause.show(mark, report.fault);
  if (report.marks.length || report.compiler) {
    parts.offer("output");
  }
  if (mark) {
    reveal(mark);
  }
}

/**
 * Return the marked line that belongs to the first fault.
 * @param {import("./run.js").Report} report
 * @returns {import("./output.js").Mark | null} null if that names none: later marks have other causes
 */
function markOf({ marks: [first], fault }) {
  return first && !(fault && first.turn > fault.turn) ? first : null;
}

/**
 * Scroll a marked line into view; on a narrow screen it replaces the match.
 * @param {import("./output.js").Mark} mark
 */
function reveal({ file, line }) {
  if (parts.current === "picture") {
    parts.show("code");
  }
  draft.show(file);
  editor.reveal(line);
}

/** Clear the run: the viewer shows the replay whose position the bot is tried in. */
function showOfReplay() {
  question.isRun = false;
  cause.show(null, null);
  output.show([], [], "");
  run.say("");
}

/**
 * Show a match of a series.
 * @param {string} address
 * @param {import("./series.js").SeriesMatch} entry
 */
async function showOfSeries(address, entry) {
  position.leave();
  question.isRun = false;
  cause.show(null, null);
  output.show([], [], "");
  run.say(`Match ${entry.number} of the series, seat ${entry.seat}: ${entry.words}`);
  if (parts.current === "series" && window.matchMedia("(max-width: 899px)").matches) {
    parts.show("picture");
  }
  await match.show(address, entry.came === "lost");
}

for (const button of root.querySelectorAll("[data-line]")) {
  button.addEventListener("click", () => lead(main, Number(/** @type {HTMLElement} */ (button).dataset.line)));
}
root.querySelector("[data-run]")?.addEventListener("click", () => void run.begin());
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) {
    event.preventDefault();
    void run.begin();
  }
});
void draft.open();
if (!position.place) {
  void run.resume();
}
