"""The replay format of the rule book holds a whole match, and is read back (document, P13)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from cw.errors import ArenaError
from cw.games.code_battle import exporter as book
from cw.games.code_battle.map_maker import CodeBattleMaps
from cw.games.registry import load_game
from cw.replays import document as replays_document
from cw.replays.own_formats import ReplayFile, decode, proven
from tests.matches.playing import play_match
from tests.mutations import CASES, spoiled

GAME = load_game("code-battle")

MATCHES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "2": (("gatherer", "rusher"), {"max_turns": 60}),
    "3": (("swarm", "hunter", "random"), {"max_turns": 50, "attack_radius2": 9}),
    "4": (("random", "guardian", "rusher", "gatherer"), {"max_turns": 50}),
    "6": (("random", "rusher", "gatherer", "random", "swarm", "random"), {"max_turns": 40}),
    "many bots": (("random", "random"), {"max_turns": 60, "energy_interval": 1, "spawn_cost": 1}),
}


@cache
def played(match: str) -> replays_document.Document:
    """Play a match, its last turns with faults; return its replay as a file gives it."""
    names, options = MATCHES[match]
    recorded = play_match("code-battle", [f"builtin:{name}" for name in names], 11, options).replay
    return replays_document.decode(replays_document.encode(recorded, packed=False))


def exported(recorded: replays_document.Document) -> bytes:
    return book.export(recorded, list(replays_document.states(GAME, recorded)))


def content(file: ReplayFile) -> bytes:
    """Return the file that the exporter makes of one that was read."""
    assert file.own_match is not None
    states = list(replays_document.states(GAME, file.document))
    return book.export(file.document, states, file.own_match.credits)


@pytest.mark.parametrize("match", MATCHES)
def test_a_file_is_read_back_as_the_match_that_it_tells(match: str) -> None:
    recorded = played(match)
    data = exported(recorded)
    file = decode(data)
    assert proven(file) is None
    assert list(replays_document.frames(file.document)) == list(replays_document.frames(recorded))
    assert file.document["result"] == recorded["result"]
    assert content(file) == data


def with_timeouts(turns: int) -> replays_document.Document:
    """Return a match in whose last turns slot 1 did not answer."""
    bots = ["builtin:gatherer", "builtin:rusher"]
    recorded = play_match("code-battle", bots, 3, {"max_turns": 30}).replay
    for turn in recorded["turns"][-turns:]:
        turn["actions"]["1"] = {"fault": "timeout"}
    return recorded


def test_faults_are_part_of_the_file() -> None:
    data = exported(with_timeouts(5))
    file = decode(data)
    assert proven(file) is None
    assert content(file) == data
    last = list(replays_document.frames(file.document))[-1]
    assert last["players"][1]["failures"] == 5
    faults = [(fault["turn"], fault["player"], fault["kind"]) for fault in file.document["faults"]]
    assert faults == [(turn, "1", "timeout") for turn in range(25, 30)]


def test_a_match_on_a_map_of_a_file_is_read_back(tmp_path: Path) -> None:
    maker = CodeBattleMaps()
    place = tmp_path / "mine.json"
    [arena_map] = maker.make(2, 1, 5, rows=30, cols=30, energy_nodes=8)
    place.write_bytes(maker.encode(arena_map))
    bots = ["builtin:gatherer", "builtin:rusher"]
    recorded = play_match("code-battle", bots, 3, {"max_turns": 20, "map": str(place)}).replay
    file = decode(exported(recorded))
    assert file.document["options"]["map"] == "mine.json"
    assert proven(file) is None


def test_what_a_file_leaves_out_is_empty() -> None:
    document = json.loads(exported(played("2")))
    for turn in document["turns"]:
        for name in [name for name, value in turn.items() if not value]:
            del turn[name]
    scores = [turn["scores"] for turn in document["turns"]]
    for turn, before, now in zip(document["turns"][1:], scores, scores[1:], strict=False):
        if before == now:
            del turn["scores"]
    for name in ("ranks", "turns", "crashed"):
        del document["result"][name]
    del document["match_id"]
    assert proven(decode(json.dumps(document).encode())) is None


def changed(document: Any, *path: Any, value: Any) -> Any:
    """Change one value of a file."""
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return document


FORGERIES: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "winner": (("result", "winner"), 1, "result.winner is 1 in the file, and the rules give 0"),
    "scores": (("turns", 4, "scores"), [9, 9], "turns[4].scores[0] is 9 in the file"),
    "deaths": (("turns", 4, "deaths"), [[1, 1, 0]], "turns[4].deaths is [[1, 1, 0]] in the file"),
    "type": (("turns", 4, "scores"), [1.0, 1], "turns[4].scores[0] is 1.0 in the file"),
    "collected": (("turns", 4, "energy_collected"), {"1": [[0, 0]]}, "turns[4].energy_collected"),
    "walls": (("map", "walls"), [], "the start does not follow from the options and the seed"),
    "map": (("map", "map_id"), "m2_002", "the start does not follow from the options and the seed"),
    "map of others": (("map", "map_id"), "m3_001", "made for 3 players, 2 given"),
    "settings": (("config", "max_turns"), 61, "the match is not over"),
    "no turns": (("turns",), [], "the match has no turn"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found_and_named(name: str) -> None:
    path, value, sentence = FORGERIES[name]
    document = changed(json.loads(exported(played("2"))), *path, value=value)
    assert sentence in str(proven(decode(json.dumps(document).encode())))


REFUSED: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "version": (("version",), 2, "this is not a valid replay of code-battle"),
    "five players": (("players",), [{"name": "a"}] * 5, "players: 5 is not one of 2, 3, 4, 6"),
    "grid": (("config", "rows"), 4000, "rows: 4000 is not within 30..120"),
    "setting": (("config", "spawn_cost"), 0, "spawn_cost: 0 is not within 1..20"),
    "wall": (("map", "walls", 0), [70, 1], "walls[0].row must be from 0 to 59, not 70"),
    "owner": (("map", "cores", 0, "owner"), 7, "bots[0].owner must be from 0 to 1, not 7"),
    "turns": (("turns",), [{}] * 1001, "of length <= 1000"),
    "way": (("turns", 0, "moves"), {"0": [{"from": [1, 1], "dir": "X"}]}, "Invalid enum value"),
    "path": (("map", "map_id"), "../mine", "this is not a valid replay of code-battle"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_played_is_refused(name: str) -> None:
    path, value, sentence = REFUSED[name]
    document = changed(json.loads(exported(played("2"))), *path, value=value)
    with pytest.raises(ArenaError) as refused:
        decode(json.dumps(document).encode())
    assert sentence in str(refused.value)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["replay", *map(str, arguments)], catch_exceptions=False)


@pytest.mark.thorough
def test_the_commands_take_the_format(tmp_path: Path) -> None:
    file = tmp_path / "match.game.json"
    file.write_bytes(exported(played("2")))
    assert run("verify", file).stdout == f"{file}: ok\n"
    assert run("show", file).stdout == run("show", file, "--turn", "60").stdout
    assert json.loads(run("line", file, "--turn", "4").stdout)["state"]["turn"] == 3
    assert run("export", file, "--gz", "--out", tmp_path / "arena.json.gz").exit_code == 0
    assert run("verify", tmp_path / "arena.json.gz").stdout.endswith("arena.json.gz: ok\n")
    assert run("export", file, "--game", "--out", tmp_path / "again.json").exit_code == 0
    again = json.loads((tmp_path / "again.json").read_bytes())
    assert again["turns"] == json.loads(file.read_bytes())["turns"]


COMMANDS = (("verify",), ("show", "--turn", "1"), ("line", "--turn", "1"), ("export", "--svg"))


def test_hostile_files_end_in_a_sentence(tmp_path: Path) -> None:
    document = json.loads(exported(with_timeouts(5)))
    del document["turns"][8:]
    rng, file = Random(7), tmp_path / "match.json"
    for number in range(CASES or 80):
        file.write_bytes(spoiled(rng, document))
        command = COMMANDS[number % len(COMMANDS)]
        out = ("--out", str(tmp_path / "out")) if command[0] == "export" else ()
        done = run(command[0], file, *command[1:], *out)
        assert done.exit_code in (0, 1, 2)
        assert b"\x1b" not in done.output_bytes
