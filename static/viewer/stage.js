/** The picture of the board: its size, its visible part, and when it is drawn. */

import { Camera } from "./camera.js";
import { contextOf, fitCanvas } from "./canvas.js";
import { inks } from "./drawing.js";
import { byId, flagOf } from "./elements.js";
import { Follow } from "./follow.js";
import { isDark } from "./palette.js";
import { bindPointer } from "./pointer.js";

const PADDING = { plain: 12, wrapped: 6, numbered: 30, cramped: 21 };
const CRAMPED = 480;
const LARGE_MAP = 24;
const MINIMAP = 132;
const MINIMAP_PART = 0.28;
const FLATTEST = 0.5;
const STEP = 60;
const ZOOM = 1.4;
const REMEMBERED = "viewer-follow";

/** A board and its eight copies around it. */
const AROUND = [-1, 0, 1].flatMap((across) => [-1, 0, 1].map((down) => [across, down]));

/** @type {Record<string, {right: number, down: number}>} steps of the arrow keys, in cells */
const WAYS = {
  ArrowLeft: { right: -1, down: 0 }, ArrowRight: { right: 1, down: 0 },
  ArrowUp: { right: 0, down: -1 }, ArrowDown: { right: 0, down: 1 },
};

/**
 * @typedef {{
 *   replay: import("./replay.js").Replay, game: import("./games/game.js").Game, memo: unknown,
 *   turn: number, focus: number, coordinates: boolean,
 * }} View
 */

/** Draws the current view, at most once per frame of the screen. */
export class Stage {
  /**
   * @param {HTMLElement} root around #board, #minimap and #bubble
   * @param {(spot: import("./drawing.js").Spot | null) => void} announce
   */
  constructor(root, announce) {
    this.root = root;
    this.announce = announce;
    this.canvas = byId("board");
    this.minimap = byId("minimap");
    this.bubble = byId("bubble");
    this.camera = new Camera();
    this.follow = new Follow(this.camera);
    this.followButton = byId("zoom-follow");
    /** @type {View | null} */
    this.view = null;
    /** @type {import("./drawing.js").Spot | null} */
    this.spot = null;
    /** @type {{left: number, top: number} | null} pixels of the picture */
    this.pointer = null;
    this.due = false;
    /** @type {import("./play/play.js").Play | null} play by hand; null if the board is only watched */
    this.player = null;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.bind();
  }

  /** Listen to the page. */
  bind() {
    bindPointer(this.canvas, this.camera, {
      change: () => this.request(),
      move: () => this.leave(),
      point: (left, top) => this.point({ left, top }),
      leave: () => this.point(null),
      press: (left, top) => Boolean(this.player?.press(this.camera.toBoard(left, top))),
      drop: (left, top) => {
        this.player?.drop(this.camera.toBoard(left, top));
        this.request();
      },
    });
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("blur", () => this.point(null));
    new ResizeObserver(() => this.resize()).observe(this.root);
    const again = () => this.request();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    this.still.addEventListener("change", again);
    new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    byId("zoom-in").addEventListener("click", () => this.zoom(ZOOM));
    byId("zoom-out").addEventListener("click", () => this.zoom(1 / ZOOM));
    byId("zoom-fit").addEventListener("click", () => this.fit());
    this.followButton.addEventListener("click", () => this.chooseFollow(!this.follow.isOn));
    this.minimap.addEventListener("pointerdown", (event) => this.jump(event));
  }

  /**
   * Show a moment of a replay.
   * @param {View} view
   */
  show(view) {
    const isNew = this.view?.replay !== view.replay;
    const padded = this.view?.coordinates !== view.coordinates;
    this.view = view;
    const { replay, game, turn } = view;
    if (isNew) {
      const { width, height } = game.extent(replay.frame(0));
      this.camera.open({ width, height }, Boolean(game.wraps));
      // The page lays out the board in its own proportions, within limits.
      const shape = Math.min(Math.max(height / width, FLATTEST), 1 / FLATTEST);
      document.documentElement.style.setProperty("--shape", String(shape));
      this.root.classList.toggle("night", Boolean(game.night));
    }
    if (isNew || padded) {
      this.resize();
    }
    if (game.scenery) {
      this.follow.aim(game.scenery(replay.frame(turn)));
    }
    if (isNew) {
      this.beginToFollow();
    }
    this.request();
  }

