"""A duel of three cities: bots in three languages, and in each city three that go wrong."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Any, ClassVar

import pytest
from sqlalchemy import select

from cw.league.ladder import POINTS
from cw_hub.store.models import Battle, Match
from hub.tests.conftest import ON_POSTGRESQL, StillClock
from hub.tests.ladder_hub import Tournament, totals_by_replays
from hub.tests.sites import Site
from tests.kits import running
from tests.tools import require

# The joins are those of the database that many machines share.
pytestmark = ON_POSTGRESQL

CITIES = {"grodno": "ruby", "dnepr": "javascript", "minsk": "python"}
"""Each with the language of the bot that plays as it should."""

REASONS = {"dead": "disconnected", "hanging": "timeout", "illegal": "illegal"}
WORDS = {"dead": "no connection", "hanging": "time-out", "illegal": "illegal move"}

LIMIT = 10.0
"""Seconds for an answer: each battle of a hanging bot waits for it, and no other bot needs it, so
that it is long for a busy machine, and one city alone has a bot that hangs."""

KINDS = {
    city: (language, *(kind for kind in REASONS if kind != "hanging" or city == "grodno"))
    for city, language in CITIES.items()
}
"""What the bots of each city do."""

THREE = {"name": "Hexagon 3", "options": {"size": 3, "timeout": LIMIT}, "factor": 1}
FOUR = {"name": "Hexagon 4", "options": {"size": 4, "timeout": LIMIT}, "factor": 2}


class Wrong(BaseHTTPRequestHandler):
    """A bot that takes part until it has to move: then it hangs, or moves as it may not."""

    protocol_version = "HTTP/1.1"
    move: ClassVar[Mapping[str, Any] | None] = None
    """None: it hangs."""
    released: ClassVar[Signal]

    def do_GET(self) -> None:
        if self.move is None:
            self.released.wait()
        self.say({"status": "ok", **(self.move or {})})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.say({"status": "ok"})

    do_PUT = do_DELETE = do_POST  # noqa: N815 - as http.server has it

    def say(self, document: object) -> None:
        body = json.dumps(document).encode()
        with suppress(ConnectionError):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def wrong_bot(move: Mapping[str, Any] | None) -> Iterator[str]:
    """Serve a bot that goes wrong; gives its address."""
    released = Signal()
    handler = type("Handler", (Wrong,), {"move": move, "released": released})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            released.set()
            server.shutdown()


@contextmanager
def nobody() -> Iterator[str]:
    """Give an address at which nobody listens, and nobody else will."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def bots(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The addresses of all bots, by what they do or the language that they are written in."""
    for language in CITIES.values():
        require(language)
    with ExitStack() as stack:
        nowhere = {"move_from": [0, 0], "move_to": [0, 0]}
        addresses = {
            "dead": stack.enter_context(nobody()),
            "hanging": stack.enter_context(wrong_bot(None)),
            "illegal": stack.enter_context(wrong_bot(nowhere)),
        }
        for language in CITIES.values():
            kit = running.build("hexagon", language, tmp_path / language)
            addresses[language] = (
                f"http://127.0.0.1:{stack.enter_context(running.serving(kit)).port}"
            )
        yield addresses


@pytest.fixture
def duel(site: Site, bots: dict[str, str]) -> Tournament:
    """Three cities of three or four teams, those of the house, and a bot that plays everywhere."""
    groups: dict[str, dict[str, str]] = {
        city: {f"{city}-{kind}": bots[kind] for kind in kinds} for city, kinds in KINDS.items()
    }
    groups["internal"] = {"house-one": "greedy", "house-two": "random", "ours": "greedy"}
    settings = {"boards": [THREE], "round_every": 60, "finalists": 1, "parallel": 16}
    tournament = Tournament(site.resources, {**groups, "final": {}}, settings)
    for city in CITIES:
        with site.resources.database.writing() as session:
            tournament.enter(session, city, "ours")
    return tournament


@pytest.mark.thorough
def test_a_duel_of_three_cities_is_worth_what_its_replays_tell(
    site: Site, duel: Tournament, hub_clock: StillClock
) -> None:
    duel.happens("start")
    for number in range(2):
        if number == 1:
            duel.happens("boards", boards=[FOUR])
        hub_clock.advance(60 * bool(number))
        duel.advance()
        assert duel.play_at_once(16) == 10 + 6 + 6 + 3
    for group in (*CITIES, "internal"):
        boards = [one.board["name"] for one in duel.rounds(group)]
        assert boards == ["Hexagon 3", "Hexagon 4"]
    hub_clock.advance(30)
    assert duel.act("carry-over")
    best = {f"{city}-{language}" for city, language in CITIES.items()}
    assert set(duel.entries("final")) == {*best, "ours"}
    for _ in range(2):
        assert duel.play_at_once(16) == 6
        hub_clock.advance(60)
        duel.advance()
    duel.happens("end")
    duel.play_at_once(16)
    for group in (*CITIES, "internal", "final"):
        assert duel.phase(group) == "over"
        assert duel.totals(group) == totals_by_replays(duel, group, POINTS)
    for match in duel.matches():
        check_reasons(duel, match)
    check_words(site)


def check_reasons(tournament: Tournament, match: Match) -> None:
    """Each battle ended by the fault of the first who has met the other with one, or by chips."""
    assert match.state == "done"
    names = [seat.name for seat in tournament.seats(match)]
    battles: list[Battle] = tournament.read(
        select(Battle).where(Battle.match_id == match.id).order_by(Battle.number)
    )
    for battle in battles:
        order = (battle.first_slot, 1 - battle.first_slot)
        kinds = {slot: names[slot].rpartition("-")[2] for slot in order}
        dead = [slot for slot in order if kinds[slot] == "dead"]
        wrong = [*dead, *(slot for slot in order if kinds[slot] in REASONS)]
        if not wrong:
            assert battle.reason == "finished", names
            continue
        loser = wrong[0]
        assert battle.reason == REASONS[kinds[loser]], names
        assert (battle.ranks[loser], battle.ranks[1 - loser]) == (2, 1)
    ended = [
        kind for seat in tournament.seats(match) for kind in (one["kind"] for one in seat.faults)
    ]
    assert sorted(ended) == sorted(one.reason for one in battles if one.reason != "finished")


def check_words(site: Site) -> None:
    """The page of each team that plays says why the games of others ended."""
    for city, language in CITIES.items():
        good = f"{city}-{language}".title()
        payload = site.visitor().open(f"/t/duel/{city}/{city}-{language}.json").json()
        games = {one["games"][1]: one["outcome"] for one in payload["results"]}
        for kind in KINDS[city][1:]:
            words = WORDS[kind]
            assert games[f"{good}: {words} by {f'{city}-{kind}'.title()}"] == "won"
