"""The lobby: what it says of all rooms, and the replays of games that are over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from cw.championship.config import SETTINGS
from cw.cli import main
from cw.errors import UsageError
from cw.server import rooms
from cw.web import create_app, replay_store
from cw.web.settings import SiteSettings
from tests.fixtures import FakeClock
from tests.games.circuit_wars.examples import BOUNDARY

ROOM_KEYS = [
    "room",
    "address",
    "status_code",
    "status",
    "teams",
    "scores",
    "squares",
    "moves",
    "replay",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "replays"
    place.mkdir()
    return place


@pytest.fixture
def client(clock: FakeClock, folder: Path) -> FlaskClient:
    settings = SiteSettings(timeout=3, replays=folder, save=True)
    return create_app(settings, clock).test_client()


def listed(client: FlaskClient) -> Any:
    return client.get("/rooms/list.json").get_json()


def play(client: FlaskClient, room: str, moves: list[str], teams: tuple[str, str]) -> None:
    for team in teams:
        assert client.get(f"{room}/reg/{team}").get_json()["response"] == "OK"
    for turn, move in enumerate(moves):
        assert client.get(f"{room}/move/{teams[turn % 2]}/{move}").status_code == 200


def proven(folder: Path, address: str) -> bool:
    file = folder / f"{address.rpartition('/')[2]}.json.gz"
    with pytest.raises(SystemExit) as ended:
        main(["replay", "verify", str(file)])
    return ended.value.code in (0, None)


def test_it_says_how_each_room_stands(client: FlaskClient) -> None:
    client.get("/reg/alice")
    play(client, "/rooms/table-4", ["1,2,top"], ("bob", "eve"))
    main_game, room = listed(client)["rooms"]
    assert list(main_game) == list(room) == ROOM_KEYS
    assert (main_game["room"], main_game["address"], main_game["teams"]) == (None, "/", ["alice"])
    assert main_game["status_code"] == 101
    assert (room["room"], room["address"]) == ("table-4", "/rooms/table-4/")
    assert (room["status_code"], room["status"]) == (202, "It's Player 2's turn")
    assert (room["teams"], room["scores"], room["moves"]) == (["bob", "eve"], [0, 0], 1)


def test_nothing_new_is_304_while_the_clock_runs(client: FlaskClient, clock: FakeClock) -> None:
    play(client, "/rooms/x", [], ("a", "b"))
    tag = client.get("/rooms/list.json").headers["ETag"]
    clock.advance(2.9)
    assert client.get("/rooms/list.json", headers={"If-None-Match": tag}).status_code == 304
    clock.advance(0.2)
    late = client.get("/rooms/list.json", headers={"If-None-Match": tag})
    assert late.get_json()["rooms"][1]["status_code"] == 501


def test_who_looks_at_the_lobby_keeps_nobodys_seat(client: FlaskClient, clock: FakeClock) -> None:
    client.get("/rooms/x/reg/a")
    for _ in range(5):
        clock.advance(5)
        payload = listed(client)
    assert payload["rooms"][1]["teams"] == []


def test_a_room_is_opened_by_its_name(client: FlaskClient) -> None:
    answer = client.get("/rooms/?room=table-4")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/rooms/table-4/")
    assert len(listed(client)["rooms"]) == 1


@pytest.mark.parametrize("name", ["Table 4", "../x", "<script>", "a" * 33, "é"])
def test_what_is_no_name_is_said(client: FlaskClient, name: str) -> None:
    answer = client.get("/rooms/", query_string={"room": name})
    assert answer.status_code == 400
    assert "1 to 32 characters: a-z, 0-9 and -" in answer.text
    assert "<script>" not in answer.text


def test_without_rooms_there_is_no_lobby(clock: FakeClock) -> None:
    client = create_app(SiteSettings(rooms=False), clock).test_client()
    assert client.get("/rooms/").status_code == 404
    assert "/rooms/" not in client.get("/").text


@pytest.mark.parametrize("room", ["", "/rooms/table-4"])
def test_a_game_that_is_over_is_saved_and_proven(
    client: FlaskClient, folder: Path, room: str
) -> None:
    play(client, room, BOUNDARY, ("alice", "bob"))
    (finished,) = listed(client)["finished"]
    assert (finished["teams"], finished["scores"]) == (["alice", "bob"], [0, 49])
    address = finished["replay"]
    assert client.get(f"{room}/history").get_json()["replay"] == address
    assert proven(folder, address)
    document = client.get(f"{address}/document").get_json()
    assert [player["name"] for player in document["players"]] == ["alice", "bob"]
    assert document["result"]["outcome"]["winner"] == 2
    assert len(document["turns"]) == len(BOUNDARY)


@pytest.mark.parametrize("kind", ["illegal", "timeout"])
def test_a_fault_is_in_the_replay(
    client: FlaskClient, clock: FakeClock, folder: Path, kind: str
) -> None:
    play(client, "/rooms/x", ["1,2,top"], ("a", "b"))
    if kind == "illegal":
        client.get("/rooms/x/move/b/1,2,top")
    clock.advance(4)
    address = client.get("/rooms/x/history").get_json()["replay"]
    document = client.get(f"{address}/document").get_json()
    assert [fault["kind"] for fault in document["faults"]] == [kind]
    assert document["result"]["outcome"]["winner"] == 1
    assert proven(folder, address)


def test_a_time_out_that_a_restart_meets_first_is_saved(
    client: FlaskClient, clock: FakeClock
) -> None:
    play(client, "", ["1,2,top"], ("a", "b"))
    clock.advance(4)
    client.get("/restart")
    assert [game["status_code"] for game in listed(client)["finished"]] == [502]


def test_a_game_that_never_began_or_is_restarted_is_not_saved(
    client: FlaskClient, folder: Path
) -> None:
    client.get("/reg/a")
    client.get("/move/a/0,0,top")
    assert listed(client)["rooms"][0]["status_code"] == 401
    client.get("/restart")
    play(client, "", ["1,2,top"], ("a", "b"))
    client.get("/restart")
    assert listed(client)["finished"] == []
    assert list(folder.iterdir()) == []


def test_without_a_folder_nothing_is_saved(clock: FakeClock) -> None:
    client = create_app(SiteSettings(timeout=3), clock).test_client()
    play(client, "", BOUNDARY, ("a", "b"))
    (finished,) = listed(client)["finished"]
    assert finished["replay"] is None
    assert "--replays FOLDER" in client.get("/rooms/").text


def test_nothing_is_put_into_the_folder_of_a_championship(clock: FakeClock, folder: Path) -> None:
    (folder / SETTINGS).write_text("{}")
    with pytest.raises(UsageError, match="contains a championship"):
        create_app(SiteSettings(timeout=3, replays=folder, save=True), clock)


def test_a_full_folder_disturbs_no_game(
    client: FlaskClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_store, "MOST_FILES", 1)
    (folder / "other.json").write_text("{}")
    play(client, "", BOUNDARY, ("a", "b"))
    assert client.get("/status").get_json()["status_code"] == 302
    assert listed(client)["finished"][0]["replay"] is None


def test_only_the_latest_games_are_remembered(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = rooms.MOST_FINISHED
    for number in range(most + 2):
        play(client, f"/rooms/r{number}", ["9,9,top"], ("a", "b"))
    finished = listed(client)["finished"]
    assert [game["room"] for game in finished] == [f"r{n}" for n in range(most + 1, 1, -1)]
    assert len(json.dumps(finished)) < 20_000