  /** Apply the size given by the page. */
  resize() {
    const { clientWidth: width, clientHeight: height } = this.root;
    fitCanvas(this.canvas, width, height);
    const numbered = width < CRAMPED ? PADDING.cramped : PADDING.numbered;
    const plain = this.view?.game.wraps ? PADDING.wrapped : PADDING.plain;
    const padding = this.view?.coordinates ? numbered : plain;
    this.camera.resize(width, height, padding);
    this.request();
  }

  /** Start following the action in a new replay, unless that was switched off. */
  beginToFollow() {
    this.follow.stop();
    this.followButton.hidden = !this.view?.game.scenery || !this.follow.isWorthwhile;
    if (!this.followButton.hidden && window["memory"]?.recall(REMEMBERED, "on") === "on") {
      this.follow.start();
    }
    this.followButton.setAttribute("aria-pressed", String(this.follow.isOn));
  }

  /** @param {boolean} wanted */
  chooseFollow(wanted) {
    window["memory"]?.keep(REMEMBERED, wanted ? "on" : "off");
    if (wanted) {
      this.follow.start();
      this.followButton.setAttribute("aria-pressed", String(this.follow.isOn));
      this.request();
    } else {
      this.fit();
    }
  }

  /** Leave the camera to the person who moves it. */
  leave() {
    this.follow.stop();
    this.followButton.setAttribute("aria-pressed", "false");
  }

  /** @param {number} factor */
  zoom(factor) {
    this.camera.zoom(factor);
    this.request();
  }

  /** Show the whole board. */
  fit() {
    this.leave();
    this.camera.fit();
    this.request();
  }

  /**
   * Move the view by a step.
   * @param {number} right
   * @param {number} down
   */
  pan(right, down) {
    this.leave();
    this.camera.pan(-right * STEP, -down * STEP);
    this.request();
  }

  /** @param {PointerEvent} event on the minimap */
  jump(event) {
    const { board } = this.camera;
    const box = this.minimap.getBoundingClientRect();
    this.leave();
    this.camera.lookAt(
      ((event.clientX - box.left) / box.width) * board.width,
      ((event.clientY - box.top) / box.height) * board.height,
    );
    this.request();
  }

  /** @param {{left: number, top: number} | null} pointer pixels of the picture */
  point(pointer) {
    this.pointer = pointer;
    this.request();
  }

  /**
   * Point at the next cell by an arrow key, if the board has the keyboard focus.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const way = WAYS[event.key];
    const changed = event.shiftKey || event.ctrlKey || event.altKey || event.metaKey;
    if (!way || changed || this.player || !this.root.matches(":focus-visible")) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const { camera } = this;
    const at = this.pointer ?? { left: camera.width / 2, top: camera.height / 2 };
    const { x, y } = camera.toBoard(at.left, at.top);
    const { width, height } = camera.board;
    this.point(camera.toPicture(within(x + way.right, width), within(y + way.down, height)));
  }

  /** Request a redraw. */
  request() {
    if (!this.due) {
      this.due = true;
      requestAnimationFrame((now) => {
        this.due = false;
        this.draw(now);
      });
    }
  }

  /**
   * Draw now.
   * @param {number} now milliseconds
   */
  draw(now) {
    const { view, canvas } = this;
    if (!view || canvas.width === 0) {
      return;
    }
    const isGoing = this.follow.step(this.still.matches ? 0 : now);
    const scene = this.scene(view, canvas, this.camera, now);
    this.look(scene, view.game);
    paint(canvas, scene, (to) => {
      view.game.draw(to);
      this.player?.draw(to, this.pointer && this.camera.toBoard(this.pointer.left, this.pointer.top));
    });
    this.drawMinimap(view, now);
    // If the camera shows everything and nothing can be dragged, touch scrolls the page.
    canvas.style.touchAction = this.camera.isClose || this.player?.open ? "none" : "pan-y";
    if (isGoing || (view.game.moves && !this.still.matches && !document.hidden)) {
      this.request();
    }
  }

  /**
   * @param {View} view
   * @param {HTMLCanvasElement} canvas
   * @param {Camera} camera
   * @param {number} now
   * @returns {import("./drawing.js").Scene}
   */
  scene({ replay, game, memo, turn, focus, coordinates }, canvas, camera, now) {
    // A hidden canvas, as in an inactive tab, has no width.
    const ratio = canvas.clientWidth ? canvas.width / canvas.clientWidth : devicePixelRatio;
    return {
      ctx: contextOf(canvas), camera, ratio,
      replay, turn, frame: replay.frame(turn), memo, dark: Boolean(game.night) || isDark(), coordinates,
      focus, fog: Boolean(game.fog), time: this.still.matches ? 0 : now, mini: canvas === this.minimap, spot: null,
    };
  }

