"""Servers with pages of matches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.fixtures import FakeClock
from tests.web.live.live_pages import Served


@pytest.fixture
def served(clock: FakeClock) -> Iterator[Served]:
    """Make clients of apps whose matches end with the test."""
    apps: list[Flask] = []

    def make(**settings: Any) -> FlaskClient:
        apps.append(create_app(SiteSettings(timeout=3, **settings), clock))
        return apps[-1].test_client()

    yield make
    for app in apps:
        app.extensions["matches"].close()
