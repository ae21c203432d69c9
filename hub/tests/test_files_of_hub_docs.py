"""The files that the documents of the hub print: each is read by what reads such a file."""

from __future__ import annotations

from cw.documents import parse_toml
from cw_hub.competitions.tournament.service import LARGEST_FILE, read_config
from hub.tests.documents import DOCS
from tests.documented import block


def test_the_tournament_of_the_page_is_one() -> None:
    table = parse_toml(block(DOCS / "tournaments.md", "title =").encode(), LARGEST_FILE)
    config = read_config(table, "duel", "hexagon")
    assert [group.name for group in config.groups] == ["GRODNO", "FINAL"]
    assert len(config.teams) == len(config.events) == 1
