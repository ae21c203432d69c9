"""The layers of the code: imports point down only, and rules know neither clock nor wire."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.modules import Layers, Modules

ROOT = Path(__file__).resolve().parents[1]
MODULES = Modules(ROOT / "cw")
SOURCES = MODULES.sources

LAYERS = (
    ("cw.errors", "cw.assets", "cw.interruption", "cw.timed_calls", "cw"),
    ("cw.documents",),
    ("cw.drawing", "cw.files", "cw.line_files", "cw.version"),
    ("cw.games.rules",),
    ("cw.games.codec",),
    ("cw.games.wire", "cw.games.endings", "cw.games.spaces"),
    ("cw.games.entry",),
    ("cw.games.*", "cw.games.defaults"),
    ("cw.games.installed",),
    ("cw.games.registry", "cw.game", "cw.author"),
    ("cw.kits",),
    ("cw.arena", "cw.league", "cw.new_game", "cw.pictures"),
    ("cw.envs", "cw.replays"),
    ("cw.suite",),
    ("cw.server",),
    ("cw.matches",),
    ("cw.lab",),
    ("cw.championship",),
    ("cw.workshop",),
    ("cw.web",),
    ("cw.cli", "cw.notebook"),
    ("cw.__main__", "cw.game_server"),
)
"""Each layer's packages, the lowest first. Packages on one layer do not know each other."""

HOUSE = Layers("cw", LAYERS, "cw.games", MODULES)
"""Each game is a package of its own."""

IMPURE = {"aiohttp", "asyncio", "flask", "os", "requests", "socket", "subprocess", "threading"}
IMPURE |= {"time", "datetime", "secrets", "waitress"}


def test_no_modules_import_each_other_in_a_circle() -> None:
    HOUSE.demand_no_circle()


def test_imports_point_down_only() -> None:
    assert HOUSE.upward() == []


SITE = re.compile(r"^\s*(?:from|import) (?:cw_hub|hub)\b", re.M)
"""An import of what is built on the arena, which finds that by entry points, if at all."""


@pytest.mark.parametrize("folder", ["cw", "bench", "docs", "tests"])
def test_the_arena_imports_nothing_of_the_site(folder: str) -> None:
    sources = {file: file.read_text("utf-8") for file in (ROOT / folder).rglob("*.py")}
    assert [file for file, text in sources.items() if SITE.search(text)] == []
    if folder == "cw":
        assert [file for file, text in sources.items() if "cw_hub" in text] == []


def test_the_folders_of_code_battle_know_only_those_below() -> None:
    game = "cw.games.code_battle"
    order = [f"{game}.{folder}" for folder in ("maps", "rules", "strategies")]
    offenders = [
        f"{module} imports {target}"
        for number, folder in enumerate(order)
        for module in SOURCES
        if module.startswith(folder)
        for target in MODULES.imported_of("cw", module)
        if target.startswith(game) and not target.startswith(tuple(order[: number + 1]))
    ]
    assert not offenders


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        (
            "cw.arena",
            {"cw.games.rules", "cw.games.codec", "cw.games.wire"},
        ),
        ("cw.league", {"cw.games.rules"}),
    ],
)
def test_the_arena_knows_no_game_and_the_league_only_the_interface(
    package: str, allowed: set[str]
) -> None:
    offenders = {
        module: targets
        for module in HOUSE.in_packages(package)
        if (
            targets := {
                target
                for target in MODULES.imported_of("cw", module)
                if target.startswith("cw.games")
            }
            - allowed
        )
    }
    assert not offenders


def test_pictures_know_no_rules() -> None:
    allowed = {"cw.documents", "cw.drawing", "cw.errors", "cw.pictures"}
    offenders = {
        module: packages
        for module in HOUSE.in_packages("cw.pictures")
        if (packages := set(map(HOUSE.package_of, MODULES.imported_of("cw", module))) - allowed)
    }
    assert not offenders


CALENDAR = "cw.league.due_times"
"""A calendar is arithmetic; a clock is not."""


def test_rules_and_league_are_pure() -> None:
    offenders = {
        module: impure
        for module in SOURCES
        if module.startswith(("cw.games", "cw.league"))
        and (
            impure := MODULES.libraries(module)
            & IMPURE - ({"datetime"} if module == CALENDAR else set())
        )
    }
    assert not offenders
    assert not re.search(r"\b(now|today|utcnow)\(", SOURCES[CALENDAR])


def test_rules_and_league_draw_from_a_seeded_random_alone() -> None:
    offenders = [
        module
        for module in SOURCES
        if module.startswith(("cw.games", "cw.league")) and "import random\n" in SOURCES[module]
    ]
    assert not offenders, "draw from a Random(seed) only"


def test_no_module_hides_one_of_the_standard_library() -> None:
    names = {path.stem for path in (ROOT / "cw").iterdir()}
    assert not names & sys.stdlib_module_names
