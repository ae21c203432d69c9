"""Write the limits of the code into docs/hub/costs.md: `python docs/make_costs.py`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from flask import Flask  # noqa: E402

from cw.hub.accounts.access.own_limits import OwnAmount  # noqa: E402
from cw.hub.accounts.registration_limits import INVITED, MoreIfInvited, registrant  # noqa: E402
from cw.hub.operation.queue import CeleryQueue  # noqa: E402
from cw.hub.operation.resources import opened  # noqa: E402
from cw.hub.operation.settings import HubSettings  # noqa: E402
from cw.hub.pages import limiter as counting  # noqa: E402
from cw.hub.pages.limiter import OTHERS, Limit  # noqa: E402
from cw.hub.site import limits  # noqa: E402
from cw.hub.site.application import create_hub  # noqa: E402

FILE: Final = ROOT / "docs" / "hub" / "costs.md"
METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH"})
ROW: Final = re.compile(r"\| (.+?) \| (.+?) \| (.+?) \| (.+) \|")

COUNTED_FOR: Final[Mapping[object, str]] = {
    counting.network: "an address",
    limits.user: "an account",
    limits.bot: "a bot",
    limits.team: "a team",
    limits.name_for_strangers: "a username",
    limits.name_and_place: "a username and place",
    limits.network_of_strangers: "an address",
    limits.token: "a token or address",
    registrant: "an address",
}
"""By the function that names who is counted."""


def routes(app: Flask) -> Iterator[tuple[str, str, str]]:
    """Give method and address of each route, its endpoint and its method."""
    for rule in app.url_map.iter_rules():
        for method in sorted((rule.methods or set()) & METHODS):
            yield f"{method} {rule.rule}", rule.endpoint, method


def limits_of(app: Flask) -> dict[str, str]:
    """Return by route how often it may be asked, in words."""
    known = limits.all_limits(app)
    return {route: words(known, endpoint, method) for route, endpoint, method in routes(app)}


def words(known: Sequence[Limit], endpoint: str, method: str) -> str:
    """Return how often a route may be asked: its own limits, or that of all other pages."""
    own = [one for one in known if endpoint in one.endpoints and method in one.methods]
    if own:
        return "; ".join(words_of(one) for one in own)
    blueprint = endpoint.rpartition(".")[0]
    is_counted = (
        blueprint and blueprint not in limits.UNLIMITED and endpoint not in limits.UNCOUNTED
    )
    return f"{OTHERS} for an address" if is_counted else "none"


def words_of(limit: Limit) -> str:
    """Return how often something may be tried, and by whom that is counted."""
    words = f"{amount_of(limit)} for {COUNTED_FOR[limit.key]}"
    more = f", and {INVITED} by an invitation to a tournament"
    return words + more if isinstance(limit.amount, MoreIfInvited) else words


def amount_of(limit: Limit) -> str:
    """Return how often something may be tried, in words."""
    if isinstance(limit.amount, MoreIfInvited):
        return limit.amount.usual
    if not callable(limit.amount) or isinstance(limit.amount, OwnAmount):
        amount = str(limit.amount).replace("; ", ", ")
        return f"{amount} that succeed" if limit.only_done else amount
    return f"{limits.READS}, with a token {limits.READS_WITH_TOKEN.removesuffix(' per minute')}"


def names_of(cell: str) -> list[str]:
    """Return what a row is about."""
    return re.findall("`([^`]+)`", cell)


def rows(text: str) -> list[tuple[str, ...]]:
    """Return the cells of the rows of the page."""
    matches = [ROW.fullmatch(line) for line in text.splitlines()]
    return [row.groups() for row in matches if row and names_of(row[1])]


def renewed(text: str, known: Mapping[str, str]) -> str:
    """Return the page with the limits of the code; a note in parentheses behind them stays."""

    def renew(row: re.Match[str]) -> str:
        own = dict.fromkeys(known[name] for name in names_of(row[1]) if name in known)
        note = re.search(r" \([a-z][^()]*\)$", row[3])
        limit = " / ".join(own) + (note[0] if note else "") if own else row[3]
        return f"| {row[1]} | {row[2]} | {limit} | {row[4]} |"

    return ROW.sub(renew, text)


def site(folder: Path) -> Flask:
    """Return the application of a hub that is not served; its data would be in a folder."""
    settings = HubSettings(data=folder)
    with opened(settings, CeleryQueue(settings), lambda: datetime.now(UTC)) as resources:
        return create_hub(resources)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        renewed_page = renewed(FILE.read_text("utf-8"), limits_of(site(Path(folder))))
    FILE.write_text(renewed_page, "utf-8")
