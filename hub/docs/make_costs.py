"""Write the limits in the code to hub/docs/costs.md: `python hub/docs/make_costs.py`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from flask import Flask  # noqa: E402

from cw_hub.accounts.account_limits import (  # noqa: E402
    INVITED,
    MoreIfInvited,
    OwnAmount,
    registrant,
)
from cw_hub.operation.queue import CeleryQueue  # noqa: E402
from cw_hub.operation.resources import opened  # noqa: E402
from cw_hub.operation.settings import HubSettings  # noqa: E402
from cw_hub.pages import request_counts  # noqa: E402
from cw_hub.pages.request_counts import OTHERS, Limit  # noqa: E402
from cw_hub.site import request_limits  # noqa: E402
from cw_hub.site.application import create_hub  # noqa: E402

FILE: Final = ROOT / "hub" / "docs" / "costs.md"
METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH"})
ROW: Final = re.compile(r"\| (.+?) \| (.+?) \| (.+) \|")
BRACES: Final = re.compile(r"\{([^{}]*)\}")
AMOUNT: Final = re.compile(r"(\d+) per ((?:\d+ )?)(minute|hour|day)s?")
DEFAULT: Final = f"{OTHERS.replace(' per minute', '/min')} per address"
"""The limit of each route that has none of its own."""
OF_API: Final = ("api-reads", "api-writes")
"""The limits of all calls of the API, which the page lists once."""
OF_PASSWORDS: Final = "as log-in"
"""Stands for the limits of passwords where a route has others too."""

COUNTED_FOR: Final[Mapping[object, str]] = {
    request_counts.network: "address",
    request_limits.user: "account",
    request_limits.bot: "bot",
    request_limits.team: "team",
    request_limits.name_for_strangers: "username",
    request_limits.name_and_place: "username and place",
    request_limits.network_of_strangers: "address",
    request_limits.token: "token or address",
    registrant: "address",
}
"""By the function that names who is counted."""


def routes(app: Flask) -> Iterator[tuple[str, str, str]]:
    """Give method and address of each route, its endpoint and its method."""
    for rule in app.url_map.iter_rules():
        for method in sorted((rule.methods or set()) & METHODS):
            yield f"{method} {rule.rule}", rule.endpoint, method


def limits_of(app: Flask) -> dict[str, str]:
    """Return by route how often it may be asked, in words."""
    known = request_limits.all_limits(app)
    return {route: words(known, endpoint, method) for route, endpoint, method in routes(app)}


def scopes_of(app: Flask) -> dict[str, tuple[str, ...]]:
    """Return by route the names of its own limits, which it shares with other routes."""
    known = request_limits.all_limits(app)
    return {
        route: tuple(limit.scope for limit in own_limits(known, endpoint, method))
        for route, endpoint, method in routes(app)
    }


def own_limits(known: Sequence[Limit], endpoint: str, method: str) -> Sequence[Limit]:
    """Return the limits of a route; those of all calls of the API only if it has no others."""
    own = [one for one in known if endpoint in one.endpoints and method in one.methods]
    return [limit for limit in own if limit.scope not in OF_API] or own


def words(known: Sequence[Limit], endpoint: str, method: str) -> str:
    """Return how often a route may be asked: its own limits, or that of all other pages."""
    own = own_limits(known, endpoint, method)
    others = [words_of(limit) for limit in own if limit.scope not in request_limits.GUESSES]
    if others:
        return "; ".join([OF_PASSWORDS] * (len(others) < len(own)) + others)
    if own:
        return "; ".join(words_of(limit) for limit in own)
    blueprint = endpoint.rpartition(".")[0]
    is_counted = (
        blueprint
        and blueprint not in request_limits.UNLIMITED
        and endpoint not in request_limits.UNCOUNTED
    )
    return DEFAULT if is_counted else "none"


def words_of(limit: Limit) -> str:
    """Return how often something may be tried, and by whom that is counted."""
    words = f"{amount_of(limit)} per {COUNTED_FOR[limit.key]}"
    return f"{words}, {short(INVITED)} if invited" if has_more(limit) else words


def has_more(limit: Limit) -> bool:
    """Return whether people who are invited to a tournament may do more."""
    return isinstance(limit.amount, MoreIfInvited)


def amount_of(limit: Limit) -> str:
    """Return how often something may be tried, in words."""
    if isinstance(limit.amount, MoreIfInvited):
        return short(limit.amount.usual)
    if not callable(limit.amount) or isinstance(limit.amount, OwnAmount):
        amount = short(str(limit.amount))
        return amount.replace("/", " changes/") if limit.only_done else amount
    with_token = short(request_limits.READS_WITH_TOKEN)
    return f"{short(request_limits.READS)} ({with_token} with a token)"


def short(amount: str) -> str:
    """Return an amount in few letters.

    >>> short("10 per 15 minutes")
    '10/15 min'
    """
    return AMOUNT.sub(r"\1/\2\3", amount).replace("minute", "min")


def names_of(cell: str) -> list[str]:
    """Return what a row is about; methods stand before the addresses that they are for.

    >>> names_of("`GET,POST` `/a`, `/b` and `tick`")
    ['GET /a', 'POST /a', 'GET /b', 'POST /b', 'tick']
    """
    names: list[str] = []
    methods = ""
    for words in re.findall("`([^`]+)`", cell):
        if set(words.split(",")) <= METHODS:
            methods = words
        else:
            whole = f"{{{methods}}} {words}" if words.startswith("/") else words
            names += expanded(whole)
    return names


def expanded(name: str) -> list[str]:
    """Return the names that braces abbreviate.

    >>> expanded("GET /t/{a,b}")
    ['GET /t/a', 'GET /t/b']
    """
    braces = BRACES.search(name)
    if braces is None:
        return [name]
    head, tail = name[: braces.start()], name[braces.end() :]
    return [one for part in braces[1].split(",") for one in expanded(head + part + tail)]


def rows(text: str) -> list[tuple[str, ...]]:
    """Return the cells of the rows of the page."""
    matches = [ROW.fullmatch(line) for line in text.splitlines()]
    return [row.groups() for row in matches if row and names_of(row[1])]


def renewed(text: str, known: Mapping[str, str]) -> str:
    """Return the page with the limits of the code."""

    def renew(row: re.Match[str]) -> str:
        own = dict.fromkeys(known[name] for name in names_of(row[1]) if name in known)
        limit = " / ".join(own) or row[2]
        return f"| {row[1]} | {limit} | {row[3]} |"

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
