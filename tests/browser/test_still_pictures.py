"""Still pictures beside what a real browser makes of them, and of the viewer's marks."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser

from cw.drawing import COLOURS, Part, Sheet, mark_of
from cw.pictures.raster import image_of
from cw.pictures.svg import svg
from cw.web import create_app
from tests.browser.recorded import MATCHES
from tests.fixtures import Serve
from tests.pictures.looking import document_of, sheet_at

INSIDE = """async ([seat, places]) => {
  const { pathOf } = await import("/static/viewer/palette.js");
  const path = pathOf(seat);
  const ctx = document.createElement("canvas").getContext("2d");
  return places.map(([x, y]) => ctx.isPointInPath(path, x / 10, y / 10));
}"""


def test_marks_are_those_of_the_viewer(serve: Serve, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"{serve(create_app())}/static/base.css")
    # Half a pixel off every edge that lies on whole ones.
    places = [(x - 14.5, y - 14.5) for x in range(30) for y in range(30)]
    for seat in range(len(COLOURS)):
        part = Part((mark_of(seat, (0, 0), 10, "#000000"),), 15, 15)
        image = image_of(Sheet(30, 30, "#ffffff", "", (part,))).convert("L")
        ink = np.asarray(image).T.reshape(-1) < 128
        inside = np.array(page.evaluate(INSIDE, [seat, places]))
        assert (ink != inside).sum() <= 12, seat
        assert inside.sum() > 80
    page.close()


@pytest.mark.thorough
@pytest.mark.parametrize("game", MATCHES)
def test_svg_and_png_show_the_same(tmp_path: Path, browser: Browser, game: str) -> None:
    sheet = sheet_at(document_of(game), 20)
    file = tmp_path / "moment.svg"
    file.write_bytes(svg(sheet))
    page = browser.new_page(viewport={"width": sheet.width, "height": sheet.height})
    page.goto(file.as_uri())
    screenshot = Image.open(BytesIO(page.screenshot())).convert("RGB")
    page.close()
    ours = np.asarray(image_of(sheet)).astype(int)
    difference = np.abs(np.asarray(screenshot) - ours).max(axis=2)
    # Letters differ, for the browser has other fonts, and so do the dots of edges.
    assert (difference > 12).mean() < 0.06
    assert (difference > 100).mean() < 0.015
