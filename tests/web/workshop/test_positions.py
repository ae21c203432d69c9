"""Runs that begin with a position of a replay."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.games.registry import load_game, load_strategies
from cw.matches.from_replay import position_of
from cw.replays import document as replays_document
from cw.workshop.project import MINE, open_project
from tests.browser.recorded import recorded
from tests.documented import installed
from tests.effort import first_is_fast
from tests.matches.playing import play_match
from tests.web.workshop.conftest import HOST, Make

GAMES = ["paint", "circuit-wars", "code-battle", "end-of-codes", "hexagon"]


def replay_in(folder: Path, game: str, **members: Any) -> Path:
    """Put a recorded match into a folder of replays."""
    folder.mkdir(exist_ok=True)
    data = replays_document.encode(recorded(game) | members, packed=False)
    (folder / f"{game}.json").write_bytes(data)
    return folder


def state_after(game: str, turns: int) -> Any:
    loaded = load_game(game)
    played = islice(replays_document.states(loaded, recorded(game)), turns, None)
    return loaded.codec.state_to_json(next(played))


@pytest.mark.usefixtures("patient_painters")
@pytest.mark.parametrize("game", first_is_fast(GAMES))
def test_a_run_begins_with_the_position(make: Make, tmp_path: Path, game: str) -> None:
    workshop = make(game, replays=replay_in(tmp_path / "replays", game))
    players = [seat["player"] for seat in recorded(game)["players"]]
    opponent = list(load_strategies(game))[-1]
    run = workshop.run(opponent=opponent, replay=game, turn=2, seat=len(players))
    assert not run["failed"], run
    document = workshop.client.get(f"http://{HOST}/matches/{run['match']}/document").get_json()
    assert document["start"] == state_after(game, 2)
    assert document["from"] == "position"
    assert [seat["player"] for seat in document["players"]] == players
    names = [seat["name"] for seat in document["players"]]
    assert names[0] == opponent
    assert names[-1] == MINE
    report = next(
        report
        for turn in range(1, 4)
        if (report := workshop.ask("GET", f"run/turns/{turn}"))["exchanges"]
    )
    workshop.ask("POST", "ask", {"turn": report["turn"]}, 201)
    answer = workshop.wait("ask", lambda answer: not answer["goes_on"])
    assert answer["answer"]["before"] == report["action"]


def test_a_game_of_another_package_is_played_on_too(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(installed())
    played = play_match("tron", ["builtin:random"] * 2, 1, {"size": 9})
    replays = tmp_path / "replays"
    replays.mkdir()
    (replays / "duel.json").write_bytes(replays_document.encode(played.result.replay, packed=False))
    workshop = make("tron", replays=replays)
    run = workshop.run(replay="duel", turn=1, seat=2)
    assert not run["failed"], run
    document = workshop.client.get(f"http://{HOST}{run['document']}").get_json()
    assert document["from"] == "position"
    assert [seat["name"] for seat in document["players"]] == ["random", MINE]


def test_a_position_that_cannot_be_played_is_a_sentence(make: Make, tmp_path: Path) -> None:
    folder = replay_in(replay_in(tmp_path / "replays", "paint"), "hexagon")
    last = len(recorded("paint")["turns"])
    wanted = {"opponent": "random", "replay": "paint"}
    workshop = make("paint", replays=folder)
    for change, code, words in (
        ({"turn": last}, 400, f"the match is over in turn {last}"),
        ({"turn": last + 1}, 400, f"turn must be a number from 0 to {last}"),
        ({"seat": 3}, 400, "the seat must be from 1 to 2"),
        ({"replay": "hexagon"}, 400, "this is a replay of hexagon; the bot plays paint"),
        ({"replay": "none"}, 404, "there is no replay 'none'"),
        ({"replay": "../replays/paint"}, 400, "replay"),
        ({"turn": -1}, 400, "turn"),
    ):
        answer = workshop.ask("POST", "run", wanted | change, code)
        assert words in answer["error"], answer
    replay_in(folder, "paint", rules=99)
    assert "version 99" in workshop.ask("POST", "run", wanted, 400)["error"]


def test_a_position_keeps_options_and_seats_of_its_match(tmp_path: Path) -> None:
    project = open_project("end-of-codes", tmp_path / "bot")
    document = recorded("end-of-codes")
    position = position_of(document, 1)
    spec = project.match("idle", 2, 7, position=position)
    assert spec.options == position.options
    assert spec.players == tuple(seat["player"] for seat in document["players"])
    assert [bot.name for bot in spec.bots][1] == MINE
    assert spec.bots[0] == BotSpec("idle", "builtin", "idle")
    with pytest.raises(UsageError, match="the seat must be"):
        project.match("idle", len(spec.bots) + 1, 7, position=position)


def test_the_page_shows_the_replay_that_its_address_names(make: Make, tmp_path: Path) -> None:
    workshop = make("paint", replays=replay_in(tmp_path / "replays", "paint"))

    def page(path: str) -> str:
        return workshop.client.get(f"http://{HOST}{path}").get_data(as_text=True)

    assert 'data-document="/replays/paint/document"' in page("/workshop/paint/?replay=paint&from=3")
    assert 'id="position"' not in page("/workshop/paint/")
    assert 'id="position"' not in page("/workshop/paint/?replay=%3Cb%3E")
    assert "/workshop/paint/?replay=paint" in page("/replays/paint")
