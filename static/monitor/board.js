/** The board as an SVG picture whose elements persist from one status to the next. */

import { allSegments, areas, condition, keyOf } from "./geometry.js";

/**
 * @typedef {import("./geometry.js").Segment} Segment
 * @typedef {[number, number]} Square x and y
 * @typedef {{owner: number, squares: number[][]}} Area
 */

const SVG = "http://www.w3.org/2000/svg";
const FIELD = 600;
const MARGIN = 36;
const SIDE = FIELD + 2 * MARGIN;
const LABEL_PIXELS = 12;
const LABEL_ROOM_PIXELS = 20;

/**
 * Create an SVG element.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElementTagNameMap[Name]}
 */
function make(name, attributes = {}) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, String(value));
  }
  return element;
}

/** Draws boards of any size into one SVG element. */
export class BoardPicture {
  /** @param {SVGSVGElement} svg */
  constructor(svg) {
    this.svg = svg;
    this.size = 0;
    this.cell = FIELD;
    this.trace = 0;
    /** @type {{segment: Segment, element: SVGGElement}[]} */
    this.lines = [];
    /** @type {SVGCircleElement[][]} by line and column */
    this.points = [];
    /** @type {Map<string, SVGGElement>} by what they show */
    this.areas = new Map();
    /** @type {SVGTextElement[]} */
    this.labels = [];
    svg.setAttribute("viewBox", `0 0 ${SIDE} ${SIDE}`);
    new ResizeObserver(() => this.fitLabels()).observe(svg);
  }

  /**
   * Show a position.
   * @param {number[][]} board
   * @param {string} lastMove
   * @param {Map<string, number>} authors by segment key, who drew it
   */
  show(board, lastMove, authors) {
    if (board.length !== this.size) {
      this.build(board.length);
    }
    const last = keyOf(lastMove);
    for (const { segment, element } of this.lines) {
      element.setAttribute("class", segmentClass(board, segment, authors, last));
    }
    this.showPoints(board);
    this.showAreas(areas(board));
    this.showHalo(last);
  }

  /**
   * Set up an empty board.
   * @param {number} size
   */
  build(size) {
    this.size = size;
    this.cell = FIELD / size;
    this.trace = Math.min(9, Math.max(3.5, this.cell * 0.1));
    this.svg.style.setProperty("--trace", String(this.trace));
    this.svg.style.setProperty("--halo", String(this.trace + Math.min(13, this.cell * 0.35)));
    this.svg.querySelectorAll("[data-layer]").forEach((layer) => layer.replaceChildren());
    this.lines = allSegments(size).map((segment) => this.line(segment));
    this.layer("segments").append(...this.lines.map((line) => line.element));
    this.points = this.makePoints();
    this.layer("points").append(...this.points.flat());
    this.areas = new Map();
    this.labels = this.makeLabels();
    this.layer("labels").append(...this.labels);
    this.fitLabels();
    this.point(null);
  }

  /**
   * @param {string} name
   * @returns {SVGGElement}
   */
  layer(name) {
    return /** @type {SVGGElement} */ (this.svg.querySelector(`[data-layer="${name}"]`));
  }

  /**
   * Return the position of a grid line.
   * @param {number} index
   * @returns {number}
   */
  at(index) {
    return Math.round((MARGIN + index * this.cell) * 100) / 100;
  }

  /**
   * Create the two strokes of a segment; the core identifies player 2 without colour.
   * @param {Segment} segment
   */
  line(segment) {
    const [x1, y1, x2, y2] = segment.ends.map((index) => this.at(index));
    const element = make("g", { "data-key": segment.key });
    element.append(
      make("line", { class: "wire", x1, y1, x2, y2 }),
      make("line", { class: "core", x1, y1, x2, y2 }),
    );
    return { segment, element };
  }

  /** @returns {SVGCircleElement[][]} by line and column */
  makePoints() {
    const lines = Array.from({ length: this.size + 1 }, (_, index) => index);
    return lines.map((y) => lines.map((x) => make("circle", { cx: this.at(x), cy: this.at(y) })));
  }

  /** @returns {SVGTextElement[]} along the upper and the left edge */
  makeLabels() {
    return Array.from({ length: this.size }, (_, index) => {
      const middle = this.at(index + 0.5);
      const upper = make("text", { x: middle, y: MARGIN * 0.4, "data-index": index });
      const left = make("text", { x: MARGIN * 0.44, y: middle, "data-index": index });
      upper.textContent = left.textContent = String(index);
      return [upper, left];
    }).flat();
  }

