"""The hubs that are attacked, each of them started once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hub.tests.attacks.hubs import SHAPES, Hub, open_hub


@pytest.fixture(scope="session", params=SHAPES)
def hub(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A hub of each shape, which several attacks share."""
    # It runs until the last test has ended; a slow tick keeps its matches few.
    with open_hub(request.param, tmp_path_factory.mktemp("hub"), CW_TICK="4") as hub:
        yield hub
