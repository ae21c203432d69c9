"""Matches that pages begin: what forms may say, who may play, and how they end."""

from __future__ import annotations

import html
import json
from concurrent.futures import Future
from pathlib import Path
from typing import Any, cast

import pytest

from cw.arena.bots import read_bots
from cw.errors import Abandoned
from cw.games.registry import load_game, load_play_options
from cw.matches.progress import MatchProgress
from cw.matches.spec import MatchSpec
from cw.replays import document as replays_document
from cw.replays.verify import verify
from cw.web.live_match import LiveMatch
from cw.web.live_matches import LiveMatches
from tests.effort import first_is_fast
from tests.matches.bots_of_games import HEXAGON, write
from tests.web.live.live_pages import (
    AGAINST_RANDOM,
    TWO,
    Served,
    begin,
    document_of,
    ended,
    part,
    wait,
    wait_for_turn,
)


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
    assert verify(load_game(game), replays_document.decode(json.dumps(record).encode())) is None


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
    wait_for_turn(client, address)
    answer = client.get(part(address, "document"))
    tag = {"If-None-Match": answer.headers["ETag"]}
    assert client.get(part(address, "document"), headers=tag).status_code == 304
    without = part(address.partition("?")[0], "document")
    assert client.get(without, headers=tag).status_code == 200


@pytest.mark.parametrize("game", ["circuit-wars", "hexagon", "paint"])
def test_a_person_plays_by_what_is_offered(served: Served, game: str) -> None:
    client = served()
    address = begin(client, game, AGAINST_RANDOM | {"size": "3"})
    yours = wait_for_turn(client, address)
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
    before = wait_for_turn(client, address)
    answer = client.post(part(address, "move"), data=body)
    assert answer.status_code == 400
    assert error in answer.get_json()["error"]
    assert wait_for_turn(client, address) == before


def test_without_the_key_nobody_plays_or_leaves(served: Served) -> None:
    client = served()
    address = begin(client, "hexagon", AGAINST_RANDOM | {"size": "3"})
    yours = wait_for_turn(client, address)
    body = {"turn": yours["turn"], "action": yours["moves"][0]}
    path = address.partition("?")[0]
    for key in ("", "?hand=", "?hand=%ff", "?hand=wrong"):
        assert client.post(f"{path}/move{key}", json=body).status_code == 400
        client.post(f"{path}/resign{key}")
        assert client.get(f"{path}/document{key}").get_json()["yours"] is None
    assert wait_for_turn(client, address) == yours
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
    yours = wait_for_turn(client, address)
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
    record = replays_document.decode(file.read_bytes())
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
    wait_for_turn(client, address)
    client.post(part(address, "resign"))
    document = ended(client, address)
    record = {key: document[key] for key in document if key not in ("live", "yours", "replay")}
    for bot in ("human", "builtin:random"):
        record["players"][0]["bot"] = bot
        read = replays_document.decode(json.dumps(record).encode())
        assert (verify(load_game("hexagon"), read) is None) == (bot == "human")


def test_a_match_that_is_over_is_saved(served: Served, tmp_path: Path) -> None:
    client = served(replays=tmp_path, save=True)
    document = ended(client, begin(client, "hexagon", TWO | {"size": "3"}))
    name = document["replay"].rpartition("/")[2]
    record = replays_document.decode((tmp_path / f"{name}.json.gz").read_bytes())
    assert verify(load_game("hexagon"), record) is None
    assert client.get(document["replay"]).status_code == 200


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({}, "hexagon needs exactly 2 bots"),
        ({"seat-1": "builtin:greedy"}, "hexagon needs exactly 2 bots"),
        ({"seat-1": "builtin:nobody", "seat-2": "builtin:random"}, "there is no bot"),
        ({"seat-1": "exec:rm -rf /", "seat-2": "builtin:random"}, "there is no bot"),
        ({"seat-1": "bot:mine", "seat-2": "builtin:random"}, "there is no bot"),
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


def test_bots_of_the_owner_hear_that_it_is_training(served: Served, tmp_path: Path) -> None:
    line = 'GAMES[said["id"]] = said["board"]["cells"]'
    spec = write(tmp_path, HEXAGON, (line, f'{line} if said["training"] is True else None'))
    client = served(opponents={"hexagon": read_bots([f"mine={spec}"]).bots})
    address = begin(client, "hexagon", {"bot": "bot:mine", "hand": "1", "size": "3"})
    yours = wait_for_turn(client, address)
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
    wait_for_turn(client, address)
    matches: LiveMatches = client.application.extensions["matches"]
    matches.close()
    assert "aborted" in ended(client, address)["live"]["trouble"]


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
    yours = wait_for_turn(client, address)
    body = {"turn": yours["turn"], "action": yours["moves"][0]}
    assert client.post(part(address, "move"), json=body).status_code == 202
    document = ended(client, address)
    assert document["faults"][0]["kind"] == "timeout"
    assert document["result"]["outcome"]["winner"] == 1


def test_a_match_that_ends_while_it_is_told_is_not_over_yet() -> None:
    spec = MatchSpec("page", "hexagon", (), 1)
    match = LiveMatch(spec, {}, "key", (), 0.0, 0.0)

    class Ending:
        """A match that ends while it is wait_for_turn for its replay."""

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
