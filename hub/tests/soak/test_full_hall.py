"""An organiser leads a tournament of 200 people, in Chromium: `make soak`, at full size."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from hub.tests.browser.hall import open_hall
from hub.tests.browser.organiser import organise
from tests.browser.conftest import ARGUMENTS, find_chromium

pytestmark = pytest.mark.thorough

PEOPLE = int(os.environ.get("CW_PEOPLE", "200"))

logger = logging.getLogger(__name__)


def test_an_organiser_leads_a_tournament_of_a_full_hall(tmp_path: Path) -> None:
    with sync_playwright() as playwright, open_hall(tmp_path, PEOPLE) as hall:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        try:
            organise(hall, browser)
        finally:
            logger.info("%s people, load %s:\n%s", PEOPLE, os.getloadavg()[0], hall.timetable)
            browser.close()
