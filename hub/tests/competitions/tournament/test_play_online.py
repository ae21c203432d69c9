"""People of a tournament who play by hand: with the training bot, and with their team's own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic, sleep
from typing import Any, ClassVar

import pytest
import requests
from sqlalchemy import func, select

from cw.arena.sandbox import bubblewrap
from cw.games.registry import load_game
from cw.replays.document import decode
from cw.replays.verify import verify
from cw_hub.bots.programs import NO_PROGRAMS
from cw_hub.competitions.tournament.team_bots import NO_BOT
from cw_hub.competitions.tournament.team_pages import ELSEWHERE, INVITATION, NO_WALLS
from cw_hub.store.models import Bot, Competition, Match
from hub.tests.bots.test_player_bots import served
from hub.tests.bots.test_uploaded_programs import CLIENT
from hub.tests.competitions.tournament.test_my_team_page import PAGE, joined, send_file, tournament
from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_rows import LETTERS, Rows
from hub.tests.sites import Site, Visitor, words_of

pytestmark = ON_SQLITE

PATIENCE = 120.0
"""Seconds that are enough on the slowest machine."""

SECRET = "5e" * 32
OWN = {"bot": "own:t1", "hand": "2", "size": "3", "seed": "3", "tournament": "t1"}
ONLINE = "/games/hexagon/?tournament=t1"


class Ear(BaseHTTPRequestHandler):
    """Passes what a bot is asked on to it."""

    protocol_version = "HTTP/1.1"
    heard: ClassVar[Heard]

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.heard.requests.append((self.command, self.path, body))
        bot = f"{self.heard.bot}{self.path}"
        answer = requests.request(self.command, bot, data=body, timeout=PATIENCE)
        self.send_response(answer.status_code)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    do_GET = do_POST = do_PUT = do_DELETE = pass_on  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@dataclass
class Heard:
    """What a bot was asked."""

    bot: str
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)
    address: str = ""

    def methods(self) -> list[str]:
        return [method for method, _, _ in self.requests]


@contextmanager
def overheard(strategy: str = "greedy") -> Iterator[Heard]:
    """Serve a bot of Hexagon to which nothing is said that is not noted."""
    with served("hexagon", strategy) as bot:
        heard = Heard(bot)
        ear = type("EarOfBot", (Ear,), {"heard": heard})
        with ThreadingHTTPServer(("127.0.0.1", 0), ear) as server:
            heard.address = f"http://127.0.0.1:{server.server_port}"
            Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
            try:
                yield heard
            finally:
                server.shutdown()


@pytest.fixture
def hub(site: Site) -> Iterator[Site]:
    """A hub whose matches end with the test."""
    yield site
    site.app.extensions["matches"].close()


def wait(look: Callable[[], Any]) -> Any:
    """Look again and again until there is something."""
    until = monotonic() + PATIENCE
    while not (value := look()):
        assert monotonic() < until
        sleep(0.02)
    return value


def set_url(rows: Rows, address: str) -> None:
    """Let Alpha's bot be at an address, with a secret."""
    with rows.database.writing() as session:
        bot = session.get_one(Bot, rows.bots["Alpha"])
        bot.kind, bot.endpoint = "url", address


def offered(page: requests.Response) -> list[str]:
    """Return the words of the bots that one may play against."""
    assert page.status_code == 200, page.text
    (form,) = re.findall(r'<select name="bot">(.*?)</select>', page.text, re.S)
    return re.findall(r"<option[^>]*>([^<]+)<", form)


def begin(visitor: Visitor, form: dict[str, str], game: str = "hexagon") -> str:
    """Begin a match; return the address of its page."""
    answer = visitor.send_form(f"/games/{game}/matches", form)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def part(address: str, name: str) -> str:
    """Return the address of a part of a match from that of its page."""
    path, mark, key = address.partition("?")
    return f"{path}/{name}{mark}{key}"


