/** Wheel, mouse and touch input on the board. */

const WHEEL = 0.0016;
const CLICK = 4;

/**
 * Callbacks for the owner of the camera, with pixels of the picture; `press` returns whether it handles the press
 * itself, which `drop` ends.
 * @typedef {{
 *   change: () => void, move: () => void, point: (left: number, top: number) => void, leave: () => void,
 *   press: (left: number, top: number) => boolean, drop: (left: number, top: number) => void,
 * }} Listener
 */

/**
 * Let wheel, drag and pinch control a camera.
 * @param {HTMLElement} place
 * @param {import("./camera.js").Camera} camera
 * @param {Listener} listener
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

/** The pressed pointers and their effects. */
class Hand {
  /**
   * @param {HTMLElement} place
   * @param {import("./camera.js").Camera} camera
   * @param {Listener} listener
   */
  constructor(place, camera, listener) {
    this.place = place;
    this.camera = camera;
    this.listener = listener;
    /** @type {Map<number, {left: number, top: number}>} */
    this.fingers = new Map();
    this.way = 0;
    /** @type {number | null} the pointer of a press that the camera ignores */
    this.press = null;
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
    this.listener.change();
  }

  /** @param {PointerEvent} event */
  down(event) {
    const { left, top } = this.at(event);
    this.place.setPointerCapture(event.pointerId);
    if (this.fingers.size === 0 && event.button === 0 && this.listener.press(left, top)) {
      this.press = event.pointerId;
      return;
    }
    this.fingers.set(event.pointerId, { left, top });
    this.way = 0;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const now = this.at(event);
    const before = this.fingers.get(event.pointerId);
    this.listener.point(now.left, now.top);
    if (!before) {
      return;
    }
    this.way += Math.abs(now.left - before.left) + Math.abs(now.top - before.top);
    this.fingers.set(event.pointerId, now);
    if (this.fingers.size === 2) {
      this.pinch(event.pointerId, before, now);
    } else if (this.camera.isClose && this.way > CLICK) {
      this.camera.pan(now.left - before.left, now.top - before.top);
      this.listener.move();
    }
    this.listener.change();
  }

  /**
   * @param {number} finger that has moved
   * @param {{left: number, top: number}} before
   * @param {{left: number, top: number}} now
   */
  pinch(finger, before, now) {
    const [other] = [...this.fingers].filter(([id]) => id !== finger).map(([, place]) => place);
    const [start, end] = [distance(before, other), distance(now, other)];
    const middle = { left: (now.left + other.left) / 2, top: (now.top + other.top) / 2 };
    this.listener.move();
    this.camera.pan((now.left - before.left) / 2, (now.top - before.top) / 2);
    this.camera.zoom(end / Math.max(start, 1), middle.left, middle.top);
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (event.pointerId === this.press) {
      this.press = null;
      const { left, top } = this.at(event);
      this.listener.drop(left, top);
      return;
    }
    this.fingers.delete(event.pointerId);
    if (this.way <= CLICK) {
      const { left, top } = this.at(event);
      this.listener.point(left, top);
    }
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    this.press = this.press === event.pointerId ? null : this.press;
    this.fingers.delete(event.pointerId);
  }

  /** @param {PointerEvent} event */
  leave(event) {
    // A finger leaves right after a tap: what it pointed at stays.
    if (event.pointerType !== "touch") {
      this.listener.leave();
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
