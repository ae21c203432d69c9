"""The viewer, opened: what its tests look for, and where on the page that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.recorded import recorded

TWO = ("circuit-wars", "code-battle")
READY = "#viewer[data-surveyed=true]"
WRAPPED = 6
"""Pixels around a board that goes on at the opposite edge."""

HOSTILE = '<img src=x onerror="document.title=1">'

Open = Callable[..., Page]
Altered = Callable[..., Page]

PIXELS = """(places) => {
  const canvas = document.getElementById("board");
  const ratio = canvas.width / canvas.clientWidth;
  const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return places.map(([x, y]) => {
    const at = 4 * (Math.floor(y * ratio) * width + Math.floor(x * ratio));
    return Array.from(data.slice(at, at + 4));
  });
}"""

COLOURS = "async () => (await import('/static/viewer/palette.js')).COLOURS.map(([light]) => light)"

PICTURE = "() => document.getElementById('board').toDataURL()"

DRAWN = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
})"""

TABLET, DESK, WIDE = (1000, 760), (1280, 800), (1920, 1080)
PHONE = (390, 844)
SMALLEST = 360
"""The width of a small phone."""

DRAWN_DISCS = """async () => {
  const arcs = [];
  const arc = CanvasRenderingContext2D.prototype.arc;
  CanvasRenderingContext2D.prototype.arc = function (x, y, r, ...rest) {
    if (this.canvas.id === "board") {
      const scale = this.getTransform().a / devicePixelRatio;
      arcs.push({ style: this.fillStyle, pixels: 2 * r * scale });
    }
    return arc.call(this, x, y, r, ...rest);
  };
  document.getElementById("zoom-fit").click();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  CanvasRenderingContext2D.prototype.arc = arc;
  return arcs;
}"""


def turn(page: Page) -> Any:
    return expect(page.locator("#turn"))


def middle(page: Page, x: float, y: float, size: tuple[float, float], padding: int) -> list[float]:
    """Return the pixel of the stage under which a place of the whole board lies."""
    width, height = page.evaluate("[board.clientWidth, board.clientHeight]")
    scale = min((width - 2 * padding) / size[0], (height - 2 * padding) / size[1], 120)
    scale = scale // 1 if scale > 14 else scale
    return [width / 2 + (x - size[0] / 2) * scale, height / 2 + (y - size[1] / 2) * scale]


def hover(page: Page, place: list[float]) -> None:
    page.locator("#board").hover(position={"x": place[0], "y": place[1]})
    page.evaluate(DRAWN)


def spot(page: Page) -> str:
    return page.locator("#spot").inner_text()


def last_turn(game: str) -> int:
    return len(recorded(game)["turns"])


def box(element: Locator) -> dict[str, float]:
    place = element.bounding_box()
    assert place is not None
    return {side: float(place[side]) for side in ("x", "y", "width", "height")}
