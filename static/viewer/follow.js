/** A camera that follows the action on a board too large to be seen well as a whole. */

/**
 * Minimum cell size in pixels, and maximum number of cells across the picture; whichever gives larger cells applies.
 */
const LEAST_CELL = 16;
const CELLS_ACROSS = 26;

/** How much larger cells must become for following; otherwise the whole board is shown. */
const WORTHWHILE = 1.25;

/** The share of the highest weight that the current place must have for the camera to stay. */
const LOYALTY = 0.5;

/** Milliseconds in which the camera covers most of its way, and the maximum of a step. */
const PACE = 260;
const LONGEST_STEP = 100;

/** Cells by which it may lag behind. */
const NEAR = 0.05;

/** @typedef {import("./games/game.js").Scenery} Scenery */

/** Moves a camera over a board that wraps around. */
export class Follow {
  /** @param {import("./camera.js").Camera} camera */
  constructor(camera) {
    this.camera = camera;
    this.isOn = false;
    /** @type {Scenery | null} */
    this.target = null;
    this.before = 0;
  }

  /** Pixels per cell while following. */
  get scale() {
    return Math.max(LEAST_CELL, this.camera.width / CELLS_ACROSS);
  }

  /** Whether following shows more than the whole board does. */
  get isWorthwhile() {
    return this.scale > this.camera.fitScale * WORTHWHILE;
  }

  /** Start following: zoom in, and jump to the target. */
  start() {
    this.isOn = this.isWorthwhile;
    if (this.isOn) {
      this.camera.closeUp(this.scale);
      this.arrive();
    }
  }

  /** Stop following. */
  stop() {
    this.isOn = false;
  }

  /**
   * Choose a target among places: the neighbourhood with the highest weight, or the current one if its weight is
   * similar.
   * @param {Scenery[]} places
   */
  aim(places) {
    const best = this.weightiest(places);
    const here = this.target && this.weightiest(places.filter((place) => this.isInSight(place)));
    this.target = best && here && here.weight >= best.weight * LOYALTY ? here : best ?? this.target;
  }

  /**
   * @param {Scenery[]} places
   * @returns {Scenery | null} the middle of the weightiest neighbourhood, and its weight
   */
  weightiest(places) {
    const sums = places.map((place) => this.around(place, places));
    return sums.reduce((/** @type {Scenery | null} */ best, sum) => (best && best.weight >= sum.weight ? best : sum), null);
  }

  /**
   * Sum up the neighbourhood of a place: what is visible with it in the middle of the picture's inner half.
   * @param {Scenery} place
   * @param {Scenery[]} places
   * @returns {Scenery}
   */
  around({ x, y }, places) {
    const reach = this.camera.width / this.scale / 4;
    const sum = { across: 0, down: 0, weight: 0 };
    for (const place of places) {
      const { across, down } = this.way({ x, y }, place);
      if (Math.abs(across) <= reach && Math.abs(down) <= reach) {
        sum.across += across * place.weight;
        sum.down += down * place.weight;
        sum.weight += place.weight;
      }
    }
    return { x: x + sum.across / sum.weight, y: y + sum.down / sum.weight, weight: sum.weight };
  }

  /**
   * @param {Scenery} place
   * @returns {boolean} whether it is in the picture
   */
  isInSight(place) {
    const { camera } = this;
    const { across, down } = this.way(camera.middle, place);
    return Math.abs(across) <= camera.width / camera.scale / 2 && Math.abs(down) <= camera.height / camera.scale / 2;
  }

  /**
   * Move on towards the target.
   * @param {number} now milliseconds, 0 if motion is unwanted
   * @returns {boolean} whether the target is not reached yet
   */
  step(now) {
    const passed = Math.min(Math.max(now - this.before, 0), LONGEST_STEP);
    this.before = now;
    if (!this.isOn || !this.target) {
      return false;
    }
    const { across, down } = this.way(this.camera.middle, this.target);
    if (now === 0 || Math.hypot(across, down) < NEAR) {
      this.arrive();
      return false;
    }
    const part = 1 - Math.exp(-passed / PACE);
    const { x, y } = this.camera.middle;
    this.lookAt(x + across * part, y + down * part);
    return true;
  }

  /** Jump to the target. */
  arrive() {
    if (this.target) {
      this.lookAt(this.target.x, this.target.y);
    }
  }

  /**
   * @param {number} x any position, also beyond the edges
   * @param {number} y
   */
  lookAt(x, y) {
    const { width, height } = this.camera.board;
    this.camera.lookAt(((x % width) + width) % width, ((y % height) + height) % height);
  }

  /**
   * Return the shortest way between two places on a board that wraps around.
   * @param {{x: number, y: number}} from
   * @param {{x: number, y: number}} to
   * @returns {{across: number, down: number}}
   */
  way(from, to) {
    const { width, height } = this.camera.board;
    return { across: shortest(to.x - from.x, width), down: shortest(to.y - from.y, height) };
  }
}

/**
 * @param {number} away
 * @param {number} size
 * @returns {number}
 */
function shortest(away, size) {
  return away - size * Math.round(away / size);
}
