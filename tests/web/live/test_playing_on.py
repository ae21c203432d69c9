"""Playing on from a turn of a match."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from cw.games.registry import load_game, load_play_options
from cw.replays import document as replays_document
from cw.replays.verify import verify
from tests.browser.recorded import MATCHES, recorded
from tests.effort import first_is_fast
from tests.web.live.live_pages import Served, document_of, part, wait, wait_for_turn

FORM = {"turn": "2", "seat-1": "builtin:random", "seat-2": "human", "seed": "5"}


def shelf(folder: Path, name: str, **members: Any) -> Path:
    """Put one replay into a folder."""
    data = replays_document.encode(recorded(name) | members, packed=False)
    (folder / "match.json").write_bytes(data)
    return folder


def play_on(client: FlaskClient, form: dict[str, str]) -> str:
    answer = client.post("/replays/match/play-on", data=form)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def state_after(game: str, turns: int) -> Any:
    loaded = load_game(game)
    return loaded.codec.state_to_json(
        next(islice(replays_document.states(loaded, recorded(game)), turns, None))
    )


@pytest.mark.parametrize("game", ["circuit-wars", "hexagon", "paint"])
def test_a_match_begins_with_the_position(served: Served, tmp_path: Path, game: str) -> None:
    client = served(replays=shelf(tmp_path, game))
    address = play_on(client, FORM)
    yours = asked_or_waiting(client, address)
    document = document_of(client, address)
    assert document["start"] == state_after(game, 2)
    assert document["from"] == "position"
    assert [seat["bot"] for seat in document["players"]] == ["builtin:random", "human"]
    assert yours["player"] == str(document["players"][1]["player"])
    move = {"turn": yours["turn"], "action": yours["moves"][0]}
    assert client.post(part(address, "move"), json=move).status_code == 202
    wait(lambda: len(document_of(client, address)["turns"]) > yours["turn"])


def asked_or_waiting(client: FlaskClient, address: str) -> Any:
    """Wait until it is the person's turn: the bot may have to move first."""
    return wait(lambda: wait_for_turn(client, address))


def test_a_match_of_the_server_is_played_on(served: Served, tmp_path: Path) -> None:
    client = served(replays=shelf(tmp_path, "hexagon"))
    first = play_on(client, FORM)
    asked_or_waiting(client, first)
    path = first.partition("?")[0]
    answer = client.post(
        f"{path}/play-on", data=FORM | {"turn": "0", "seat-1": "human", "seat-2": "builtin:random"}
    )
    assert answer.status_code == 303
    document = document_of(client, answer.headers["Location"])
    assert document["start"] == state_after("hexagon", 2)
    assert client.post("/matches/none/play-on", data=FORM).status_code == 404


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"turn": "9999"}, "turn must be a number from 0 to"),
        ({"turn": "-1"}, "turn must be a number"),
        ({"turn": ""}, "turn must be a number"),
        ({"seat-1": "human"}, "one person can play here"),
        ({"seat-1": "builtin:nobody"}, "there is no bot"),
        ({"seat-1": "exec:id"}, "there is no bot"),
        ({"seat-1": ""}, "there is no bot"),
        ({"seat-2": "builtin:random", "pace": "soon"}, "the pace must be one of"),
    ],
)
def test_what_cannot_be_played_on(
    served: Served, tmp_path: Path, change: dict[str, str], words: str
) -> None:
    client = served(replays=shelf(tmp_path, "hexagon"))
    answer = client.post("/replays/match/play-on", data=FORM | change)
    assert answer.status_code == 400
    assert words in answer.get_json()["error"]


def test_no_match_is_played_on_after_its_end(served: Served, tmp_path: Path) -> None:
    client = served(replays=shelf(tmp_path, "hexagon"))
    last = len(recorded("hexagon")["turns"])
    answer = client.post("/replays/match/play-on", data=FORM | {"turn": str(last)})
    assert f"the match is over in turn {last}" in answer.get_json()["error"]


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"rules": 99}, "version 99 of the rules"),
        ({"start": {"size": 5}}, "hexagon"),
        ({"start": [[[]]]}, "'start' must be of type dict"),
        ({"game": "chess"}, "no game"),
        ({"players": []}, "exactly 2 bots; you gave 0"),
        ({"options": {"timeout": "soon"}}, ""),
    ],
)
def test_a_replay_may_say_anything(
    served: Served, tmp_path: Path, members: dict[str, Any], words: str
) -> None:
    client = served(replays=shelf(tmp_path, "hexagon", **members))
    answer = client.post("/replays/match/play-on", data=FORM)
    if words == "":
        assert answer.status_code == 303
        assert asked_or_waiting(client, answer.headers["Location"])
    else:
        assert answer.status_code == 400, answer.text
        assert words in answer.get_json()["error"]


@pytest.mark.parametrize("game", first_is_fast(MATCHES))
def test_bots_play_on_in_every_game(served: Served, tmp_path: Path, game: str) -> None:
    client = served(replays=shelf(tmp_path, game))
    assert 'id="play-on"' in client.get("/replays/match").text
    turn = len(recorded(game)["turns"]) - 5
    address = play_on(client, {"turn": str(turn), "pace": "all", "seed": "5"})
    wait(lambda: document_of(client, address)["live"]["over"])
    document = document_of(client, address)
    assert document["start"] == state_after(game, turn)
    assert document["from"] == "position"
    assert document["result"]["outcome"]["ranks"]
    usual = load_play_options(game).strategies[0]
    assert {seat["bot"] for seat in document["players"]} == {f"builtin:{usual}"}
    assert verify(load_game(game), document) is None
    assert "hand=" not in address


def test_a_game_that_nobody_plays_by_hand(served: Served, tmp_path: Path) -> None:
    client = served(replays=shelf(tmp_path, "code-battle"))
    answer = client.post("/replays/match/play-on", data=FORM)
    assert "there is no bot 'human'" in answer.get_json()["error"]
    assert '<option value="human">' not in client.get("/replays/match").text


def test_the_page_offers_it_where_matches_are_played(served: Served, tmp_path: Path) -> None:
    place = shelf(tmp_path, "hexagon")
    assert 'id="play-on"' in served(replays=place).get("/replays/match").text
    assert 'id="play-on"' not in served(replays=place).get("/replays/match?embed=1").text
    closed = served(replays=place, matches=0)
    assert 'id="play-on"' not in closed.get("/replays/match").text
    assert closed.post("/replays/match/play-on", data=FORM).status_code == 400


def test_another_site_begins_nothing(served: Served, tmp_path: Path) -> None:
    client = served(replays=shelf(tmp_path, "hexagon"))
    away = {"Origin": "http://elsewhere.example"}
    assert client.post("/replays/match/play-on", data=FORM, headers=away).status_code == 403
