"""A tournament of which rows are written, without a match that is played."""

from __future__ import annotations

import pytest

from cw_hub.pages.polls import Tags
from hub.tests.ladder_rows import Rows, duel
from hub.tests.pages.test_polls import Seconds
from hub.tests.sites import Site


@pytest.fixture
def rows(site: Site) -> Rows:
    site.app.extensions["tags"] = Tags(Seconds())
    return duel(site.resources.database, site.clock)