  /**
   * Find the spot under the pointer, and name it.
   * @param {import("./drawing.js").Scene} scene
   * @param {import("./games/game.js").Game} game
   */
  look(scene, game) {
    let spot = null;
    if (this.pointer) {
      const { x, y } = this.camera.toBoard(this.pointer.left, this.pointer.top);
      spot = game.spotAt(scene, x, y);
    }
    scene.spot = spot;
    if (spot?.text !== this.spot?.text) {
      this.announce(spot);
    }
    this.spot = spot;
    this.showBubble();
  }

  /** Place the bubble beside the spot. */
  showBubble() {
    const { spot, bubble, camera } = this;
    bubble.hidden = !spot?.bubble;
    if (spot?.bubble) {
      const lines = spot.bubble.map((text) => lineOf(text, spot.person));
      bubble.replaceChildren(...lines);
      const left = (spot.x + spot.r - camera.x) * camera.scale + 10;
      const top = (spot.y - camera.y) * camera.scale - bubble.offsetHeight / 2;
      const flipped = left + bubble.offsetWidth > camera.width;
      const x = flipped ? (spot.x - spot.r - camera.x) * camera.scale - 10 - bubble.offsetWidth : left;
      bubble.style.transform = `translate(${Math.max(4, x)}px, ${Math.min(Math.max(4, top), camera.height - bubble.offsetHeight - 4)}px)`;
    }
  }

  /**
   * Draw the minimap if only a part of a large map is visible.
   * @param {View} view
   * @param {number} now
   */
  drawMinimap(view, now) {
    const { board } = this.camera;
    const wanted = this.camera.isClose && Math.max(board.width, board.height) >= LARGE_MAP;
    this.minimap.hidden = !wanted;
    if (wanted) {
      const size = Math.min(MINIMAP, this.camera.width * MINIMAP_PART);
      const scale = size / Math.max(board.width, board.height);
      const camera = new Camera();
      Object.assign(camera, { board, scale, width: board.width * scale, height: board.height * scale });
      fitCanvas(this.minimap, camera.width, camera.height);
      const scene = this.scene(view, this.minimap, camera, now);
      paint(this.minimap, { ...scene, coordinates: false }, (to) => view.game.draw(to));
      frameSeen(scene, this.camera, Boolean(view.game.wraps));
    }
  }
}

/**
 * @param {number} place
 * @param {number} size
 * @returns {number} the middle of its cell, or of the cell at the edge of the board
 */
function within(place, size) {
  return Math.floor(Math.min(Math.max(place, 0), Math.max(size - 1, 0))) + 0.5;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {import("./drawing.js").Scene} scene
 * @param {(scene: import("./drawing.js").Scene) => void} draw
 */
function paint(canvas, scene, draw) {
  const { ctx, camera, ratio } = scene;
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  // Whole device pixels avoid seams between cells.
  const scale = camera.scale * ratio;
  ctx.save();
  ctx.setTransform(scale, 0, 0, scale, -Math.round(camera.x * scale), -Math.round(camera.y * scale));
  draw(scene);
  ctx.restore();
}

/**
 * Frame the visible part of the board.
 * @param {import("./drawing.js").Scene} scene of the minimap
 * @param {Camera} camera of the board
 * @param {boolean} wraps whether the board wraps around
 */
function frameSeen(scene, camera, wraps) {
  const { ctx, camera: own, ratio } = scene;
  ctx.setTransform(own.scale * ratio, 0, 0, own.scale * ratio, 0, 0);
  ctx.strokeStyle = inks(scene).glow;
  ctx.lineWidth = 2 / own.scale;
  for (const [across, down] of wraps ? AROUND : [[0, 0]]) {
    const [x, y] = [camera.x + across * camera.board.width, camera.y + down * camera.board.height];
    ctx.strokeRect(x, y, camera.width / camera.scale, camera.height / camera.scale);
  }
}

/**
 * Create a line of the bubble; a country comes with its flag.
 * @param {string} text
 * @param {import("./replay.js").Person | undefined} person
 * @returns {HTMLElement}
 */
function lineOf(text, person) {
  const line = Object.assign(document.createElement("span"), { textContent: text });
  if (person?.flag && text === person.country) {
    line.prepend(flagOf(person, true));
  }
  return line;
}
