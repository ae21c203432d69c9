"""A tournament of which rows are written, without a match that is played."""

from __future__ import annotations

import pytest

from cw.hub.pages.polls import Tags
from tests.hub.ladder_rows import Rows, duel
from tests.hub.pages.test_polls import Seconds
from tests.hub.sites import Site


@pytest.fixture
def rows(site: Site) -> Rows:
    site.app.extensions["tags"] = Tags(Seconds())
    return duel(site.resources.database, site.clock)
