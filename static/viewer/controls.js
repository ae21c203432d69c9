/** The controls of the viewer: the buttons under the board, the settings beside them, and the keys. */

import { byId } from "./elements.js";
import { bindKeys } from "./keys.js";

/** Turns that the up and down arrows skip. */
const JUMP = 10;
const REMEMBERED = "viewer-coordinates";

/** @typedef {import("./viewer.js").Viewer} Viewer */

/**
 * Connect the controls to a viewer.
 * @param {Viewer} viewer
 */
export function bindControls(viewer) {
  bindButtons(viewer);
  bindChoices(viewer);
  bindKeys(keysOf(viewer));
}

/** @param {Viewer} viewer */
function bindButtons(viewer) {
  const { playback } = viewer;
  const buttons = {
    first: () => playback.step(-playback.turn),
    last: () => playback.follow(),
    back: () => playback.step(-1),
    forward: () => playback.step(1),
    "previous-event": () => viewer.visit(-1),
    "next-event": () => viewer.visit(1),
    play: () => playback.toggle(),
    help: () => byId("keys").showModal(),
    live: () => playback.follow(),
  };
  for (const [id, act] of Object.entries(buttons)) {
    byId(id)?.addEventListener("click", act);
  }
}

/**
 * Bind speed, view and coordinates.
 * @param {Viewer} viewer
 */
function bindChoices(viewer) {
  for (const radio of document.getElementsByName("speed")) {
    radio.addEventListener("change", () => viewer.playback.hasten(Number(/** @type {HTMLInputElement} */ (radio).value)));
  }
  byId("perspective").addEventListener("change", () => viewer.look(byId("perspective").selectedIndex - 1));
  byId("numbers").addEventListener("change", () => {
    window["memory"]?.keep(REMEMBERED, byId("numbers").checked ? "on" : "off");
    viewer.showTurn();
  });
}

/**
 * Return the actions of keys.
 * @param {Viewer} viewer
 * @returns {Record<string, (digit: number) => void>}
 */
function keysOf(viewer) {
  const { playback, stage } = viewer;
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
    e: () => viewer.visit(1),
    q: () => viewer.visit(-1),
    f: () => stage.fit(),
    c: () => stage.followButton.hidden || stage.chooseFollow(!stage.follow.isOn),
    l: () => playback.follow(),
    "?": () => byId("keys").showModal(),
    digit: (number) => viewer.look(number - 1),
    "Shift+ArrowLeft": () => stage.pan(-1, 0),
    "Shift+ArrowRight": () => stage.pan(1, 0),
    "Shift+ArrowUp": () => stage.pan(0, -1),
    "Shift+ArrowDown": () => stage.pan(0, 1),
  };
}

/**
 * Offer the settings that depend on a replay: the player's view, and coordinates.
 * @param {import("./replay.js").Replay} replay
 * @param {import("./games/game.js").Game} game
 */
export function offerChoices(replay, game) {
  const effect = game.fog ? "fog" : "highlight";
  const options = replay.seats.map(({ letter, name, key }) => new Option(`${letter} ${name} (${effect})`, key));
  byId("perspective").replaceChildren(new Option("All players", ""), ...options);
  const usual = game.numbered ? "on" : "off";
  byId("numbers").checked = (window["memory"]?.recall(REMEMBERED, usual) ?? usual) === "on";
}

/**
 * Show whether a match is playing, its speed, and whether its latest turn is followed.
 * @param {import("./playback.js").Playback} playback
 */
export function showState({ playing, speed, live, following }) {
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
}
