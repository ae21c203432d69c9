/** The viewer: one replay on the page, and everything that steers it. */

import { Address } from "./address.js";
import { Announcer } from "../shared/announcer.js";
import { Chart } from "./chart.js";
import { EventLog, Latency, showDetails } from "./details.js";
import { element } from "../shared/dom.js";
import { byId } from "./elements.js";
import { endingOf } from "./ending.js";
import { gameOf } from "./games/game.js";
import { Happenings } from "./happenings.js";
import { bindKeys } from "./keys.js";
import { Moments } from "./moments.js";
import { Output } from "./output.js";
import { Outline } from "./outline.js";
import { PlayOn } from "./play_on.js";
import { Playback } from "./playback.js";
import { Players } from "./players.js";
import { Room } from "./room.js";
import { Scrubber } from "./scrubber.js";
import { Share } from "./share.js";
import { Stage } from "./stage.js";
import { newSurvey, survey } from "./survey.js";
import { TurnList } from "./turns.js";
import { TurnLog } from "./turn_log.js";

const JUMP = 10;

/** Turns of which it is kept what was done. */
const MOST_DEEDS = 2000;
const REMEMBERED = "viewer-coordinates";
const HIDDEN = "viewer-hide-result";

/** Shows replays, one after the other. */
export class Viewer {
  constructor() {
    this.playback = new Playback();
    this.stage = new Stage(byId("stage"), (spot) => { byId("spot").textContent = spot?.text ?? ""; });
    this.room = new Room(byId("viewer"));
    this.scrubber = new Scrubber(byId("scrubber"), byId("marks"), this.playback);
    const visit = (/** @type {number} */ turn) => this.playback.step(turn - this.playback.turn);
    this.moments = new Moments(byId("moments"), visit);
    this.turnList = new TurnList(byId("turn-scroller"), byId("turn-list"), visit);
    /** @type {import("./turns.js").Source | null} */
    this.source = null;
    const log = document.querySelector("#turn-log");
    if (log instanceof HTMLDetailsElement) {
      new TurnLog(log, () => this.source && { source: this.source, last: this.horizon });
    }
    this.chart = new Chart(byId("chart"));
    this.latency = new Latency(visit);
    this.log = new EventLog(visit);
    this.happenings = new Happenings(byId("happened"));
    this.output = new Output();
    this.outline = new Outline(byId("outline"));
    this.announcer = new Announcer(byId("announcer"));
    this.address = new Address();
    this.share = new Share(() => this.shared());
    this.playOn = new PlayOn();
    /** Whether the end of the replay was seen. */
    this.isSeen = false;
    /** The latest turn that was shown. */
    this.farthest = 0;
    this.focus = -1;
    this.measure = 0;
    /** @type {Map<number, import("./games/game.js").Event[]>} */
    this.events = new Map();
    /** @type {Map<number, import("./games/game.js").Happening[]>} what was done in turns that were looked at */
    this.deeds = new Map();
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
    byId("hide").checked = window["memory"]?.recall(HIDDEN, "off") === "on";
    byId("hide").addEventListener("change", () => {
      window["memory"]?.keep(HIDDEN, byId("hide").checked ? "on" : "off");
      this.showKnown();
      this.saveAddress();
    });
  }

  /** Whether nothing may be told of what comes after the turns that were shown. */
  get isHidden() {
    return byId("hide").checked && Boolean(this.replay?.over) && !this.isSeen;
  }

  /** The latest turn of which something may be told. */
  get horizon() {
    return this.isHidden ? this.farthest : this.replay?.last ?? 0;
  }

