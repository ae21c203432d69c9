/** The turn, speed and view that the address of the page carries: after its "#", or in a link after its "?". */

const SOON = 250;

/** Reads and writes the address. */
export class Address {
  constructor() {
    this.timer = 0;
  }

  /**
   * Give what the address says.
   * @returns {{turn: number | null, speed: number, view: string}}
   */
  read() {
    const said = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
    return {
      turn: said.has("turn") ? Number(said.get("turn")) || 0 : null,
      speed: Number(said.get("speed")) || 1,
      view: said.get("view") ?? "",
    };
  }

  /**
   * Write the address soon; browsers take only a few changes a second.
   * @param {{turn: number | null, speed: number, view: string}} state without a turn: the last one
   */
  write({ turn, speed, view }) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const said = new URLSearchParams(turn === null ? {} : { turn: String(turn) });
      said.set("speed", String(speed));
      if (view) {
        said.set("view", view);
      }
      history.replaceState(null, "", `#${said}`);
    }, SOON);
  }
}
