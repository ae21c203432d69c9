"""The floors of the house: imports point down only, and rules know neither clock nor wire."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "cw").rglob("*.py"))

FLOORS = (
    ("cw.errors", "cw.assets", "cw.visible", "cw"),
    ("cw.drawing", "cw.files"),
    ("cw.games.rules",),
    ("cw.games.codec",),
    ("cw.games.wire", "cw.games.play_options", "cw.games.endings", "cw.games.spaces"),
    ("cw.games.*",),
    ("cw.games.registry", "cw.game"),
    ("cw.arena", "cw.envs", "cw.kits", "cw.league", "cw.pictures"),
    ("cw.replays",),
    ("cw.server",),
    ("cw.matches",),
    ("cw.championship",),
    ("cw.web",),
    ("cw.hub.clock",),
    ("cw.hub.store",),
    ("cw.hub.settings",),
    ("cw.hub.services",),
    ("cw.hub.resources", "cw.hub.logs"),
    ("cw.hub.jobs", "cw.hub.pages", "cw.hub.demo"),
    ("cw.hub",),
    ("cw.cli", "cw.notebook"),
    ("cw.__main__", "cw.game_server"),
)
"""Each floor's rooms, the lowest first. Rooms on one floor do not know each other."""

IMPURE = {"aiohttp", "asyncio", "flask", "os", "requests", "socket", "subprocess", "threading"}
IMPURE |= {"time", "datetime", "secrets", "waitress"}


def name_of(path: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """Return the room a module stands in: the longest name on FLOORS that it begins with."""
    rooms = [room for floor in FLOORS for room in floor]
    if module.startswith("cw.games.") and ".".join(module.split(".")[:3]) not in rooms:
        return ".".join(module.split(".")[:3])
    return max((room for room in rooms if f"{module}.".startswith(f"{room}.")), key=len)


def floor_of(room: str) -> int:
    """Return the number of the floor of a room."""
    for number, rooms in enumerate(FLOORS):
        if room in rooms:
            return number
    assert room.startswith("cw.games."), room
    return FLOORS.index(("cw.games.*",))


NAMES = frozenset(map(name_of, MODULES))

NAMED = re.compile(r"(cw(?:\.\w+)+)(?::\w+)?")
"""A module, or something in it, that is named by text: it is imported by that."""


def imports(path: Path) -> Iterator[str]:
    """Name every module that a file imports, wherever in it, and be it by text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = NAMED.fullmatch(node.value)
            if named and named[1] in NAMES:
                yield named[1]
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = ROOT.joinpath(*(node.module or "").split("."), f"{alias.name}.py")
                folder = inner.with_suffix("")
                nested = inner.exists() or (folder.is_dir() and "cw" in folder.parts)
                yield f"{node.module}.{alias.name}" if nested else node.module or ""


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_down_only(path: Path) -> None:
    room = room_of(name_of(path))
    for target in imports(path):
        if target == "cw" or not target.startswith("cw."):
            continue
        other = room_of(target)
        assert other == room or floor_of(other) < floor_of(room), f"{room} imports {other}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_the_arena_knows_no_game_and_the_league_only_the_interface(path: Path) -> None:
    if room_of(name_of(path)) in ("cw.arena", "cw.league"):
        known = {target for target in imports(path) if target.startswith("cw.games")}
        allowed = {"cw.games.rules"}
        if room_of(name_of(path)) == "cw.arena":
            allowed |= {"cw.games.codec", "cw.games.wire"}
        assert known <= allowed


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_pictures_know_no_rules(path: Path) -> None:
    if room_of(name_of(path)) == "cw.pictures":
        known = {target for target in imports(path) if target.startswith("cw.")}
        assert {room_of(target) for target in known} <= {"cw.drawing", "cw.errors", "cw.pictures"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_rules_and_league_are_pure(path: Path) -> None:
    name = name_of(path)
    if name.startswith(("cw.games", "cw.league")):
        found = {target.partition(".")[0] for target in imports(path)}
        assert not found & IMPURE
        source = path.read_text(encoding="utf-8")
        assert "import random\n" not in source, "draw from a Random(seed) only"


@pytest.mark.parametrize("path", [p for p in MODULES if "hub" in p.parts], ids=name_of)
def test_inside_the_hub_each_floor_knows_its_own_libraries(path: Path) -> None:
    found = set(imports(path))
    libraries = {target.partition(".")[0] for target in found}
    room = room_of(name_of(path))
    if room in ("cw.hub.clock", "cw.hub.store", "cw.hub.settings", "cw.hub.services"):
        assert not libraries & {"celery", "flask", "flask_limiter", "flask_wtf", "kombu", "wtforms"}
        assert not any(target.startswith(("cw.web", "cw.cli")) for target in found)
    if room == "cw.hub.pages":
        assert "cw.hub.store.tables" not in found, "pages never touch a table: ask a service"
        assert not libraries & {"celery", "kombu", "sqlalchemy"}
    if room == "cw.hub.jobs":
        assert "flask" not in libraries


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_the_hub_is_imported_by_its_commands_alone(path: Path) -> None:
    name = name_of(path)
    if not name.startswith(("cw.hub", "cw.cli.hub_")):
        known = {target for target in imports(path) if not target.startswith("cw.cli.")}
        assert not any(target == "cw.hub" or target.startswith("cw.hub.") for target in known)


def test_no_module_hides_one_of_the_standard_library() -> None:
    names = {path.stem for path in (ROOT / "cw").iterdir()}
    assert not names & sys.stdlib_module_names
