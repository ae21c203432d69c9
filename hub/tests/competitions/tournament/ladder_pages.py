"""A tournament of three teams as its pages show it."""

from __future__ import annotations

from cw_hub.pages.polls import Tags
from hub.tests.ladder_rows import HEXAGON_3, Rows
from hub.tests.pages.test_polls import Seconds
from hub.tests.sites import Site, words_of

WON = [("finished", (1, 2), (34, 21)), ("finished", (1, 2), (30, 28))]
NO_START = [("startup", (1, 2), (3, 3)), ("startup", (1, 2), (3, 3))]
ILLEGAL = [("illegal", (1, 2), (3, 3)), ("illegal", (1, 2), (3, 3))]
DRAWN = [("finished", (1, 2), (34, 21)), ("finished", (2, 1), (21, 34))]
LEVEL = {"Alpha": 1, "Beta": 1, "Gamma": 1}


def first_round(rows: Rows, *, closed: bool) -> int:
    """Play the first round of GRODNO."""
    one = rows.round("GRODNO", 1, HEXAGON_3, closed=closed, positions=LEVEL)
    rows.match(one, ("Alpha", "Beta"), ILLEGAL)
    rows.match(one, ("Beta", "Gamma"), NO_START)
    rows.match(one, ("Gamma", "Alpha"), [("startup", (2, 1), (3, 3))] * 2)
    if closed:
        rows.score(one, {"Alpha": (4, 4, 1, 2), "Beta": (2, 2, 2, 1, 0, 1), "Gamma": (0, 0, 3)})
    return one


def page(site: Site, path: str) -> str:
    """Return the words of a page that is there."""
    answer = site.visitor().open(path)
    assert answer.status_code == 200, answer.text
    return words_of(answer)


def payload_at(site: Site, path: str) -> dict[str, object]:
    """Return what scripts are told now."""
    site.app.extensions["tags"] = Tags(Seconds())
    payload: dict[str, object] = site.visitor().open(path).json()
    return payload
