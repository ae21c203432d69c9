"""The files that the documents of the hub print: each is read by what reads such a file."""

from __future__ import annotations

from hub.tests.documents import DOCS

from cw.documents.toml import parse_toml
from cw_hub.competitions.tournament.config import LARGEST_FILE, read_config
from tests.documented import block


def test_the_tournament_of_the_page_is_one() -> None:
    table = parse_toml(block(DOCS / "tournaments.md", "title =").encode(), LARGEST_FILE)
    config = read_config(table, "duel", "hexagon")
    assert [group.name for group in config.groups] == ["GRODNO", "FINAL"]
    assert len(config.teams) == len(config.events) == 1
