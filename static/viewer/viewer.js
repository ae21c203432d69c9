/** The viewer: one replay on the page, and everything that steers it. */

import { Address } from "./address.js";
import { Announcer } from "./announcer.js";
import { Chart } from "./chart.js";
import { EventLog, Latency, showDetails } from "./details.js";
import { byId, element } from "./elements.js";
import { gameOf } from "./games/game.js";
import { bindKeys } from "./keys.js";
import { Playback } from "./playback.js";
import { listHappenings, Players } from "./players.js";
import { Scrubber } from "./scrubber.js";
import { Stage } from "./stage.js";
import { newSurvey, survey } from "./survey.js";

const JUMP = 10;
const REMEMBERED = "viewer-coordinates";

/** Shows replays, one after the other. */
export class Viewer {
  constructor() {
    this.playback = new Playback();
    this.stage = new Stage(byId("stage"), (spot) => { byId("spot").textContent = spot?.text ?? ""; });
    this.scrubber = new Scrubber(byId("scrubber"), byId("marks"), this.playback);
    this.chart = new Chart(byId("chart"));
    this.latency = new Latency();
    this.log = new EventLog((turn) => this.playback.step(turn - this.playback.turn));
    this.announcer = new Announcer(byId("announcer"));
    this.address = new Address();
    this.focus = -1;
    this.measure = 0;
    /** @type {Map<number, import("./games/game.js").Event[]>} */
    this.events = new Map();
    /** @type {import("./survey.js").Survey | null} */
    this.found = null;
    /** @type {import("./replay.js").Replay | null} */
    this.replay = null;
    /** @type {import("./games/game.js").Game | null} */
    this.game = null;
    /** @type {unknown} what the game has prepared */
    this.memo = null;
    /** @type {Players | null} */
    this.players = null;
    this.bind();
  }

  /** Listen to the page. */
  bind() {
    this.playback.addEventListener("turn", () => this.showTurn());
    this.playback.addEventListener("state", () => this.showState());
    window.addEventListener("hashchange", () => this.replay && this.obeyAddress());
    this.bindButtons();
    this.bindChoices();
    bindKeys(this.keys());
  }

  /** Bind the buttons under the board. */
  bindButtons() {
    const { playback } = this;
    const buttons = {
      first: () => playback.step(-playback.turn),
      last: () => playback.follow(),
      back: () => playback.step(-1),
      forward: () => playback.step(1),
      "previous-event": () => this.visit(-1),
      "next-event": () => this.visit(1),
      play: () => playback.toggle(),
      help: () => byId("keys").showModal(),
      live: () => playback.follow(),
    };
    for (const [id, act] of Object.entries(buttons)) {
      byId(id)?.addEventListener("click", act);
    }
  }

  /** Bind speed, view and coordinates. */
  bindChoices() {
    for (const radio of document.getElementsByName("speed")) {
      radio.addEventListener("change", () => this.playback.hasten(Number(/** @type {HTMLInputElement} */ (radio).value)));
    }
    byId("perspective").addEventListener("change", () => this.look(byId("perspective").selectedIndex - 1));
    byId("numbers").addEventListener("change", () => {
      window["memory"]?.keep(REMEMBERED, byId("numbers").checked ? "on" : "off");
      this.showTurn();
    });
  }

  /**
   * Give what keys do.
   * @returns {Record<string, (digit: number) => void>}
   */
  keys() {
    const { playback, stage } = this;
    return {
      " ": () => playback.toggle(),
      ArrowLeft: () => playback.step(-1),
      ArrowRight: () => playback.step(1),
      ArrowUp: () => playback.step(JUMP),
      ArrowDown: () => playback.step(-JUMP),
      Home: () => playback.step(-playback.turn),
      End: () => playback.follow(),
      "+": () => playback.shift(1),
      "-": () => playback.shift(-1),
      e: () => this.visit(1),
      q: () => this.visit(-1),
      f: () => stage.fit(),
      l: () => playback.follow(),
      "?": () => byId("keys").showModal(),
      digit: (number) => this.look(number - 1),
      "Shift+ArrowLeft": () => stage.pan(-1, 0),
      "Shift+ArrowRight": () => stage.pan(1, 0),
      "Shift+ArrowUp": () => stage.pan(0, -1),
      "Shift+ArrowDown": () => stage.pan(0, 1),
    };
  }

  /**
   * Show a replay.
   * @param {import("./replay.js").Replay} replay
   * @throws {Error} if its game cannot be drawn
   */
  open(replay) {
    const game = gameOf(replay.document.game);
    this.game = game;
    this.memo = game.prepare?.(replay) ?? null;
    this.replay = replay;
    this.focus = -1;
    this.measure = 0;
    this.events = new Map();
    this.found = newSurvey(replay, game);
    this.log.clear();
    this.scrubber.mark([]);
    this.playback.open(replay.last, !replay.over);
    showDetails(replay, game);
    this.players = new Players(replay, game, (seat) => this.look(seat === this.focus ? -1 : seat));
    this.offer(replay, game);
    this.latency.show(replay);
    byId("turns").textContent = String(replay.last);
    byId("viewer").dataset.state = "ready";
    this.obeyAddress();
    this.showTurn();
    this.lookThrough();
  }

  /** Take in that the match went on, or is over. */
  grow() {
    const { replay, game, playback } = this;
    if (!replay || !game) {
      return;
    }
    game.grow?.(this.memo, replay);
    byId("turns").textContent = String(replay.last);
    this.latency.show(replay);
    playback.grow(replay.last, !replay.over);
    if (replay.over) {
      showDetails(replay, game);
      this.log.clear();
      this.found = newSurvey(replay, game);
    }
    this.scrubber.show();
    this.lookThrough();
  }

