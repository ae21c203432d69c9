"""Matches that pages begin: what forms may say, who may play, and what makes way for what."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any, cast

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from cw.arena.bots import BotSpec, read_bots
from cw.errors import Abandoned, CapacityError
from cw.games.registry import load_game, load_play_options
from cw.matches.progress import MatchProgress
from cw.matches.spec import Isolation, MatchSpec
from cw.replays import document as replay
from cw.replays.verify import verify
from cw.web import create_app
from cw.web.live.live_match import Guest, LiveMatch
from cw.web.live.live_matches import (
    MOST_WAITING,
    MOST_WAITING_OF_ONE,
    MOST_WITH_GUESTS,
    UNMOVED,
    UNWATCHED,
    LiveMatches,
)
from cw.web.settings import SiteSettings
from tests.conftest import FakeClock
from tests.effort import first_is_fast
from tests.matches.bots_of_games import HEXAGON, write

PATIENCE = 600.0
"""Seconds that are enough on the slowest machine."""

AGAINST_RANDOM = {"bot": "builtin:random", "hand": "1"}
TWO = {"seat-1": "builtin:greedy", "seat-2": "builtin:random", "pace": "all"}

Served = Callable[..., FlaskClient]


@pytest.fixture
def served(clock: FakeClock) -> Iterator[Served]:
    """Make clients of apps whose matches end with the test."""
    apps: list[Flask] = []

    def make(**settings: Any) -> FlaskClient:
        apps.append(create_app(SiteSettings(timeout=3, **settings), clock))
        return apps[-1].test_client()

    yield make
    for app in apps:
        app.extensions["matches"].close()


def begin(client: FlaskClient, game: str, form: dict[str, str]) -> str:
    answer = client.post(f"/games/{game}/matches", data=form)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def part(address: str, what: str) -> str:
    """Return the address of a part of a match from that of its page."""
    path, mark, key = address.partition("?")
    return f"{path}/{what}{mark}{key}"


def wait(look: Callable[[], Any]) -> Any:
    """Look again and again until there is something."""
    until = monotonic() + PATIENCE
    while not (value := look()):
        assert monotonic() < until
        sleep(0.01)
    return value


def document_of(client: FlaskClient, address: str) -> Any:
    answer = wait(lambda: _begun(client.get(part(address, "document"))))
    return answer.json


def _begun(answer: TestResponse) -> TestResponse | None:
    assert answer.status_code == 200 or not answer.get_json()["over"], answer.text
    return answer if answer.status_code == 200 else None


def ended(client: FlaskClient, address: str) -> Any:
    def look() -> Any:
        document = document_of(client, address)
        return document if document["live"]["over"] else None

    return wait(look)


def asked(client: FlaskClient, address: str) -> Any:
    def look() -> Any:
        document = document_of(client, address)
        assert not document["live"]["over"], document["live"]
        return document["yours"]

    return wait(look)


@pytest.mark.parametrize(
    "game", first_is_fast(["circuit-wars", "code-battle", "end-of-codes", "hexagon", "paint"])
)
def test_the_usual_match_of_every_game_is_played_to_its_end(served: Served, game: str) -> None:
    client = served()
    names = load_play_options(game).strategies
    form = {f"seat-{seat}": f"builtin:{name}" for seat, name in enumerate(names, start=1)}
    small = {"turns": "50", "max_turns": "100", "max_rounds": "50", "M": "5", "size": "3"}
    address = begin(client, game, form | small | {"pace": "all", "seed": "7"})
    document = ended(client, address)
    assert document["live"]["trouble"] == ""
    record = {key: document[key] for key in document if key not in ("live", "yours", "replay")}
    assert verify(load_game(game), replay.decode(json.dumps(record).encode())) is None


def test_what_came_later_continues_what_came_before(served: Served) -> None:
    client = served()
    address = begin(client, "hexagon", TWO | {"size": "3"})
    whole = ended(client, address)
    half = len(whole["turns"]) // 2
    rest = client.get(f"{part(address, 'document')}?after={half}").get_json()
    assert rest["turns"] == whole["turns"][half:]
    assert rest["result"] == whole["result"]
    assert "start" not in rest


def test_nothing_new_is_304_until_it_is_ones_turn(served: Served) -> None:
    client = served()
    address = begin(client, "hexagon", AGAINST_RANDOM)
    asked(client, address)
    answer = client.get(part(address, "document"))
    tag = {"If-None-Match": answer.headers["ETag"]}
    assert client.get(part(address, "document"), headers=tag).status_code == 304
    without = part(address.partition("?")[0], "document")
    assert client.get(without, headers=tag).status_code == 200


@pytest.mark.parametrize("game", ["circuit-wars", "hexagon", "paint"])
def test_a_person_plays_by_what_is_offered(served: Served, game: str) -> None:
    client = served()
    address = begin(client, game, AGAINST_RANDOM | {"size": "3"})
    yours = asked(client, address)
    body = {"turn": yours["turn"], "action": yours["moves"][-1]}
    assert client.post(part(address, "move"), json=body).status_code == 202
    turn = wait(lambda: document_of(client, address)["turns"])[0]
    assert turn["actions"][yours["player"]] == body["action"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "truncated"),
        (b"{}", "turn"),
        (b'{"turn": 0}', "action"),
        (b'{"turn": "0", "action": {}}', "int"),
        (b'{"turn": 5, "action": {"move_from": [0, 1], "move_to": [0, 2]}}', "not your turn"),
        (b'{"turn": 0, "action": {"move_from": [0, 1], "move_to": [9, 9]}}', ""),
        (b'{"turn": 0, "action": {"move_from": "here"}}', "not a valid action"),
        (b'{"turn": 0, "action": {"fault": "crashed"}}', "not a valid action"),
        (b'{"turn": 0, "action": 1e999}', ""),
        (b'{"turn": 0, "action": ' + b"[" * 9000 + b"}", ""),
        (b"\xff\xfe", ""),
    ],
    ids=range(11),
)
def test_a_refused_move_costs_nothing(served: Served, body: bytes, error: str) -> None:
    client = served()
    address = begin(client, "hexagon", AGAINST_RANDOM | {"size": "3"})
    before = asked(client, address)
    answer = client.post(part(address, "move"), data=body)
    assert answer.status_code == 400
    assert error in answer.get_json()["error"]
    assert asked(client, address) == before


def test_without_the_key_nobody_plays_or_leaves(served: Served) -> None:
    client = served()
    address = begin(client, "hexagon", AGAINST_RANDOM | {"size": "3"})
    yours = asked(client, address)
    body = {"turn": yours["turn"], "action": yours["moves"][0]}
    path = address.partition("?")[0]
    for key in ("", "?hand=", "?hand=%ff", "?hand=wrong"):
        assert client.post(f"{path}/move{key}", json=body).status_code == 400
        client.post(f"{path}/resign{key}")
        assert client.get(f"{path}/document{key}").get_json()["yours"] is None
    assert asked(client, address) == yours
    assert "hand=" not in client.get(path).text


def test_pages_of_other_sites_neither_begin_nor_play(served: Served) -> None:
    client = served()
    address = begin(client, "hexagon", AGAINST_RANDOM)
    for path in ("/games/hexagon/matches", part(address, "move"), part(address, "resign")):
        for mark in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
            assert client.post(path, headers=mark).status_code == 403
        assert client.post(path, headers={"Host": "evil.example"}).status_code == 403
    assert not document_of(client, address)["live"]["over"]


@pytest.mark.parametrize("game", ["circuit-wars", "hexagon", "paint"])
@pytest.mark.parametrize("hand", ["1", "2"])
def test_who_resigns_loses(served: Served, tmp_path: Path, game: str, hand: str) -> None:
    client = served(replays=tmp_path, save=True)
    address = begin(client, game, AGAINST_RANDOM | {"hand": hand})
    yours = asked(client, address)
    body = {"turn": yours["turn"], "action": yours["moves"][0]}
    assert client.post(part(address, "move"), json=body).status_code == 202
    assert client.post(part(address, "resign")).status_code == 202
    document = ended(client, address)
    players = [player["player"] for player in document["players"]]
    other = players[2 - int(hand)]
    outcome = document["result"]["outcome"]
    assert (outcome["reason"], outcome["winner"]) == ("resigned", other)
    assert outcome["ranks"] == {str(player): 1 if player == other else 2 for player in players}
    assert document["live"]["trouble"] == ""
    (file,) = tmp_path.iterdir()
    record = replay.decode(file.read_bytes())
    assert document["replay"] == f"/replays/{file.name.removesuffix('.json.gz')}"
    assert verify(load_game(game), record) is None
    assert client.post(part(address, "resign")).status_code == 202


def test_who_resigns_waits_for_no_bot(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "sleeper.py"
    file.write_text(
        "import os, time, urllib.request\n"
        "urllib.request.urlopen(os.environ['CW_SERVER'] + '/reg/sleeper')\n"
        "time.sleep(600)\n"
    )
    opponents = {"circuit-wars": read_bots([f"sleeper={file}"]).bots}
    client = served(opponents=opponents)
    address = begin(client, "circuit-wars", {"bot": "bot:sleeper", "hand": "2", "size": "3"})
    wait(lambda: document_of(client, address))
    client.post(part(address, "resign"))
    document = ended(client, address)
    assert document["result"]["outcome"]["winner"] == 1
    assert document["faults"] == []


def test_only_people_resign(served: Served) -> None:
    client = served()
    address = begin(client, "hexagon", AGAINST_RANDOM | {"size": "3"})
    asked(client, address)
    client.post(part(address, "resign"))
    document = ended(client, address)
    record = {key: document[key] for key in document if key not in ("live", "yours", "replay")}
    for bot in ("human", "builtin:random"):
        record["players"][0]["bot"] = bot
        read = replay.decode(json.dumps(record).encode())
        assert (verify(load_game("hexagon"), read) is None) == (bot == "human")


def test_a_match_that_is_over_is_saved(served: Served, tmp_path: Path) -> None:
    client = served(replays=tmp_path, save=True)
    document = ended(client, begin(client, "hexagon", TWO | {"size": "3"}))
    name = document["replay"].rpartition("/")[2]
    record = replay.decode((tmp_path / f"{name}.json.gz").read_bytes())
    assert verify(load_game("hexagon"), record) is None
    assert client.get(document["replay"]).status_code == 200


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({}, "a match is for 2 players"),
        ({"seat-1": "builtin:greedy"}, "a match is for 2 players"),
        ({"seat-1": "builtin:nobody", "seat-2": "builtin:random"}, "nobody here is called"),
        ({"seat-1": "exec:rm -rf /", "seat-2": "builtin:random"}, "nobody here is called"),
        ({"seat-1": "bot:mine", "seat-2": "builtin:random"}, "nobody here is called"),
        ({"seat-1": "human", "seat-2": "human"}, "one person"),
        ({"seat-1": "<img src=x>", "seat-2": "builtin:random"}, "&lt;img src=x&gt;"),
        (TWO | {"size": "99"}, "size must be one of"),
        (TWO | {"pace": "1e9"}, "the pace must be"),
        (TWO | {"seed": "-1"}, "the seed must be"),
        (TWO | {"seed": "9" * 30}, "the seed must be"),
    ],
    ids=range(11),
)
def test_a_form_is_refused_with_a_sentence(
    served: Served, form: dict[str, str], error: str
) -> None:
    client, path = served(), "/games/hexagon/matches"
    answer = client.post(path, data=form, headers={"Accept": "text/html,*/*;q=0.8"})
    assert answer.status_code == 400
    assert error in answer.text
    assert "<h1>" in answer.text
    payload = client.post(path, data=form)
    assert html.unescape(error) in payload.json["error"]  # type: ignore[index]


def test_who_is_unknown_is_not_found(served: Served) -> None:
    client = served()
    assert client.post("/games/chess/matches", data=TWO).status_code == 400
    for path in ("/matches/none", "/matches/none/document", "/matches/%2e%2e/document"):
        assert client.get(path).status_code == 404
    assert client.post("/matches/none/move").status_code == 404
    assert client.post("/matches/none/resign").status_code == 404


def test_a_server_may_play_nothing(served: Served) -> None:
    answer = served(matches=0).post("/games/hexagon/matches", data=TWO)
    assert answer.status_code == 400
    assert "plays no matches" in answer.text


def test_a_match_that_nobody_looks_at_makes_way(served: Served, clock: FakeClock) -> None:
    client = served(matches=1)
    first = begin(client, "hexagon", AGAINST_RANDOM)
    second = begin(client, "hexagon", AGAINST_RANDOM)
    assert place_of(client, second) == 1
    clock.advance(UNWATCHED)
    asked(client, second)
    assert "broken off: the server needed its place" in ended(client, first)["live"]["trouble"]


# Shares


def from_address(client: FlaskClient, address: str) -> FlaskClient:
    """Return a client of the same server at another address."""
    other = client.application.test_client()
    other.environ_base["REMOTE_ADDR"] = address
    return other


def place_of(client: FlaskClient, address: str) -> int:
    """Return the place of a match in the queue, 0 if it does not wait."""
    document = client.get(part(address, "document")).get_json()
    place = re.search(r"number (\d+) of the queue", document.get("waiting", ""))
    return int(place[1]) if place else 0


def test_one_visitor_has_a_third_of_the_places_and_others_do_not_wait(served: Served) -> None:
    ann = served(matches=6)
    bob = from_address(ann, "10.0.0.2")
    matches = [begin(ann, "hexagon", AGAINST_RANDOM) for _ in range(4)]
    assert [place_of(ann, match) for match in matches] == [0, 0, 1, 2]
    of_bob = begin(bob, "hexagon", AGAINST_RANDOM)
    assert place_of(bob, of_bob) == 0
    asked(bob, of_bob)
    ann.post(part(matches[0], "resign"))
    ended(ann, matches[0])
    asked(ann, matches[2])
    assert [place_of(ann, match) for match in matches[1:]] == [0, 0, 1]


def test_who_lets_too_many_matches_wait_is_refused_and_others_are_not(served: Served) -> None:
    ann = served(matches=1)
    matches = [begin(ann, "hexagon", AGAINST_RANDOM) for _ in range(1 + MOST_WAITING_OF_ONE)]
    answer = ann.post("/games/hexagon/matches", data=AGAINST_RANDOM)
    assert answer.status_code == 429
    assert "matches of yours are waiting" in answer.text
    bob = from_address(ann, "10.0.0.2")
    assert place_of(bob, begin(bob, "hexagon", AGAINST_RANDOM)) == len(matches)
    ann.post(part(matches[-1], "resign"))
    assert ended_early(ann, matches[-1])
    begin(ann, "hexagon", AGAINST_RANDOM)


def ended_early(client: FlaskClient, address: str) -> bool:
    """Return whether a match was over before it began."""
    answer = client.get(part(address, "document"))
    return answer.status_code == 202 and answer.get_json()["over"]


def test_the_queue_is_bounded_and_who_looks_away_leaves_it(
    served: Served, clock: FakeClock
) -> None:
    clients = [served(matches=1)]
    clients += [from_address(clients[0], f"10.0.0.{number}") for number in range(MOST_WAITING)]
    matches = [begin(client, "hexagon", AGAINST_RANDOM) for client in clients]
    late = from_address(clients[0], "10.0.1.1")
    assert late.post("/games/hexagon/matches", data=AGAINST_RANDOM).status_code == 503
    clock.advance(UNWATCHED - 1)
    asked(clients[0], matches[0])
    assert place_of(clients[-1], matches[-1]) == MOST_WAITING
    clock.advance(1)
    begin(late, "hexagon", AGAINST_RANDOM)
    assert ended_early(clients[1], matches[1])
    assert place_of(clients[-1], matches[-1]) == 1


def test_a_person_who_does_not_move_makes_way_however_long_the_page_is_open(
    served: Served, clock: FakeClock
) -> None:
    ann = served(matches=1)
    bob = from_address(ann, "10.0.0.2")
    first, second = (begin(one, "hexagon", AGAINST_RANDOM) for one in (ann, bob))
    for _ in range(round(UNMOVED / 50)):
        asked(ann, first)
        assert place_of(bob, second) == 1
        clock.advance(50)
        ann.get(part(first, "document"))
    asked(bob, second)
    assert ended(ann, first)["live"]["trouble"]


def test_whose_matches_are_kept_most_are_forgotten_first(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cw.web.live.live_matches.CAPACITY", 3)
    ann = served()
    bob = from_address(ann, "10.0.0.2")
    of_bob = begin(bob, "hexagon", TWO | {"size": "3"})
    ended(bob, of_bob)
    for _ in range(4):
        ended(ann, begin(ann, "hexagon", TWO | {"size": "3"}))
    assert bob.get(of_bob).status_code == 200


def test_the_owner_may_have_all_places(served: Served) -> None:
    client = served(matches=3, owner=True)
    matches = [begin(client, "hexagon", AGAINST_RANDOM) for _ in range(3)]
    assert [place_of(client, match) for match in matches] == [0, 0, 0]


def test_old_matches_are_forgotten(
    served: Served, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cw.web.live.live_matches.CAPACITY", 2)
    client = served()
    addresses = []
    for _ in range(3):
        addresses.append(begin(client, "hexagon", TWO | {"size": "3"}))
        ended(client, addresses[-1])
    assert [client.get(address).status_code for address in addresses] == [404, 200, 200]


def test_bots_of_the_owner_hear_that_it_is_training(served: Served, tmp_path: Path) -> None:
    line = 'GAMES[said["id"]] = said["board"]["cells"]'
    spec = write(tmp_path, HEXAGON, (line, f'{line} if said["training"] is True else None'))
    client = served(opponents={"hexagon": read_bots([f"mine={spec}"]).bots})
    address = begin(client, "hexagon", {"bot": "bot:mine", "hand": "1", "size": "3"})
    yours = asked(client, address)
    body = {"turn": yours["turn"], "action": yours["moves"][0]}
    assert client.post(part(address, "move"), json=body).status_code == 202
    wait(lambda: len(document_of(client, address)["turns"]) > 1)
    document = document_of(client, address)
    assert [player["name"] for player in document["players"]] == ["you", "mine"]
    assert document["faults"] == []
    assert "move_from" in document["turns"][1]["actions"]["2"]


def test_closing_leaves_nothing_running(served: Served) -> None:
    client = served()
    address = begin(client, "paint", AGAINST_RANDOM)
    asked(client, address)
    matches: LiveMatches = client.application.extensions["matches"]
    matches.close()
    assert "broken off" in ended(client, address)["live"]["trouble"]


@pytest.mark.limits_of_the_rules
def test_a_client_that_sleeps_loses_to_a_person(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "sleeper.py"
    file.write_text(
        "import os, time, urllib.request\n"
        "urllib.request.urlopen(os.environ['CW_SERVER'] + '/reg/sleeper')\n"
        "time.sleep(600)\n"
    )
    client = served(opponents={"circuit-wars": read_bots([f"sleeper={file}"]).bots})
    address = begin(client, "circuit-wars", {"bot": "bot:sleeper", "hand": "1", "size": "3"})
    yours = asked(client, address)
    body = {"turn": yours["turn"], "action": yours["moves"][0]}
    assert client.post(part(address, "move"), json=body).status_code == 202
    document = ended(client, address)
    assert document["faults"][0]["kind"] == "timeout"
    assert document["result"]["outcome"]["winner"] == 1


def test_a_match_that_ends_while_it_is_told_is_not_over_yet() -> None:
    spec = MatchSpec("page", "hexagon", (), 1)
    match = LiveMatch(spec, {}, "key", (), 0.0, 0.0)

    class Ending:
        """A match that ends while it is asked for its replay."""

        def document(self) -> dict[str, Any]:
            match.result.set_exception(Abandoned("the last turn"))
            return {"turns": []}

        def news(self, after: int) -> dict[str, Any]:
            return self.document()

    for tell in (match.document, lambda: match.news(0)):
        match.result = Future()
        match.progress = cast(MatchProgress, Ending())
        assert tell()["live"]["over"] is False
        assert match.over


# Bots of guests


YOU = BotSpec("you", "human", "")
NOBODY_THERE = BotSpec("alpha", "http", "http://127.0.0.1:9", {"bot_id": "b_1"})
ANYWHERE, PUBLIC = Isolation("require"), Isolation("require", "public")


def against(guest: BotSpec, isolation: Isolation = ANYWHERE) -> MatchSpec:
    """Return a match of a person against the bot of a guest, who begins."""
    return MatchSpec("page", "hexagon", (guest, YOU), 1, {"size": 3}, isolation=isolation)


def guest_of(owner: str) -> Guest:
    return Guest(owner, "alpha", "Team <Alpha>")


@pytest.mark.parametrize("isolation", [ANYWHERE, PUBLIC], ids=["any", "public"])
def test_nothing_tells_where_the_bot_of_a_guest_is(isolation: Isolation, clock: FakeClock) -> None:
    record: list[replay.Document] = []

    def keep(document: replay.Document) -> str:
        record.append(document)
        return "kept"

    left: list[str] = []
    room = ExitStack()
    room.callback(left.append, "left")
    with closing(LiveMatches(1, clock, keep)) as matches:
        known = {"alpha": {"secret": "very-secret"}}
        match = matches.begin(
            against(NOBODY_THERE, isolation), bot_secrets=known, guest=guest_of("1"), room=room
        )
        result = match.result.result(PATIENCE)
        assert match.progress is not None
        assert "127.0.0.1" in json.dumps(result.replay)
        private = "private address" in result.faults[0].detail
        assert private is (isolation is PUBLIC)
        wait(lambda: match.replay)
        assert left == ["left"]
        for view in (match.document(), match.news(0), *record):
            for secret in ("127.0.0.1", "very-secret", "b_1", "http:"):
                assert secret not in json.dumps(view)
            assert view["faults"][0]["kind"] == "disconnected"
        assert [player["name"] for player in record[0]["players"]] == ["Team <Alpha>", "you"]
        assert verify(load_game("hexagon"), replay.decode(json.dumps(record[0]).encode())) is None
        assert matches.of("hexagon") == []


def test_why_the_bot_of_a_guest_cannot_be_asked_does_not_name_it(clock: FakeClock) -> None:
    with closing(LiveMatches(1, clock)) as matches:
        nowhere = BotSpec("alpha", "http", "nowhere://10.0.0.1")
        match = matches.begin(against(nowhere), guest=guest_of("1"))
        assert "10.0.0.1" in str(match.result.exception(PATIENCE))
        assert match.trouble == (
            "The match ended without a result: its bot cannot be asked as it is set up."
        )


def test_a_guest_plays_one_match_at_a_time_and_all_of_them_a_bounded_number(
    clock: FakeClock,
) -> None:
    waits = against(BotSpec("alpha", "builtin", "random"))
    with closing(LiveMatches(1, clock)) as matches:
        first = matches.begin(waits, guest=guest_of("1"))
        with pytest.raises(CapacityError, match="Team <Alpha> plays online already"):
            matches.begin(waits, guest=guest_of("1"))
        clock.advance(UNWATCHED + 1)
        second = matches.begin(waits, guest=guest_of("1"))
        assert isinstance(first.result.exception(PATIENCE), Abandoned)
        for number in range(2, MOST_WITH_GUESTS + 1):
            matches.begin(waits, guest=guest_of(str(number)))
        another = matches.begin(waits, guest=guest_of("another"))
        assert (another.is_played, another.place) == (False, 1)
        # Others play beside them.
        assert not matches.begin(waits).over
        assert not second.over