def document_once(visitor: Visitor, address: str, fits: Callable[[Any], Any]) -> Any:
    """Return the document of a match once it fits."""

    def look() -> Any:
        answer = visitor.open(part(address, "document"))
        return answer.json() if answer.status_code == 200 and fits(answer.json()) else None

    return wait(look)


def turn_of(visitor: Visitor, address: str) -> Any:
    """Return what one may do once it is one's turn."""
    return document_once(visitor, address, lambda document: document["yours"])["yours"]


def move(visitor: Visitor, address: str, yours: Any) -> None:
    body = {"turn": yours["turn"], "action": yours["moves"][0]}
    answer = visitor.post(f"{visitor.address}{part(address, 'move')}", json=body)
    assert answer.status_code == 202, answer.text


def matches_planned(site: Site) -> int:
    with site.resources.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Match)) or 0


def test_without_a_token_only_the_training_bot_is_offered(hub: Site) -> None:
    rows = tournament(hub)
    rows.event("start")
    visitor = hub.visitor()
    page = visitor.open("/t/t1/grodno/")
    assert 'href="/games/hexagon/?tournament=t1#play-title"' in page.text
    online = visitor.open(ONLINE)
    assert offered(online) == ["the training bot"]
    assert INVITATION in words_of(online)
    assert 'href="/t/t1/"' in online.text
    refused = visitor.send_form("/games/hexagon/matches", OWN)
    assert refused.status_code == 400
    assert INVITATION in words_of(refused)
    address = begin(visitor, OWN | {"bot": "builtin:greedy"})
    move(visitor, address, turn_of(visitor, address))
    assert 'href="/games/hexagon/?tournament=t1"' in visitor.open(address).text
    # Beside tournaments the training bot comes first.
    assert offered(visitor.open("/games/hexagon/"))[:2] == ["the training bot", "constant"]
    assert INVITATION in words_of(visitor.open("/games/hexagon/"))
    assert INVITATION not in words_of(visitor.open("/games/paint/"))
    for path in ("?tournament=t2", "?tournament=%00", "?tournament="):
        assert visitor.open(f"/games/hexagon/{path}").status_code == 404
    assert visitor.open("/games/paint/?tournament=t1").status_code == 404


def test_a_team_plays_with_its_own_bot(hub: Site) -> None:
    rows = tournament(hub)
    alpha = joined(hub)
    assert NO_BOT in words_of(alpha.open(ONLINE))
    with overheard() as record:
        set_url(rows, record.address)
        assert offered(alpha.open(ONLINE)) == ["the training bot", "my own bot"]
        assert "my own bot" in offered(alpha.open("/games/hexagon/"))
        link = re.search(r'href="([^"]+)">Play with your bot<', alpha.open(PAGE).text)
        assert link
        page = alpha.open(link[1].replace("&amp;", "&")).text
        assert '<option value="own:t1" selected>my own bot' in page
        address = begin(alpha, OWN)
        move(alpha, address, turn_of(alpha, address))
        document = document_once(alpha, address, lambda content: len(content["turns"]) > 2)
        method, path, body = record.requests[0]
        assert (method, path) == ("POST", "/games")
        assert json.loads(body)["training"] is True
        assert json.loads(body)["first_turn"] is True
        assert document["faults"] == []
        assert [one["name"] for one in document["players"]] == ["Alpha", "you"]
        again = alpha.send_form("/games/hexagon/matches", OWN)
        assert again.status_code == 503
        assert "Alpha is already playing online: end that match first" in words_of(again)
        alpha.send_form(part(address, "resign"), {})
        wait(lambda: "DELETE" in record.methods())
        document = document_once(alpha, address, lambda content: content["live"]["over"])
        assert document["result"]["outcome"]["reason"] == "resigned"
        nothing_tells(hub, alpha, address, record.address)
        replay = {key: document[key] for key in document if key not in ("live", "yours", "replay")}
        assert verify(load_game("hexagon"), decode(json.dumps(replay).encode())) is None
        # Another one may follow.
        assert begin(alpha, OWN) != address
    assert matches_planned(hub) == 0


