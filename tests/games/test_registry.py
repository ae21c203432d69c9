"""The games by name: where their parts are, and what other packages may say."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from threading import Event
from zlib import crc32

import pytest

from cw.errors import UsageError
from cw.games.code_battle.protocol import CodeBattleProtocol
from cw.games.entry import LateStrategy, in_folder
from cw.games.registry import (
    GAMES,
    game_entries,
    game_entry,
    games_left_out,
    installed_games,
    load_bot_handler,
    load_game,
    load_play_options,
    load_protocol,
    load_strategies,
)
from cw.games.wire import BotContext
from tests.documented import install, install_nim


def brought(folder: Path, entry: str, rules: str = "pass") -> None:
    """Install the documented game with another entry, and with rules that differ from its own."""
    install_nim(folder)
    # A name of its own: modules that were loaded once are not loaded again.
    name = f"nim_{crc32(f'{entry}{rules}'.encode())}"
    text = (
        "from cw.games.entry import in_folder\nfrom dataclasses import replace\nimport nim.rules\n"
        f"class Nim(nim.rules.Nim):\n    {rules}\nENTRY = {entry}\n"
    )
    (folder / f"{name}.py").write_text(text.replace("HERE", name), encoding="utf-8")
    points = next(folder.glob("*.dist-info")) / "entry_points.txt"
    points.write_text(f"[cw.games]\nnim = {name}:ENTRY\n", encoding="utf-8")


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 600
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_strategy_that_is_loaded_late_says_what_its_class_says() -> None:
    late = [
        strategy
        for game in GAMES
        for strategy in load_strategies(game).values()
        if isinstance(strategy, LateStrategy)
    ]
    assert late
    for strategy in late:
        assert strategy.__doc__ == resolve_name(strategy.where).__doc__


def test_parts_are_found_where_they_usually_stand() -> None:
    entry = in_folder("cw.games.code_battle", has_hidden_information=True)
    assert entry == GAMES["code-battle"]
    assert entry.protocol == "cw.games.code_battle.protocol:CodeBattleProtocol"
    assert isinstance(load_protocol("code-battle"), CodeBattleProtocol)
    assert entry.maps
    assert entry.exporter
    assert GAMES["paint"].maps is None


OWN_RULES = 'replace(in_folder("nim"), rules="HERE:Nim")'

BROKEN = [
    ("1 / 0", "pass", "raises ZeroDivisionError: division by zero"),
    ("exit(3)", "pass", "raises SystemExit: 3"),
    ('"nim.rules"', "pass", "ENTRY must be a GameEntry, not 'nim.rules'"),
    ('in_folder("json.decoder")', "pass", "raises ModuleNotFoundError"),
    ('in_folder("cw.games.paint")', "pass", "its rules must have the name 'nim'"),
    ('replace(in_folder("nim"), endings="nim:__doc__")', "pass", "must be Endings(...), not"),
    (OWN_RULES, "step = None", "its rules have no method step"),
    (OWN_RULES, "seats = 2", "its rules must have seats such as range(2, 5), not 2"),
    (OWN_RULES, "to_move = lambda *_: ()", "no player is to move at the start of a match"),
]


@pytest.mark.parametrize(("entry", "rules", "problem"), BROKEN)
def test_a_package_that_is_broken_is_named_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, rules: str, problem: str
) -> None:
    brought(tmp_path, entry, rules)
    monkeypatch.syspath_prepend(tmp_path)
    assert list(game_entries()) == list(GAMES)
    [left_out] = games_left_out()
    assert left_out.sentence.startswith("the game 'nim' of nim 1.0 is left out: ")
    assert problem in left_out.sentence
    assert left_out.sentence.endswith("; repair that package, or uninstall it")
    with pytest.raises(UsageError) as refusal:
        load_game("nim")
    assert str(refusal.value) == left_out.sentence


def test_a_package_that_takes_too_long_is_left_out_until_it_is_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Event()
    monkeypatch.setattr("cw.games.installed.PATIENCE", 0.0)
    monkeypatch.setitem(vars(builtins), "gate_of_nim", gate)
    brought(tmp_path, 'gate_of_nim.wait() and in_folder("nim")')
    monkeypatch.syspath_prepend(tmp_path)
    assert "could not be loaded" in games_left_out()[0].sentence
    assert list(game_entries()) == list(GAMES)
    gate.set()
    wait_until(lambda: "nim" in game_entries())


@pytest.mark.parametrize("name", ["../nim", "Nim", "nim-", "n" * 33, "nim nim"])
def test_a_name_that_no_game_can_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    install_nim(tmp_path)
    points = next(tmp_path.glob("*.dist-info")) / "entry_points.txt"
    points.write_text(f"[cw.games]\n{name} = nim:ENTRY\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(game_entries()) == list(GAMES)
    assert "its name must be lower-case letters and digits" in games_left_out()[0].sentence


def test_installed_games_stand_after_ours_with_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path))
    assert list(game_entries()) == [*GAMES, "nim", "tron"]
    games = [(game.name, game.package, game.version) for game in installed_games()]
    assert games == [("nim", "nim", "1.0"), ("tron", "tron", "1.0")]


def test_nobody_can_take_the_name_of_one_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought(tmp_path, 'in_folder("cw.games.hexagon")')
    points = next(tmp_path.glob("*.dist-info")) / "entry_points.txt"
    points.write_text(points.read_text("utf-8").replace("nim =", "paint ="), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert game_entries()["paint"] == game_entry("paint") == GAMES["paint"]


def test_clients_of_a_server_are_not_served() -> None:
    context = BotContext(lambda _: pytest.fail("nobody plays"), {}, lambda: 0.0)
    with pytest.raises(UsageError, match="clients of its server"):
        load_bot_handler("circuit-wars", context)


def test_measured_matches_of_circuit_wars_do_not_begin_alike() -> None:
    assert load_play_options("circuit-wars").measured == {"openings": 4}
