/** The workshop of a hub: beyond the local one, versions are saved, checked by the site, and played. */

import { byId, element, link } from "../shared/dom.js";
import { draft, parts } from "../workshop/main.js";
import { ask, Refused, wordsOf } from "../workshop/server.js";
import { keepAsking } from "./status_polling.js";

/** @typedef {{number: number, bot: string, state: string}} Version with its bot's page and its state */
/** @typedef {{step: string, problem: string, fix: string}} Step */
/** @typedef {{state: "building" | "ready" | "failed", failed: Step | null}} Progress */

const form = /** @type {HTMLFormElement} */ (byId("version-form"));
const buttons = form.querySelectorAll("button");

/**
 * Return the value of a field of the form.
 * @param {string} name
 * @returns {string}
 */
function field(name) {
  return String(new FormData(form).get(name) ?? "");
}

/**
 * Show the progress.
 * @param {...(string | Node)} words
 */
function say(...words) {
  byId("version").replaceChildren(...words);
}

/**
 * Save the draft as a version, and follow its check.
 * @param {string} opponent to play against after passing, "" for none
 */
async function save(opponent) {
  await draft.save();
  if (draft.dirty.size > 0) {
    say("No version was saved: what is wrong is shown beside the files.");
    return;
  }
  const name = field("name");
  /** @type {Version} */
  const version = await ask("POST", "versions", { name, note: field("note") });
  say(`Version ${version.number} of ${name} is saved, and is being checked...`);
  /** @type {Progress | undefined} */
  let check;
  await keepAsking(version.state, (now) => {
    check = now;
    return now.state === "building";
  });
  if (check?.state === "failed") {
    tellFailure(version, check.failed);
  } else if (check?.state === "ready") {
    await enter(version, name, opponent);
  }
}

/**
 * Report that a version is active, and start a match with it.
 * @param {Version} version
 * @param {string} name of the bot
 * @param {string} opponent
 */
async function enter(version, name, opponent) {
  const passed = element("p", "", `Version ${version.number} has passed its check, and plays from the next match on: `);
  passed.append(link(version.bot, `${name} and its matches`), ".");
  say(passed);
  if (opponent) {
    say(passed, await playAtOnce(name, opponent));
  }
}

/**
 * Start a match with a bot.
 * @param {string} name
 * @param {string} opponent
 * @returns {Promise<HTMLElement>} about its match, or the one it is still in
 */
async function playAtOnce(name, opponent) {
  try {
    const { match } = await ask("POST", "play", { name, opponent });
    return element("p", "", `It plays against ${opponent}: `, link(match, "watch the match"), ".");
  } catch (error) {
    if (!(error instanceof Refused && error.report.playing)) {
      throw error;
    }
    const other = link(error.report.playing, "another match");
    const again = element("button", "link", "Try again");
    again.type = "button";
    again.addEventListener("click", async () => { words.replaceWith(await playAtOnce(name, opponent).catch(refusal)); });
    const words = element("p", "", `The match against ${opponent} was not started: the bot is in `, other, ". ", again);
    return words;
  }
}

/**
 * @param {unknown} error
 * @returns {HTMLElement}
 */
function refusal(error) {
  return element("p", "refused", wordsOf(error));
}

/**
 * Report which step a version has failed, and what to do.
 * @param {Version} version
 * @param {Step | null} step
 */
function tellFailure(version, step) {
  const failed = element("p", "refused", `Version ${version.number} has failed its check${step ? ` at "${step.step}"` : ""}.`);
  const more = element("p", "", "The version before it, if there is one, plays on. ");
  more.append(link(version.bot, "All steps"), ".");
  const fix = step?.fix ? [element("p", "fix", step.fix)] : [];
  say(failed, ...(step ? [element("pre", "lines", step.problem)] : []), ...fix, more);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  parts.show("save");
  buttons.forEach((button) => { button.disabled = true; });
  try {
    await save(event.submitter?.id === "save-only" ? "" : field("opponent"));
  } catch (error) {
    byId("version").append(refusal(error));
  }
  buttons.forEach((button) => { button.disabled = false; });
});