def nothing_tells(hub: Site, alpha: Visitor, address: str, bot: str) -> None:
    """Look for what nobody else must know, wherever a match is told of."""
    path = address.partition("?")[0]
    for visitor in (alpha, hub.visitor()):
        for page in (address, path, f"{path}/document", f"{path}/document?after=0"):
            answer = visitor.open(page)
            assert answer.status_code == 200
            for secret in (bot, "127.0.0.1", LETTERS, SECRET, "b_0000"):
                assert secret not in answer.text.replace(hub.address, ""), page
    listed = hub.visitor().open("/games/hexagon/").text
    assert path not in listed


def test_an_own_bot_may_be_only_where_the_settings_allow(hub: Site) -> None:
    rows = tournament(hub)
    own = hub.app.extensions["own_bots"]
    settings = replace(own.resources.settings, bot_network=("public",))
    resources = replace(own.resources, settings=settings)
    hub.app.extensions["own_bots"] = replace(own, resources=resources)
    alpha = joined(hub)
    with overheard() as heard:
        set_url(rows, heard.address)
        address = begin(alpha, OWN)
        document = document_once(alpha, address, lambda content: content["live"]["over"])
        assert document["faults"] == [
            {"turn": 0, "player": 1, "kind": "disconnected", "detail": ""}
        ]
        assert heard.requests == []
        nothing_tells(hub, alpha, address, heard.address)


def test_the_secret_of_a_bot_is_at_hand_as_in_matches_that_count(hub: Site) -> None:
    rows = tournament(hub)
    with rows.database.writing() as session:
        bot = session.get_one(Bot, rows.bots["Alpha"])
        bot.endpoint, bot.secret_version = "http://127.0.0.1:9", 1
        sealed = hub.resources.sealer.seal(SECRET.encode(), f"{bot.bot_id}.1")
        bot.secret, bot.key_id = sealed.data, sealed.key_id
    alpha = joined(hub)
    address = begin(alpha, OWN)
    document_once(alpha, address, lambda content: content["live"]["over"])
    (match,) = hub.app.extensions["matches"]._matches.values()
    bots = match.progress.record.bots.values()
    assert [bot.settings.get("secret") for bot in bots] == [SECRET, None]
    nothing_tells(hub, alpha, address, "http://127.0.0.1:9")


def test_programs_are_played_with_where_they_may_run(hub: Site) -> None:
    rows = tournament(hub, "circuit-wars", boards=[{"options": {"size": 3}}])
    alpha = joined(hub)
    online = "/games/circuit-wars/?tournament=t1"
    form = OWN | {"hand": "1", "size": "3"}
    assert send_file(alpha, "game_ai.py", CLIENT).status_code == 303
    assert ELSEWHERE in words_of(alpha.open(online))
    refused = alpha.send_form("/games/circuit-wars/matches", form)
    assert refused.status_code == 400
    assert ELSEWHERE in words_of(refused)
    hub.app.extensions["own_bots"] = replace(hub.app.extensions["own_bots"], runs_programs=True)
    if bubblewrap.problem():
        assert NO_WALLS in words_of(alpha.open(online))
        return
    assert '<option value="own:t1">my own bot' in alpha.open(online).text
    address = begin(alpha, form, "circuit-wars")
    move(alpha, address, turn_of(alpha, address))
    document = document_once(alpha, address, lambda content: len(content["turns"]) > 1)
    assert document["faults"] == []
    assert [one["name"] for one in document["players"]] == ["you", "Alpha"]
    assert "game_ai" not in json.dumps(document)
    with rows.database.writing() as session:
        row = session.get_one(Competition, rows.id)
        row.settings = {**row.settings, "hosting": "off"}
    assert f"{NO_PROGRAMS}." in words_of(alpha.open(online))
