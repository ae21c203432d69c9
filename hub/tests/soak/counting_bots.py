"""Honest bots of Code Battle in one server, which note every turn that they are asked for."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

from hub.tests.broken_bots import NO_MOVES, BrokenServer, Exchange, sign, well


class Span(NamedTuple):
    """The time between the first and the last turn of a bot in one match."""

    first: float
    last: float
    match: str


class CountingBots:
    """Bots by their names; each has an address of its own, and signs by its own secret."""

    def __init__(self) -> None:
        self.address = ""
        self.secrets: dict[str, str] = {}
        self.spans: defaultdict[str, dict[str, Span]] = defaultdict(dict)
        """By bot, then by the name under which it knows the attempt."""
        self.lock = threading.Lock()

    def endpoint(self, name: str) -> str:
        """Return the address of a bot."""
        return f"{self.address}/{name}"

    def turn(self, exchange: Exchange) -> None:
        """Answer a turn without moves."""
        name, match = exchange.path.split("/")[1], exchange.headers["X-ACB-Match-Id"]
        now = time.monotonic()
        with self.lock:
            first = self.spans[name].get(match, Span(now, now, match)).first
            self.spans[name][match] = Span(first, now, match)
        mark = sign(exchange.headers, NO_MOVES, self.secrets[name])
        exchange.say(200, NO_MOVES, X_ACB_Signature=mark)

    def doubled(self, counted: Collection[str]) -> Mapping[str, tuple[Span, Span]]:
        """Return the bots that were in two of these attempts at once, with two such."""
        counts = {}
        for name, spans in self.spans.items():
            in_order = sorted(span for match, span in spans.items() if match in counted)
            for before, after in pairwise(in_order):
                if after.first < before.last:
                    counts[name] = (before, after)
        return counts


@contextmanager
def counting_bots() -> Iterator[CountingBots]:
    """Serve bots while the block runs."""
    bots = CountingBots()
    with BrokenServer(well, bots.turn) as server:
        bots.address = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield bots
        server.shutdown()
