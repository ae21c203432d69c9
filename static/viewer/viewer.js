/** The viewer: one replay on the page, turn by turn, with all its parts. */

import { Address } from "./address.js";
import { Announcer } from "../shared/announcer.js";
import { Chart } from "./chart.js";
import { bindControls, offerChoices, showState } from "./controls.js";
import { TurnActions } from "./turn_actions.js";
import { Latency } from "./details.js";
import { byId } from "./elements.js";
import { endingOf } from "./ending.js";
import { gameOf } from "./games/game.js";
import { TurnSummary } from "./turn_summary.js";
import { Output } from "./output.js";
import { Outline } from "./outline.js";
import { Overview } from "./overview.js";
import { PlayOn } from "./play_on.js";
import { Playback } from "./playback.js";
import { Players } from "./players.js";
import { Room } from "./room.js";
import { Scrubber } from "./scrubber.js";
import { Share } from "./share.js";
import { Stage } from "./stage.js";
import { TurnList } from "./turn_list.js";
import { TurnLog } from "./turn_log.js";

/** Shows replays, one after the other. */
export class Viewer {
  constructor() {
    const visit = (/** @type {number} */ turn) => this.playback.step(turn - this.playback.turn);
    this.playback = new Playback();
    this.stage = new Stage(byId("stage"), (spot) => { byId("spot").textContent = spot?.text ?? ""; });
    this.room = new Room(byId("viewer"));
    this.scrubber = new Scrubber(byId("scrubber"), byId("marks"), this.playback);
    this.chart = new Chart(byId("chart"));
    this.overview = new Overview(this.scrubber, this.chart, visit, {
      learn: () => this.showLearned(),
      tell: () => this.turnList.show(this.playback.turn, this.overview.horizon),
      choose: () => this.saveAddress(),
    });
    this.turnList = new TurnList(byId("turn-scroller"), byId("turn-list"), visit);
    /** @type {import("./turn_list.js").Source | null} */
    this.source = null;
    const log = document.querySelector("#turn-log");
    if (log instanceof HTMLDetailsElement) {
      new TurnLog(log, () => this.source && { source: this.source, last: this.overview.horizon });
    }
    this.latency = new Latency(visit);
    this.happenings = new TurnSummary(byId("happened"));
    this.output = new Output();
    this.outline = new Outline(byId("outline"));
    this.announcer = new Announcer(byId("announcer"));
    this.address = new Address();
    this.share = new Share(() => this.shareContent());
    this.playOn = new PlayOn();
    this.focus = -1;
    /** @type {TurnActions | null} */
    this.turnActions = null;
    /** @type {import("./replay.js").Replay | null} */
    this.replay = null;
    /** @type {import("./games/game.js").Game | null} */
    this.game = null;
    /** @type {unknown} prepared by the game */
    this.memo = null;
    /** @type {Players | null} */
    this.players = null;
    this.bind();
  }

  /** Listen to the page. */
  bind() {
    this.playback.addEventListener("turn", () => this.showTurn());
    this.playback.addEventListener("state", () => {
      showState(this.playback);
      this.saveAddress();
    });
    window.addEventListener("hashchange", () => this.replay && this.obeyAddress());
    bindControls(this);
  }

  /**
   * Return what is currently shown, for sharing.
   * @returns {import("./share.js").Content | null}
   */
  shareContent() {
    const { replay, game, playback: { turn }, focus } = this;
    const view = replay?.seats[focus]?.key ?? "";
    return replay && { replay, turn, view, told: !this.overview.isHidden, pictured: !game?.lines };
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
    const turnActions = new TurnActions(replay, game, this.memo);
    this.turnActions = turnActions;
    this.overview.open(replay, game);
    this.source = {
      replay, alternating: Boolean(game.mover),
      actionsOf: (/** @type {number} */ turn) => turnActions.at(turn),
      events: (/** @type {number} */ turn) => this.overview.eventsOf(turn),
    };
    this.turnList.open(this.source);
    this.playback.open(replay.last, !replay.over);
    this.players = new Players(replay, game, (seat) => this.look(seat === this.focus ? -1 : seat));
    this.dress(game);
    offerChoices(replay, game);
    game.listen?.(() => game === this.game && this.showTurn());
    this.playOn.offer(replay);
    this.showLength(replay);
    byId("viewer").dataset.state = "ready";
    const plays = byId("viewer").dataset.plays && this.address.read().turn === null && !this.stage.still.matches;
    this.obeyAddress();
    this.showTurn();
    this.overview.tell();
    this.overview.look(this.memo);
    void this.showOutput();
    if (plays) {
      this.playback.play();
    }
  }

