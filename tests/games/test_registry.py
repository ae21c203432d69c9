"""The games by name: where their parts are, and what other packages may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from cw.errors import UsageError
from cw.games.code_battle.protocol import CodeBattleProtocol
from cw.games.registry import (
    GAMES,
    game_entries,
    game_entry,
    in_folder,
    load_bot_handler,
    load_game,
    load_play_options,
    load_protocol,
)
from cw.games.wire import BotContext
from tests.documented import install


def brought(folder: Path, ending: str) -> None:
    """Install the documented game with another last line of its package."""
    install(folder)
    package = folder / "nim" / "__init__.py"
    package.write_text(package.read_text("utf-8").replace('in_folder("nim")', ending), "utf-8")
    # A name of its own: modules that were loaded once are not loaded again.
    name = f"nim{len(ending)}"
    (folder / "nim").rename(folder / name)
    points = next(folder.glob("*.dist-info")) / "entry_points.txt"
    points.write_text(f"[cw.games]\nnim = {name}:ENTRY\n", encoding="utf-8")


def test_parts_are_found_where_they_usually_stand() -> None:
    entry = in_folder("cw.games.code_battle")
    assert entry == GAMES["code-battle"]
    assert entry.protocol == "cw.games.code_battle.protocol:CodeBattleProtocol"
    assert isinstance(load_protocol("code-battle"), CodeBattleProtocol)
    assert entry.maps
    assert entry.exporter
    assert GAMES["paint"].maps is None


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("1 / 0", "the game 'nim' of another package cannot be loaded from .*ZeroDivisionError"),
        ('"nim.rules"', "ENTRY must be a GameEntry, not 'nim.rules'"),
    ],
)
def test_a_package_that_is_broken_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, message: str
) -> None:
    brought(tmp_path, ending)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=message):
        game_entries()
    assert load_game("paint").name == "paint"


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