  /**
   * Give what is shown, for others.
   * @returns {import("./share.js").Shared | null}
   */
  shared() {
    const { replay, game, playback: { turn }, focus } = this;
    const view = replay?.seats[focus]?.key ?? "";
    return replay && { replay, turn, view, told: !this.isHidden, pictured: !game?.lines };
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
      c: () => stage.followButton.hidden || stage.chooseFollow(!stage.follow.isOn),
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
   */
  open(replay) {
    const game = gameOf(replay);
    this.game = game;
    this.memo = game.prepare?.(replay) ?? null;
    this.replay = replay;
    this.focus = -1;
    this.measure = 0;
    this.events = new Map();
    this.deeds = new Map();
    this.found = newSurvey(replay, game);
    this.isSeen = false;
    this.farthest = 0;
    this.source = {
      replay, alternating: Boolean(game.mover),
      happened: (/** @type {number} */ turn) => this.happened(turn),
      events: (/** @type {number} */ turn) => this.events.get(turn) ?? [],
    };
    this.turnList.open(this.source);
    this.playback.open(replay.last, !replay.over);
    this.players = new Players(replay, game, (seat) => this.look(seat === this.focus ? -1 : seat));
    this.offer(replay, game);
    byId("outline").classList.toggle("board", Boolean(game.isBoard));
    game.listen?.(() => game === this.game && this.showTurn());
    this.playOn.offer(replay);
    this.latency.show(replay);
    byId("turns").textContent = String(replay.last);
    byId("viewer").dataset.state = "ready";
    byId("hide-part").hidden = !replay.over;
    this.obeyAddress();
    this.showTurn();
    this.showKnown();
    this.lookThrough();
    void this.showOutput();
    if (byId("viewer").dataset.plays && this.address.read().turn === null && !this.stage.still.matches) {
      this.playback.play();
    }
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
      this.isSeen ||= playback.turn === replay.last;
      this.found = newSurvey(replay, game);
      this.showKnown();
      // A match that is given up ends without a turn.
      this.showTurn();
      void this.showOutput();
    }
    this.scrubber.show();
    this.turnList.show(playback.turn, this.horizon);
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
    byId("viewer").classList.toggle("plain", Boolean(game.lines));
    byId("viewer").classList.toggle("measureless", game.measures.length === 0);
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
    const { turn, speed, view, hides } = this.address.read();
    if (hides && !byId("hide").checked) {
      byId("hide").checked = true;
      this.showKnown();
    }
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
    this.showEvents();
    this.turnList.fill(true);
    this.plot(this.measure);
    byId("viewer").dataset.surveyed = String(found.turns === this.replay?.last);
    this.showHappenings();
    return true;
  }

  /** Show what may be told of the whole match, and nothing else. */
  showKnown() {
    const { replay, game, playback } = this;
    if (replay && game) {
      byId("viewer").dataset.told = String(!this.isHidden);
      showDetails(replay, game, !this.isHidden);
      this.log.clear();
      this.showEvents();
      this.plot(this.measure);
      this.turnList.show(playback.turn, this.horizon);
    }
  }

  /** Show the events of which may be told. */
  showEvents() {
    const { found, horizon, replay } = this;
    const events = found?.events ?? [];
    const known = this.isHidden ? events.filter(({ turn }) => turn <= horizon) : events;
    this.scrubber.mark(events, horizon);
    this.moments.show(known, replay?.last ?? 0);
    this.log.show(known);
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
      this.showKnown();
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
    const { name, series } = this.found?.measures[measure] ?? { name: "", series: [] };
    this.chart.show(series.map((values) => values.slice(0, this.horizon + 1)), this.replay?.last ?? 0);
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
    this.advance(turn);
    const frame = replay.frame(turn);
    byId("viewer").dataset.ended = String(replay.over && turn === replay.last);
    if (game.lines) {
      this.outline.show(game.lines(frame, replay.frame(Math.max(0, turn - 1)), turn));
    } else {
      this.stage.show({ replay, game, memo, turn, focus, coordinates: byId("numbers").checked });
    }
    byId("turn").textContent = String(turn);
    byId("board").setAttribute("aria-label", game.describe(frame, replay));
    this.scrubber.show();
    this.players?.show(frame, turn, focus);
    this.playOn.show(replay, turn, replay.seat(game.mover?.(frame) ?? ""));
    this.turnList.show(turn, this.horizon);
    this.chart.point(turn);
    this.latency.chart.point(turn);
    this.showHappenings();
    this.saveAddress();
  }

  /**
   * Tell what was done in a turn; the list of turns asks again and again.
   * @param {number} turn
   * @returns {import("./games/game.js").Happening[]}
   */
  happened(turn) {
    const { replay, game, memo, deeds } = this;
    const known = deeds.get(turn);
    if (known || !replay || !game || turn === 0) {
      return known ?? [];
    }
    if (deeds.size >= MOST_DEEDS) {
      deeds.clear();
    }
    const before = replay.frame(turn - 1);
    const found = game.happened({ replay, turn, before, after: replay.frame(turn), actions: replay.actions(turn), memo });
    deeds.set(turn, found);
    return found;
  }

  /** Show what bots wrote, once the match is over. */
  async showOutput() {
    if (this.replay?.over) {
      await this.output.load(this.replay);
      this.showHappenings();
    }
  }

  /** Show what happened in the turn, and say its events. */
  showHappenings() {
    const { replay, game, output, playback: { turn } } = this;
    if (!replay || !game) {
      return;
    }
    const events = this.events.get(turn) ?? [];
    this.happenings.show({
      replay, turn, happened: this.happened(turn), output: output.of(turn),
      events: events.filter(({ kind }) => kind !== "end" && kind !== "fault"),
      ending: replay.over && turn === replay.last ? endingOf(replay, game) : "",
    });
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
      const view = this.replay.seats[this.focus]?.key ?? "";
      this.address.write({ turn: following ? null : turn, speed, view, hides: byId("hide").checked });
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
