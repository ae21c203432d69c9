"""A map for all tests of maps."""

from __future__ import annotations

import pytest

from cw.games.code_battle.maps.generation import make_map
from cw.games.code_battle.maps.map_file import Map


@pytest.fixture(scope="module")
def arena_map() -> Map:
    return make_map("m4_007", 4, 123, rows=30, cols=44)
