/** The whole match at a glance: its moments, its events and a chart; and how much of it may be told yet. */

import { EventLog, showDetails } from "./details.js";
import { element } from "../shared/dom.js";
import { byId } from "./elements.js";
import { Moments } from "./moments.js";
import { newSurvey, survey } from "./survey.js";

const HIDDEN = "viewer-hide-result";

/**
 * What happens to an overview.
 * @typedef {object} Changes
 * @property {() => void} learn more is known of the match
 * @property {() => void} tell more or less of it may be told
 * @property {() => void} choose whether its result is hidden was chosen
 */

/** Shows what a survey finds, and nothing of turns that were not shown while the result is hidden. */
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
    /** Whether the end of the replay was seen. */
    this.isSeen = false;
    /** The latest turn that was shown. */
    this.farthest = 0;
    this.measure = 0;
    /** @type {Map<number, import("./games/game.js").Event[]>} */
    this.events = new Map();
    /** @type {import("./survey.js").Survey | null} */
    this.findings = null;
    /** @type {import("./replay.js").Replay | null} */
    this.replay = null;
    /** @type {import("./games/game.js").Game | null} */
    this.game = null;
    this.bind();
  }

  /** Bind the choice to hide the result. */
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

  /** Whether nothing may be told of what comes after the turns that were shown. */
  get isHidden() {
    return this.choice.checked && Boolean(this.replay?.over) && !this.isSeen;
  }

  /** The latest turn of which something may be told. */
  get horizon() {
    return this.isHidden ? this.farthest : this.replay?.last ?? 0;
  }

  /**
   * Begin with a replay of which nothing is known yet.
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
   * Take in that the match is over.
   * @param {number} turn that is shown
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
   * Find out what the whole replay tells, or what its new turns do.
   * @param {unknown} memo what the game has prepared
   */
  look(memo) {
    const { replay, game, findings } = this;
    if (replay && game && findings) {
      void survey(replay, game, memo, findings, () => this.learn(findings));
    }
  }

  /**
   * Take in what is known of the whole replay.
   * @param {import("./survey.js").Survey} survey
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
   * Give the events of a turn.
   * @param {number} turn
   * @returns {import("./games/game.js").Event[]}
   */
  eventsOf(turn) {
    return this.events.get(turn) ?? [];
  }

  /** Show what may be told of the whole match, and nothing else. */
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

  /** Show the events of which may be told. */
  showEvents() {
    const { findings, horizon, replay } = this;
    const events = findings?.events ?? [];
    const visibleEvents = this.isHidden ? events.filter(({ turn }) => turn <= horizon) : events;
    this.scrubber.mark(events, horizon);
    this.moments.show(visibleEvents, replay?.last ?? 0);
    this.log.show(visibleEvents);
  }

  /**
   * Take in that a turn is shown: while the result is hidden, more of the match is known with it.
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
