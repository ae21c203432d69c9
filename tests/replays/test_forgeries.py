"""Replays that tell another match than was played, each with a hash that fits."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.games.registry import load_game
from cw.games.rules import resignation
from cw.replays import document as replays_document
from cw.replays.verify import PERSON, verify
from tests.matches.playing import play_match

Match = tuple[str, list[str], dict[str, Any]]

MATCHES: list[Match] = [
    ("circuit-wars", ["greedy", "random"], {"size": 3}),
    ("code-battle", ["gatherer", "rusher"], {"max_turns": 12, "energy_interval": 2}),
    ("end-of-codes", ["sample", "hunter", "idle"], {"M": 6, "MAX_HP": 2, "max_rounds": 90}),
    ("hexagon", ["greedy", "random"], {"size": 3}),
    ("paint", ["greedy", "walker"], {"turns": 12, "width": 5, "height": 4}),
]
OTHER: dict[str, dict[str, Any]] = {
    "circuit-wars": {"openings": 2},
    "code-battle": {"max_turns": 13},
    "end-of-codes": {"M": 5},
    "hexagon": {"stones": 4},
    "paint": {"turns": 13},
}
"""Options by which the start is another one."""


@pytest.fixture(scope="module", params=MATCHES, ids=[match[0] for match in MATCHES])
def honest(request: pytest.FixtureRequest) -> replays_document.Document:
    game, names, options = request.param
    bots = [f"builtin:{name}" for name in names]
    return again(play_match(game, bots, 3, options).replay)


def again(document: replays_document.Document) -> replays_document.Document:
    return replays_document.decode(replays_document.encode(document, packed=True))


def forged(document: replays_document.Document, **changes: Any) -> str | None:
    """Return what is said of a replay with other members and a hash that fits them."""
    other = again(document) | changes
    other["hash"] = replays_document.digest(other)
    return verify(load_game(other["game"]), other)


def after(document: replays_document.Document, turns: int) -> dict[str, Any]:
    """Return the members of a replay that begins after some turns."""
    game = load_game(document["game"])
    state = next(islice(replays_document.states(game, document), turns, None))
    return {
        "start": json.loads(json.dumps(game.codec.state_to_json(state))),
        "frame": next(islice(replays_document.frames(document), turns, None)),
        "turns": document["turns"][turns:],
    }


def test_people_alone_resign(honest: replays_document.Document) -> None:
    game = load_game(honest["game"])
    state = next(replays_document.states(game, honest))
    loser = honest["players"][0]
    outcome = resignation(game.rules.players(state), loser["player"]).to_json()
    ended = {"turns": honest["turns"][:1], "result": {"outcome": outcome}, "faults": []}
    assert "the match is not over" in (forged(honest, **ended) or "")
    people = [{**loser, "bot": PERSON}, *honest["players"][1:]]
    assert forged(honest, **ended, players=people) is None


FORGERIES: dict[str, tuple[dict[str, Any], str]] = {
    "cut to nothing": ({"turns": []}, "the match has no turn"),
    "other rules": ({"rules": 2}, "version 2 of the rules"),
    "other seed": ({"seed": -1}, "seed"),
    "other options": ({"options": {"hat": 1}}, "unknown option"),
    "strange from": ({"from": "here"}, "'from' can only be 'position'"),
    "other winner": ({"result": {"outcome": None}}, "the result differs from that of the rules"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found(honest: replays_document.Document, name: str) -> None:
    changes, sentence = FORGERIES[name]
    assert sentence in str(forged(honest, **changes))


def test_a_match_that_was_cut_is_found(honest: replays_document.Document) -> None:
    assert "the match is not over" in str(forged(honest, turns=honest["turns"][:1]))
    assert "the start does not follow" in str(forged(honest, **after(honest, 2)))


def test_players_who_did_not_play_are_found(honest: replays_document.Document) -> None:
    players = [*honest["players"], {"player": 9, "name": "x", "bot": ""}]
    assert "its players differ from those of the start" in str(forged(honest, players=players))


def test_options_that_give_another_start_are_found(honest: replays_document.Document) -> None:
    options = honest["options"] | OTHER[honest["game"]]
    assert "the start does not follow" in str(forged(honest, options=options))


def test_turns_after_the_end_are_found(honest: replays_document.Document) -> None:
    game = load_game(honest["game"])
    *_, last = replays_document.states(game, honest)
    player = str(game.rules.players(last)[0])
    more = {"actions": {player: {"fault": "timeout"}}, "ms": {}, "frame": {}}
    sentence = str(forged(honest, turns=[*honest["turns"], more]))
    if game.name == "hexagon":
        assert "the frame after turn" in sentence
    else:
        assert "comes after the end" in sentence or "the game is over" in sentence


def test_a_repainted_board_is_found() -> None:
    match = ["builtin:greedy", "builtin:walker"]
    document = again(play_match("paint", match, 3, {"turns": 5, "width": 5, "height": 4}).replay)
    start, frame = document["start"], document["frame"]
    start["colors"][1][1] = frame["colors"][1][1] = "greedy"
    assert "the start does not follow" in str(forged(document))


def test_a_given_position_is_told(tmp_path: Path) -> None:
    bots = ["builtin:greedy", "builtin:random"]
    played = again(play_match("hexagon", bots, 3, {"size": 3}).replay)
    position = after(played, 2)["start"]
    document = again(play_match("hexagon", bots, 3, {"size": 3}, start=position).replay)
    assert document["from"] == "position"
    assert verify(load_game("hexagon"), document) is None
    del document["from"]
    assert "the start does not follow" in str(forged(document))
    assert "hash" in str(verify(load_game("hexagon"), document))


def test_a_match_without_a_turn_is_proven_by_its_faults(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("raise SystemExit(1)\n")
    document = again(play_match("paint", [str(bot), "builtin:walker"], 1, {}).replay)
    assert document["result"]["outcome"]["reason"] == "not_enough_ready"
    assert verify(load_game("paint"), document) is None
    assert "do not explain" in str(forged(document, faults=[]))


def test_a_map_of_ones_own_proves_the_rest(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        main, ["maps", "code-battle", "generate", "--players", "2", "--out", str(tmp_path)]
    )
    assert result.exit_code == 0
    (file,) = tmp_path.glob("*.json")
    options = {"map": str(file), "max_turns": 5}
    document = again(play_match("code-battle", ["builtin:random"] * 2, 1, options).replay)
    file.unlink()
    assert verify(load_game("code-battle"), document) is None
    assert "the start does not follow" in str(forged(document, **after(document, 2)))


def test_every_file_gets_its_line(honest: replays_document.Document, tmp_path: Path) -> None:
    files = {
        "true.json": replays_document.encode(honest, packed=False),
        "torn.json": replays_document.encode(honest, packed=False)[:-40],
        "packed.json.gz": replays_document.encode(honest, packed=True),
        "torn.json.gz": replays_document.encode(honest, packed=True)[:-40],
        "other.json": b"[]",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    paths = [str(tmp_path / name) for name in (*files, "missing.json")]
    done = CliRunner().invoke(main, ["replay", "verify", "--json", *paths], catch_exceptions=False)
    assert done.exit_code == 1
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["file"] for one in verdicts] == paths
    assert [one["ok"] for one in verdicts] == [True, False, True, False, False, False]
    assert all(one["error"] for one in verdicts if not one["ok"])
    assert verdicts[0].keys() == {"file", "ok", "error"}
