/** Wheel, mouse and fingers on the board. */

const WHEEL = 0.0016;
const CLICK = 4;

/**
 * What the owner of the camera is told, at pixels of the picture; `pressed` tells whether the press is
 * not for the camera, and is dropped later.
 * @typedef {{
 *   changed: () => void, moved: () => void, pointed: (left: number, top: number) => void, left: () => void,
 *   pressed: (left: number, top: number) => boolean, dropped: (left: number, top: number) => void,
 * }} Told
 */

/**
 * Let wheel, drag and pinch move a camera.
 * @param {HTMLElement} place
 * @param {import("./camera.js").Camera} camera
 * @param {Told} listener
 */
export function bindPointer(place, camera, listener) {
  const hand = new Hand(place, camera, listener);
  place.addEventListener("wheel", (event) => hand.wheel(event), { passive: false });
  place.addEventListener("pointerdown", (event) => hand.down(event));
  place.addEventListener("pointermove", (event) => hand.move(event));
  place.addEventListener("pointerup", (event) => hand.up(event));
  place.addEventListener("pointercancel", (event) => hand.cancel(event));
  place.addEventListener("pointerleave", (event) => hand.leave(event));
}

/** The pointers that are down, and what they do. */
class Hand {
  /**
   * @param {HTMLElement} place
   * @param {import("./camera.js").Camera} camera
   * @param {Told} listener
   */
  constructor(place, camera, listener) {
    this.place = place;
    this.camera = camera;
    this.told = listener;
    /** @type {Map<number, {left: number, top: number}>} */
    this.fingers = new Map();
    this.way = 0;
    /** @type {number | null} the pointer whose press was not for the camera */
    this.taken = null;
  }

  /**
   * @param {MouseEvent} event
   * @returns {{left: number, top: number}}
   */
  at(event) {
    const box = this.place.getBoundingClientRect();
    return { left: event.clientX - box.left, top: event.clientY - box.top };
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    const { left, top } = this.at(event);
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    this.camera.zoom(Math.exp(-event.deltaY * lines * WHEEL), left, top);
    this.told.changed();
  }

  /** @param {PointerEvent} event */
  down(event) {
    const { left, top } = this.at(event);
    this.place.setPointerCapture(event.pointerId);
    if (this.fingers.size === 0 && event.button === 0 && this.told.pressed(left, top)) {
      this.taken = event.pointerId;
      return;
    }
    this.fingers.set(event.pointerId, { left, top });
    this.way = 0;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const now = this.at(event);
    const before = this.fingers.get(event.pointerId);
    this.told.pointed(now.left, now.top);
    if (!before) {
      return;
    }
    this.way += Math.abs(now.left - before.left) + Math.abs(now.top - before.top);
    this.fingers.set(event.pointerId, now);
    if (this.fingers.size === 2) {
      this.pinch(event.pointerId, before, now);
    } else if (this.camera.isClose && this.way > CLICK) {
      this.camera.pan(now.left - before.left, now.top - before.top);
      this.told.moved();
    }
    this.told.changed();
  }

  /**
   * @param {number} moved the finger
   * @param {{left: number, top: number}} before
   * @param {{left: number, top: number}} now
   */
  pinch(moved, before, now) {
    const [other] = [...this.fingers].filter(([id]) => id !== moved).map(([, place]) => place);
    const [was, is] = [distance(before, other), distance(now, other)];
    const middle = { left: (now.left + other.left) / 2, top: (now.top + other.top) / 2 };
    this.told.moved();
    this.camera.pan((now.left - before.left) / 2, (now.top - before.top) / 2);
    this.camera.zoom(is / Math.max(was, 1), middle.left, middle.top);
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (event.pointerId === this.taken) {
      this.taken = null;
      const { left, top } = this.at(event);
      this.told.dropped(left, top);
      return;
    }
    this.fingers.delete(event.pointerId);
    if (this.way <= CLICK) {
      const { left, top } = this.at(event);
      this.told.pointed(left, top);
    }
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    this.taken = this.taken === event.pointerId ? null : this.taken;
    this.fingers.delete(event.pointerId);
  }

  /** @param {PointerEvent} event */
  leave(event) {
    // A finger leaves as soon as it has tapped: what it pointed at stays.
    if (event.pointerType !== "touch") {
      this.told.left();
    }
  }
}

/**
 * @param {{left: number, top: number}} one
 * @param {{left: number, top: number}} other
 * @returns {number}
 */
function distance(one, other) {
  return Math.hypot(one.left - other.left, one.top - other.top);
}
