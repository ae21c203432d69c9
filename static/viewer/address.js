/**
 * The viewer's state in the address of the page, after its "#", or in a link after its "?": turn, speed, view, and
 * "hide".
 */

const SOON = 250;

/** Reads and writes the address. */
export class Address {
  constructor() {
    this.timer = 0;
    /** The last state of hiding the result. */
    this.hides = false;
  }

  /**
   * Return the state in the address.
   * @returns {{turn: number | null, speed: number, view: string, hides: boolean}} `hides`: the result is hidden
   */
  read() {
    const parameters = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
    return {
      turn: parameters.has("turn") ? Number(parameters.get("turn")) || 0 : null,
      speed: Number(parameters.get("speed")) || 1,
      view: parameters.get("view") ?? "",
      hides: parameters.get("hide") === "1",
    };
  }

  /**
   * Write the address soon, as browsers allow only a few changes a second; a changed `hides` is written at once.
   * @param {{turn: number | null, speed: number, view: string, hides: boolean}} state null as turn: the last one
   */
  write({ turn, speed, view, hides }) {
    if (location.protocol === "about:") {
      return; // An embedded page has no address of its own.
    }
    clearTimeout(this.timer);
    const parameters = new URLSearchParams(turn === null ? {} : { turn: String(turn) });
    parameters.set("speed", String(speed));
    if (view) {
      parameters.set("view", view);
    }
    if (hides) {
      parameters.set("hide", "1");
    }
    const save = () => history.replaceState(null, "", `#${parameters}`);
    if (hides === this.hides) {
      this.timer = setTimeout(save, SOON);
    } else {
      this.hides = hides;
      save();
    }
  }
}
