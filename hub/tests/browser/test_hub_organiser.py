"""An organiser leads a tournament of a few people; tests/soak lets many come."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from hub.tests.browser.hall import open_hall
from hub.tests.browser.organiser import organise

PEOPLE = 8


@pytest.mark.thorough
def test_an_organiser_leads_a_tournament_in_the_browser(tmp_path: Path, browser: Browser) -> None:
    with open_hall(tmp_path, PEOPLE) as hall:
        organise(hall, browser)
