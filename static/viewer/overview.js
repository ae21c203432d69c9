/** The whole match at a glance: its moments, its events and a chart; and how much of it may be shown yet. */

import { EventLog, showDetails } from "./details.js";
import { element } from "../shared/dom.js";
import { byId } from "./elements.js";
import { Moments } from "./moments.js";
import { newSurvey, survey } from "./replay_summary.js";

const HIDDEN = "viewer-hide-result";

/**
 * Callbacks for changes of an overview.
 * @typedef {object} Changes
 * @property {() => void} learn more is known about the match
 * @property {() => void} tell more or less of it may be shown
 * @property {() => void} choose hiding the result was switched
 */

/** Shows the findings of a survey; while the result is hidden, only for turns that were shown. */
export class Overview {
  /**
   * @param {import("./scrubber.js").Scrubber} scrubber
   * @param {import("./chart.js").Chart} chart
   * @param {(turn: number) => void} visit
   * @param {Changes} changes
   */
  constructor(scrubber, chart, visit, changes) {
    this.scrubber = scrubber;
    this.chart = chart;
    this.changes = changes;
    this.moments = new Moments(byId("moments"), visit);
    this.log = new EventLog(visit);
    this.choice = byId("hide");
    /** Whether the end of the replay was shown. */
    this.isSeen = false;
    /** The latest turn shown so far. */
    this.farthest = 0;
    this.measure = 0;
    /** @type {Map<number, import("./games/game.js").Event[]>} */
    this.events = new Map();
    /** @type {import("./replay_summary.js").Survey | null} */
    this.findings = null;
    /** @type {import("./replay.js").Replay | null} */
    this.replay = null;
    /** @type {import("./games/game.js").Game | null} */
    this.game = null;
    this.bind();
  }

  /** Bind the switch that hides the result. */
  bind() {
    this.choice.checked = window["memory"]?.recall(HIDDEN, "off") === "on";
    this.choice.addEventListener("change", () => {
      window["memory"]?.keep(HIDDEN, this.choice.checked ? "on" : "off");
      this.tell();
      this.changes.choose();
    });
  }

  /** Hide the result, as the address of the page asks. */
  hide() {
    if (!this.choice.checked) {
      this.choice.checked = true;
      this.tell();
    }
  }

  /** Whether turns after those shown so far are hidden. */
  get isHidden() {
    return this.choice.checked && Boolean(this.replay?.over) && !this.isSeen;
  }

  /** The latest turn about which something may be shown. */
  get horizon() {
    return this.isHidden ? this.farthest : this.replay?.last ?? 0;
  }

  /**
   * Start with a replay that is not surveyed yet.
   * @param {import("./replay.js").Replay} replay
   * @param {import("./games/game.js").Game} game
   */
  open(replay, game) {
    this.replay = replay;
    this.game = game;
    this.isSeen = false;
    this.farthest = 0;
    this.measure = 0;
    this.events = new Map();
    this.findings = newSurvey(replay, game);
    byId("hide-part").hidden = !replay.over;
    byId("measures").replaceChildren(...game.measures.map(({ name }, index) => {
      const button = element("button", "quiet", name);
      button.type = "button";
      button.addEventListener("click", () => this.plot(index));
      return button;
    }));
  }

  /**
   * Handle the end of the match.
   * @param {number} turn the current turn
   */
  end(turn) {
    const { replay, game } = this;
    if (replay && game) {
      this.isSeen ||= turn === replay.last;
      this.findings = newSurvey(replay, game);
      this.tell();
    }
  }

  /**
   * Survey the whole replay, or its new turns.
   * @param {unknown} memo prepared by the game
   */
  look(memo) {
    const { replay, game, findings } = this;
    if (replay && game && findings) {
      void survey(replay, game, memo, findings, () => this.learn(findings));
    }
  }

  /**
   * Process the findings of a survey.
   * @param {import("./replay_summary.js").Survey} survey
   * @returns {boolean} whether it is still wanted
   */
  learn(survey) {
    if (survey !== this.findings) {
      return false;
    }
    this.events = grouped(survey.events);
    this.showEvents();
    this.plot(this.measure);
    byId("viewer").dataset.surveyed = String(survey.turns === this.replay?.last);
    this.changes.learn();
    return true;
  }

  /**
   * Return the events of a turn.
   * @param {number} turn
   * @returns {import("./games/game.js").Event[]}
   */
  eventsOf(turn) {
    return this.events.get(turn) ?? [];
  }

  /** Show what may be shown about the whole match, and nothing else. */
  tell() {
    const { replay, game } = this;
    if (replay && game) {
      byId("viewer").dataset.told = String(!this.isHidden);
      showDetails(replay, game, !this.isHidden);
      this.log.clear();
      this.showEvents();
      this.plot(this.measure);
      this.changes.tell();
    }
  }

  /** Show the events that may be shown. */
  showEvents() {
    const { findings, horizon, replay } = this;
    const events = findings?.events ?? [];
    const visibleEvents = this.isHidden ? events.filter(({ turn }) => turn <= horizon) : events;
    this.scrubber.mark(events, horizon);
    this.moments.show(visibleEvents, replay?.last ?? 0);
    this.log.show(visibleEvents);
  }

  /**
   * Handle a new current turn: while the result is hidden, it reveals more of the match.
   * @param {number} turn
   */
  advance(turn) {
    const wasHidden = this.isHidden;
    const isFarther = turn > this.farthest;
    this.farthest = Math.max(this.farthest, turn);
    this.isSeen ||= Boolean(this.replay?.over) && turn === this.replay?.last;
    if (wasHidden && !this.isHidden) {
      this.tell();
    } else if (wasHidden && isFarther) {
      this.plot(this.measure);
      this.showEvents();
    }
  }

  /**
   * Show a measure in the chart.
   * @param {number} measure
   */
  plot(measure) {
    this.measure = measure;
    const { name, series } = this.findings?.measures[measure] ?? { name: "", series: [] };
    this.chart.show(series.map((values) => values.slice(0, this.horizon + 1)), this.replay?.last ?? 0);
    byId("chart").setAttribute("aria-label", `Chart of the ${name} over time`);
    [...byId("measures").children].forEach((button, index) => {
      button.setAttribute("aria-pressed", String(index === measure));
    });
  }
}

/**
 * @param {import("./games/game.js").Event[]} events
 * @returns {Map<number, import("./games/game.js").Event[]>}
 */
function grouped(events) {
  const groups = new Map();
  for (const event of events) {
    groups.set(event.turn, [...(groups.get(event.turn) ?? []), event]);
  }
  return groups;
}
