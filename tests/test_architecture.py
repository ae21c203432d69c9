"""The layers of the code: imports point down only, and rules know neither clock nor wire."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "cw").rglob("*.py"))

LAYERS = (
    ("cw.errors", "cw.assets", "cw.visible", "cw"),
    ("cw.drawing", "cw.files"),
    ("cw.games.rules",),
    ("cw.games.codec",),
    ("cw.games.wire", "cw.games.play_options", "cw.games.endings", "cw.games.spaces"),
    ("cw.games.own_format",),
    ("cw.games.*",),
    ("cw.games.registry", "cw.game"),
    ("cw.arena", "cw.envs", "cw.kits", "cw.league", "cw.pictures"),
    ("cw.replays",),
    ("cw.server",),
    ("cw.matches",),
    ("cw.championship",),
    ("cw.web",),
    ("cw.hub.clock", "cw.hub.origin"),
    ("cw.hub.store",),
    ("cw.hub.settings",),
    ("cw.hub.services",),
    ("cw.hub.resources", "cw.hub.logs"),
    ("cw.hub.jobs", "cw.hub.pages"),
    ("cw.hub.demo",),
    ("cw.hub",),
    ("cw.cli", "cw.notebook"),
    ("cw.__main__", "cw.game_server"),
)
"""Each layer's packages, the lowest first. Packages on one layer do not know each other."""

IMPURE = {"aiohttp", "asyncio", "flask", "os", "requests", "socket", "subprocess", "threading"}
IMPURE |= {"time", "datetime", "secrets", "waitress"}


def name_of(path: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(module: str) -> str:
    """Return the package a module belongs to: the longest name on LAYERS that it begins with."""
    packages = [package for layer in LAYERS for package in layer]
    if module.startswith("cw.games.") and ".".join(module.split(".")[:3]) not in packages:
        return ".".join(module.split(".")[:3])
    return max((package for package in packages if f"{module}.".startswith(f"{package}.")), key=len)


def layer_of(package: str) -> int:
    """Return the number of the layer of a package."""
    for number, packages in enumerate(LAYERS):
        if package in packages:
            return number
    assert package.startswith("cw.games."), package
    return LAYERS.index(("cw.games.*",))


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
    package = package_of(name_of(path))
    for target in imports(path):
        if target == "cw" or not target.startswith("cw."):
            continue
        other = package_of(target)
        assert other == package or layer_of(other) < layer_of(package), f"{package} imports {other}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_the_arena_knows_no_game_and_the_league_only_the_interface(path: Path) -> None:
    if package_of(name_of(path)) in ("cw.arena", "cw.league"):
        known = {target for target in imports(path) if target.startswith("cw.games")}
        allowed = {"cw.games.rules"}
        if package_of(name_of(path)) == "cw.arena":
            allowed |= {"cw.games.codec", "cw.games.wire"}
        assert known <= allowed


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_pictures_know_no_rules(path: Path) -> None:
    if package_of(name_of(path)) == "cw.pictures":
        known = {target for target in imports(path) if target.startswith("cw.")}
        assert {package_of(target) for target in known} <= {
            "cw.drawing",
            "cw.errors",
            "cw.pictures",
        }


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_rules_and_league_are_pure(path: Path) -> None:
    name = name_of(path)
    if name.startswith(("cw.games", "cw.league")):
        found = {target.partition(".")[0] for target in imports(path)}
        source = path.read_text(encoding="utf-8")
        if name == "cw.league.due_times":
            # A calendar is arithmetic; a clock is not.
            found.discard("datetime")
            assert not re.search(r"\b(now|today|utcnow)\(", source)
        assert not found & IMPURE
        assert "import random\n" not in source, "draw from a Random(seed) only"


@pytest.mark.parametrize("path", [p for p in MODULES if "hub" in p.parts], ids=name_of)
def test_inside_the_hub_each_layer_knows_its_own_libraries(path: Path) -> None:
    found = set(imports(path))
    libraries = {target.partition(".")[0] for target in found}
    package = package_of(name_of(path))
    if package in ("cw.hub.clock", "cw.hub.store", "cw.hub.settings", "cw.hub.services"):
        assert not libraries & {"celery", "flask", "flask_limiter", "flask_wtf", "kombu", "wtforms"}
        assert not any(target.startswith(("cw.web", "cw.cli")) for target in found)
    if package == "cw.hub.pages":
        assert "cw.hub.store.tables" not in found, "pages never touch a table: ask a service"
        assert not libraries & {"celery", "kombu", "sqlalchemy"}
    if package == "cw.hub.jobs":
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