  /** Handle new turns or the end of the match. */
  grow() {
    const { replay, game, overview, playback } = this;
    if (!replay || !game) {
      return;
    }
    game.grow?.(this.memo, replay);
    this.showLength(replay);
    playback.grow(replay.last, !replay.over);
    if (replay.over) {
      overview.end(playback.turn);
      // A match that ends by resignation gets no new turn.
      this.showTurn();
      void this.showOutput();
    }
    this.scrubber.show();
    this.turnList.show(playback.turn, overview.horizon);
    overview.look(this.memo);
  }

  /**
   * Adapt the page to a game.
   * @param {import("./games/game.js").Game} game
   */
  dress(game) {
    byId("viewer").classList.toggle("plain", Boolean(game.lines));
    byId("viewer").classList.toggle("measureless", game.measures.length === 0);
    byId("outline").classList.toggle("board", Boolean(game.isBoard));
  }

  /**
   * Show the number of turns, and how long bots took for them.
   * @param {import("./replay.js").Replay} replay
   */
  showLength(replay) {
    this.latency.show(replay);
    byId("turns").textContent = String(replay.last);
  }

  /** Apply the state in the address; without a turn, follow a running match. */
  obeyAddress() {
    const { turn, speed, view, hides } = this.address.read();
    if (hides) {
      this.overview.hide();
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
   * Choose whose view to show.
   * @param {number} seat -1 for all
   */
  look(seat) {
    this.focus = seat < (this.replay?.seats.length ?? 0) ? seat : this.focus;
    byId("perspective").selectedIndex = this.focus + 1;
    this.showTurn();
  }

  /**
   * Go to the next or previous event.
   * @param {1 | -1} direction
   */
  visit(direction) {
    const turn = this.scrubber.neighbour(direction);
    if (turn !== null) {
      this.playback.step(turn - this.playback.turn);
    }
  }

  /** Show the current turn. */
  showTurn() {
    const { replay, game, memo, focus, playback } = this;
    if (!replay || !game) {
      return;
    }
    const { turn } = playback;
    this.overview.advance(turn);
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
    this.turnList.show(turn, this.overview.horizon);
    this.chart.point(turn);
    this.latency.chart.point(turn);
    this.showHappenings();
    this.saveAddress();
  }

  /** Show the findings of the survey. */
  showLearned() {
    this.turnList.fill(true);
    this.showHappenings();
  }

  /** Show the bots' output, once the match is over. */
  async showOutput() {
    if (this.replay?.over) {
      await this.output.load(this.replay);
      this.showHappenings();
    }
  }

  /** Show the events of the turn, and announce them. */
  showHappenings() {
    const { replay, game, output, playback: { turn } } = this;
    if (!replay || !game) {
      return;
    }
    const events = this.overview.eventsOf(turn);
    this.happenings.show({
      replay, turn, turnActions: this.turnActions?.at(turn) ?? [], output: output.at(turn),
      events: events.filter(({ kind }) => kind !== "end" && kind !== "fault"),
      ending: replay.over && turn === replay.last ? endingOf(replay, game) : "",
    });
    if (events.length > 0) {
      this.announcer.say(`Turn ${turn}: ${events.map(({ text }) => text).join(". ")}`);
    }
  }

  /** Store turn, speed and view in the address. */
  saveAddress() {
    if (this.replay) {
      const { turn, speed, following } = this.playback;
      const view = this.replay.seats[this.focus]?.key ?? "";
      this.address.write({ turn: following ? null : turn, speed, view, hides: byId("hide").checked });
    }
  }
}
