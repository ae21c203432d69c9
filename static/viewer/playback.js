/** Which turn is shown, and how playback continues. */

/** Multiples of two turns a second. */
export const SPEEDS = [1, 2, 4, 8, 16];
const SLOWEST = 2;
const LONGEST_STEP = 250;

/** Dispatches "turn" when another turn should be shown, and "state" when it plays, stops or changes speed. */
export class Playback extends EventTarget {
  constructor() {
    super();
    this.turn = 0;
    this.last = 0;
    this.speed = 1;
    this.playing = false;
    /** Whether more turns may come. */
    this.live = false;
    /** Whether the latest turn of a running match is followed. */
    this.following = false;
    this.owed = 0;
    this.before = 0;
  }

  /**
   * Start with a replay.
   * @param {number} last its last turn
   * @param {boolean} live whether more turns may come
   */
  open(last, live = false) {
    this.last = last;
    this.turn = 0;
    this.live = live;
    this.pause();
  }

  /**
   * Extend the replay of a running match.
   * @param {number} last its last turn
   * @param {boolean} live whether more turns may come
   */
  grow(last, live) {
    this.last = last;
    this.live = live;
    if (this.following) {
      this.seek(last);
    }
    this.following &&= live;
    this.dispatchEvent(new Event("state"));
  }

  /** Show the last turn, and every later one as it comes. */
  follow() {
    this.pause();
    this.following = this.live;
    this.seek(this.last);
    this.dispatchEvent(new Event("state"));
  }

  /**
   * Show a turn, or the nearest existing one.
   * @param {number} turn
   */
  seek(turn) {
    const next = Math.min(this.last, Math.max(0, Math.round(turn) || 0));
    if (next !== this.turn) {
      this.turn = next;
      this.dispatchEvent(new Event("turn"));
    }
  }

  /**
   * Stop, and move by some turns.
   * @param {number} turns negative: back
   */
  step(turns) {
    this.pause();
    this.seek(this.turn + turns);
  }

  /** Play; at the end, restart from the beginning. */
  play() {
    if (this.turn === this.last && this.live) {
      this.follow();
      return;
    }
    this.following = false;
    if (this.turn === this.last) {
      this.seek(0);
    }
    this.playing = this.last > 0;
    this.owed = 0;
    this.before = performance.now();
    requestAnimationFrame((now) => this.tick(now));
    this.dispatchEvent(new Event("state"));
  }

  /** Stop. */
  pause() {
    this.playing = false;
    this.following = false;
    this.dispatchEvent(new Event("state"));
  }

  /** Play, or stop. */
  toggle() {
    return this.playing ? this.pause() : this.play();
  }

  /**
   * Set the speed.
   * @param {number} speed one of SPEEDS
   */
  hasten(speed) {
    this.speed = SPEEDS.includes(speed) ? speed : 1;
    this.dispatchEvent(new Event("state"));
  }

  /**
   * Switch to a neighbouring speed.
   * @param {number} steps
   */
  shift(steps) {
    const index = SPEEDS.indexOf(this.speed) + steps;
    this.hasten(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, index))]);
  }

  /** @param {number} now */
  tick(now) {
    if (!this.playing) {
      return;
    }
    // After a pause of the page, playback continues from where it was.
    this.owed += (Math.min(Math.max(now - this.before, 0), LONGEST_STEP) / 1000) * SLOWEST * this.speed;
    this.before = now;
    const turns = Math.floor(this.owed);
    this.owed -= turns;
    this.seek(this.turn + turns);
    if (this.turn === this.last) {
      this.follow();
    }
    requestAnimationFrame((then) => this.tick(then));
  }
}