  /** Find out what the whole replay tells, or what its new turns do. */
  lookThrough() {
    const { replay, game, memo, found } = this;
    if (!replay || !game || !found) {
      return;
    }
    void survey(replay, game, memo, found, () => this.learn(found));
  }

  /**
   * Fill the choices that depend on the replay.
   * @param {import("./replay.js").Replay} replay
   * @param {import("./games/game.js").Game} game
   */
  offer(replay, game) {
    const what = game.fog ? "fog" : "highlight";
    const options = replay.seats.map(({ letter, name, key }) => new Option(`${letter} ${name} (${what})`, key));
    byId("perspective").replaceChildren(new Option("All players", ""), ...options);
    const usual = game.numbered ? "on" : "off";
    byId("numbers").checked = (window["memory"]?.recall(REMEMBERED, usual) ?? usual) === "on";
    byId("measures").replaceChildren(...game.measures.map(({ name }, index) => {
      const button = element("button", "quiet", name);
      button.type = "button";
      button.addEventListener("click", () => this.plot(index));
      return button;
    }));
  }

  /** Go where the address says; without a turn a running match is followed. */
  obeyAddress() {
    const { turn, speed, view } = this.address.read();
    this.playback.hasten(speed);
    this.look(view === "" ? -1 : this.replay?.seat(view) ?? -1);
    if (turn === null && this.playback.live) {
      this.playback.follow();
    } else {
      this.playback.pause();
      this.playback.seek(turn ?? 0);
    }
  }

  /**
   * Take in what is known of the whole replay.
   * @param {import("./survey.js").Survey} found
   * @returns {boolean} whether it is still wanted
   */
  learn(found) {
    if (found !== this.found) {
      return false;
    }
    this.events = grouped(found.events);
    this.scrubber.mark(found.events);
    this.log.show(found.events);
    this.plot(this.measure);
    byId("viewer").dataset.surveyed = String(found.turns === this.replay?.last);
    this.showHappenings();
    return true;
  }

  /**
   * Show a measure in the chart.
   * @param {number} measure
   */
  plot(measure) {
    this.measure = measure;
    const { name, series } = this.found?.measures[measure] ?? { name: "", series: [] };
    this.chart.show(series, this.replay?.last ?? 0);
    byId("chart").setAttribute("aria-label", `Chart of the ${name} over time`);
    [...byId("measures").children].forEach((button, index) => {
      button.setAttribute("aria-pressed", String(index === measure));
    });
  }

  /**
   * Choose whose view is shown.
   * @param {number} seat -1 for all
   */
  look(seat) {
    this.focus = seat < (this.replay?.seats.length ?? 0) ? seat : this.focus;
    byId("perspective").selectedIndex = this.focus + 1;
    this.showTurn();
  }

  /**
   * Go to an event.
   * @param {1 | -1} direction
   */
  visit(direction) {
    const turn = this.scrubber.neighbour(direction);
    if (turn !== null) {
      this.playback.step(turn - this.playback.turn);
    }
  }

  /** Show the turn. */
  showTurn() {
    const { replay, game, memo, focus, playback } = this;
    if (!replay || !game) {
      return;
    }
    const { turn } = playback;
    const frame = replay.frame(turn);
    this.stage.show({ replay, game, memo, turn, focus, coordinates: byId("numbers").checked });
    byId("turn").textContent = String(turn);
    byId("board").setAttribute("aria-label", game.describe(frame, replay));
    this.scrubber.show();
    this.players?.show(frame, turn, focus);
    this.chart.point(turn);
    this.showHappenings();
    this.saveAddress();
  }

  /** Show what happened in the turn, and say its events. */
  showHappenings() {
    const { replay, game, memo, playback: { turn } } = this;
    if (!replay || !game) {
      return;
    }
    const events = this.events.get(turn) ?? [];
    const moment = turn > 0 && {
      replay, turn, before: replay.frame(turn - 1), after: replay.frame(turn), actions: replay.actions(turn), memo,
    };
    const happenings = moment ? game.happened(moment) : [];
    listHappenings(byId("happened"), replay, happenings, events);
    if (turn === 0 && events.length === 0) {
      byId("happened").append(element("li", "muted", "The start: nothing has happened yet."));
    }
    if (events.length > 0) {
      this.announcer.say(`Turn ${turn}: ${events.map(({ text }) => text).join(". ")}`);
    }
  }

  /** Show whether it plays, and how fast. */
  showState() {
    const { playing, speed, live, following } = this.playback;
    const liveButton = byId("live");
    if (liveButton) {
      liveButton.hidden = !live;
      liveButton.setAttribute("aria-pressed", String(following));
    }
    const button = byId("play");
    button.dataset.playing = String(playing);
    button.setAttribute("aria-label", playing ? "Pause" : "Play");
    for (const radio of document.getElementsByName("speed")) {
      const input = /** @type {HTMLInputElement} */ (radio);
      input.checked = Number(input.value) === speed;
    }
    this.saveAddress();
  }

  /** Keep turn, speed and view in the address. */
  saveAddress() {
    if (this.replay) {
      const { turn, speed, following } = this.playback;
      this.address.write({ turn: following ? null : turn, speed, view: this.replay.seats[this.focus]?.key ?? "" });
    }
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