  /** Keep the labels at one size on the screen, and show as many as fit. */
  fitLabels() {
    const scale = this.svg.clientWidth / SIDE;
    if (!this.size || !scale) {
      return;
    }
    this.svg.style.setProperty("--label-size", `${LABEL_PIXELS / scale}px`);
    const room = this.cell * scale;
    const step = [1, 2, 5, 10].find((every) => every * room >= LABEL_ROOM_PIXELS) ?? 10;
    for (const label of this.labels) {
      label.toggleAttribute("hidden", Number(label.dataset.index) % step !== 0);
    }
  }

  /**
   * Mark the grid points that a drawn segment touches, and hide those inside an area.
   * @param {number[][]} board
   */
  showPoints(board) {
    const touching = { drawn: new Set(), free: new Set(), inner: new Set() };
    for (const { segment } of this.lines) {
      const [x1, y1, x2, y2] = segment.ends;
      touching[condition(board, segment)].add(this.points[y1][x1]).add(this.points[y2][x2]);
    }
    for (const point of this.points.flat()) {
      const state = touching.drawn.has(point) ? "drawn" : touching.free.has(point) ? "free" : "inner";
      point.setAttribute("class", `point ${state}`);
      point.setAttribute("r", String(this.trace * (state === "drawn" ? 0.75 : 0.45)));
    }
  }

  /**
   * Add new areas and remove those of an earlier game; keep the rest.
   * @param {Area[]} areas
   */
  showAreas(areas) {
    const areasByKey = new Map(areas.map((area) => [JSON.stringify(area), area]));
    for (const [name, element] of this.areas) {
      if (!areasByKey.has(name)) {
        element.remove();
        this.areas.delete(name);
      }
    }
    for (const [name, area] of areasByKey) {
      if (!this.areas.has(name)) {
        this.areas.set(name, this.addArea(area));
      }
    }
  }

  /**
   * @param {Area} area
   * @returns {SVGGElement}
   */
  addArea({ owner, squares }) {
    const d = squares.map(([x, y]) => this.outline(x, y)).join("");
    const element = make("g", { class: `area owner-${owner}`, "data-squares": squares.length });
    element.append(
      make("path", { class: "pour", d }),
      make("path", { class: "hatch", d, fill: `url(#hatch-${owner})` }),
    );
    this.layer("areas").append(element);
    return element;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @returns {string} the path around a square
   */
  outline(x, y) {
    const [left, top, right, bottom] = [x, y, x + 1, y + 1].map((index) => this.at(index));
    return `M${left} ${top}H${right}V${bottom}H${left}Z`;
  }

  /**
   * Draw the segment of the last move again, outlined and on top.
   * @param {string} key "" for none
   */
  showHalo(key) {
    const line = this.lines.find(({ segment }) => segment.key === key);
    const halo = this.layer("halo");
    halo.replaceChildren();
    if (line) {
      const [x1, y1, x2, y2] = line.segment.ends.map((index) => this.at(index));
      halo.append(
        make("line", { class: "rim", x1, y1, x2, y2 }),
        make("line", { class: "marker", x1, y1, x2, y2 }),
        line.element.cloneNode(true),
      );
    }
  }

  /**
   * Frame one square.
   * @param {Square | null} square null for none
   */
  point(square) {
    const cursor = this.layer("cursor");
    cursor.replaceChildren();
    if (square) {
      const inset = Math.min(this.trace, this.cell / 5);
      const side = this.cell - 2 * inset;
      const [x, y] = square.map((index) => this.at(index) + inset);
      cursor.append(make("rect", { x, y, width: side, height: side, rx: inset / 2 }));
    }
  }

  /**
   * Return the square under a point of the window, or null outside the board.
   * @param {number} clientX
   * @param {number} clientY
   * @returns {Square | null}
   */
  squareAt(clientX, clientY) {
    const frame = this.svg.getBoundingClientRect();
    const scale = SIDE / frame.width;
    const [x, y] = [clientX - frame.left, clientY - frame.top].map((pixels) =>
      Math.floor((pixels * scale - MARGIN) / this.cell));
    return Math.min(x, y) >= 0 && Math.max(x, y) < this.size ? [x, y] : null;
  }
}

/**
 * @param {number[][]} board
 * @param {Segment} segment
 * @param {Map<string, number>} authors
 * @param {string} last the key of the last move's segment
 * @returns {string}
 */
function segmentClass(board, segment, authors, last) {
  const state = condition(board, segment);
  const by = state === "drawn" ? ` by-${authors.get(segment.key) ?? 0}` : "";
  return `segment ${state}${by}${segment.key === last ? " last" : ""}`;
}
