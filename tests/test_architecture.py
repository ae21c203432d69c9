"""The layers of the code: imports point down only, and rules know neither clock nor wire."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "cw").rglob("*.py"))

LAYERS = (
    (
        "cw.errors",
        "cw.assets",
        "cw.interruption",
        "cw.time_limit",
        "cw.visible",
        "cw",
    ),
    ("cw.documents",),
    ("cw.drawing", "cw.files", "cw.line_files", "cw.packages", "cw.version"),
    ("cw.games.rules",),
    ("cw.games.codec",),
    ("cw.games.wire", "cw.games.play_options", "cw.games.endings", "cw.games.spaces"),
    ("cw.games.late_strategy", "cw.games.status_faults", "cw.games.checks"),
    ("cw.games.own_format", "cw.games.shorthand"),
    ("cw.games.*", "cw.games.entry"),
    ("cw.games.installed",),
    ("cw.games.registry", "cw.game"),
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
    ("cw_hub.clock", "cw_hub.origin", "cw_hub.players"),
    ("cw_hub.store",),
    ("cw_hub.operation",),
    ("cw_hub.pages",),
    ("cw_hub.accounts",),
    ("cw_hub.bots",),
    ("cw_hub.matches",),
    ("cw_hub.api",),
    ("cw_hub.competitions",),
    ("cw_hub.competitions.*",),
    ("cw_hub.site", "cw_hub"),
    ("cw.cli", "cw.notebook"),
    ("cw.__main__", "cw.game_server"),
)
"""Each layer's packages, the lowest first. Packages on one layer do not know each other."""

PACKAGES = frozenset(package for layer in LAYERS for package in layer)

FAMILIES = ("cw.games", "cw_hub.competitions")
"""Where each folder is a package of its own, on the layer `FAMILY.*`: games and formats."""

FOLDERS = frozenset(
    ".".join(path.parent.relative_to(ROOT).parts) for path in MODULES if path.name == "__init__.py"
)

IMPURE = {"aiohttp", "asyncio", "flask", "os", "requests", "socket", "subprocess", "threading"}
IMPURE |= {"time", "datetime", "secrets", "waitress"}


def name_of(path: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(module: str) -> str:
    """Return the package a module belongs to: the longest name on LAYERS that it begins with."""
    for family in FAMILIES:
        member = ".".join(module.split(".")[: family.count(".") + 2])
        if member in FOLDERS and module.startswith(f"{family}.") and member not in PACKAGES:
            return member
    return max((package for package in PACKAGES if f"{module}.".startswith(f"{package}.")), key=len)


def layer_of(package: str) -> int:
    """Return the number of the layer of a package."""
    family = f"{package.rpartition('.')[0]}.*"
    return next(
        number
        for number, packages in enumerate(LAYERS)
        if package in packages or (package not in PACKAGES and family in packages)
    )


SOURCES = {name_of(path): path.read_text(encoding="utf-8") for path in MODULES}
NAMES = frozenset(SOURCES)

NAMED = re.compile(r"(cw(?:\.\w+)+)(?::\w+)?")
"""A module, or something in it, that is named by text: it is imported by that."""


@cache
def tree_of(module: str) -> ast.Module:
    """Return the syntax of a module."""
    return ast.parse(SOURCES[module])


def imports(module: str) -> Iterator[str]:
    """Name every module that a module imports, wherever in it, and be it by text."""
    for node in ast.walk(tree_of(module)):
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


@cache
def imported(module: str) -> frozenset[str]:
    """Return what a module imports; none is parsed while tests are only collected."""
    return frozenset(imports(module))


def libraries(module: str) -> set[str]:
    """Return the packages a module imports, by their first names."""
    return {target.partition(".")[0] for target in imported(module)}


def own(module: str) -> Iterator[str]:
    """Return the modules of this project that a module imports."""
    return (target for target in imported(module) if target.startswith("cw."))


def in_packages(*packages: str) -> Iterator[str]:
    """Return the names of all modules in these packages."""
    return (module for module in SOURCES if package_of(module) in packages)


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {module: [name for name in own(module) if name != module] for module in SOURCES}
    # Raises CycleError, which names the modules of a circle.
    TopologicalSorter(graph).prepare()


def test_imports_point_down_only() -> None:
    offenders = [
        f"{module} imports {target}"
        for module in SOURCES
        for target in own(module)
        if package_of(target) != package_of(module)
        and layer_of(package_of(target)) >= layer_of(package_of(module))
    ]
    assert not offenders


def test_the_folders_of_code_battle_know_only_those_below() -> None:
    game = "cw.games.code_battle"
    order = [f"{game}.{folder}" for folder in ("maps", "rules", "strategies")]
    offenders = [
        f"{module} imports {target}"
        for number, folder in enumerate(order)
        for module in SOURCES
        if module.startswith(folder)
        for target in own(module)
        if target.startswith(game) and not target.startswith(tuple(order[: number + 1]))
    ]
    assert not offenders


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        (
            "cw.arena",
            {"cw.games.rules", "cw.games.codec", "cw.games.wire", "cw.games.status_faults"},
        ),
        ("cw.league", {"cw.games.rules"}),
    ],
)
def test_the_arena_knows_no_game_and_the_league_only_the_interface(
    package: str, allowed: set[str]
) -> None:
    offenders = {
        module: targets
        for module in in_packages(package)
        if (
            targets := {target for target in own(module) if target.startswith("cw.games")} - allowed
        )
    }
    assert not offenders


def test_pictures_know_no_rules() -> None:
    allowed = {"cw.documents", "cw.drawing", "cw.errors", "cw.pictures"}
    offenders = {
        module: packages
        for module in in_packages("cw.pictures")
        if (packages := set(map(package_of, own(module))) - allowed)
    }
    assert not offenders


CALENDAR = "cw.league.due_times"
"""A calendar is arithmetic; a clock is not."""


def test_rules_and_league_are_pure() -> None:
    offenders = {
        module: impure
        for module in SOURCES
        if module.startswith(("cw.games", "cw.league"))
        and (impure := libraries(module) & IMPURE - ({"datetime"} if module == CALENDAR else set()))
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


def test_pages_of_the_hub_ask_verbs_and_never_a_table_or_the_queue() -> None:
    forbidden = {"celery", "kombu", "sqlalchemy", "cw_hub.store.tables"}
    offenders = {
        module: targets
        for module in SOURCES
        if module.startswith("cw_hub.") and "flask" in libraries(module)
        if (targets := (libraries(module) | imported(module)) & forbidden)
    }
    assert not offenders


def test_the_hub_is_imported_by_its_commands_alone() -> None:
    offenders = [
        f"{module} imports {target}"
        for module in SOURCES
        if not module.startswith(("cw_hub", "cw_hub.cli."))
        for target in own(module)
        if f"{target}.".startswith("cw_hub.")
    ]
    assert not offenders


def test_no_module_hides_one_of_the_standard_library() -> None:
    names = {path.stem for path in (ROOT / "cw").iterdir()}
    assert not names & sys.stdlib_module_names


FORMATS = "cw_hub.competitions"
"""Where each folder is a format."""

FORMAT_NAMES = sorted(
    folder.rpartition(".")[2]
    for folder in FOLDERS
    if folder.startswith(f"{FORMATS}.") and folder.count(".") == FORMATS.count(".") + 1
)

KNOWS_FORMATS = ("cw_hub.site.formats", "cw_hub.site.demo", "cw_hub.store.migrations")
"""What may name formats: the list of them, the demonstration, and migrations."""


def belongs_to(module: str, name: str) -> bool:
    """Return whether a module is part of a format, or of the commands that a format has."""
    return f"{module}.".startswith((f"{FORMATS}.{name}.", f"cw_hub.cli.{name}."))


def outside_formats() -> Iterator[str]:
    """Return the modules that work alike for all formats."""
    return (
        module
        for module in SOURCES
        if not module.startswith(KNOWS_FORMATS)
        and not any(belongs_to(module, name) for name in FORMAT_NAMES)
    )


def words_compared(tree: ast.AST) -> Iterator[str]:
    """Return each text that a format or kind is compared with, by `==`, `in` or `match`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.match_case):
            for inner in ast.walk(node if isinstance(node, ast.Compare) else node.pattern):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield inner.value


def test_no_format_is_known_outside_its_folder() -> None:
    assert len(FORMAT_NAMES) >= 4
    offenders = [
        f"{module} imports {target}"
        for module in SOURCES
        for name in FORMAT_NAMES
        if not belongs_to(module, name) and not module.startswith(KNOWS_FORMATS)
        for target in own(module)
        if f"{target}.".startswith(f"{FORMATS}.{name}.")
    ]
    assert not offenders, "ask `Format` for it"


def test_nothing_outside_a_format_asks_which_kind_a_match_is() -> None:
    offenders = [
        f"{module} compares with {word!r}"
        for module in outside_formats()
        if module.startswith(("cw_hub", "cw_hub.cli"))
        for word in words_compared(tree_of(module))
        if word in FORMAT_NAMES
    ]
    assert not offenders, "ask `Format` or `Kind` for it"


TEMPLATES = ROOT / "templates"
ASKS_FORMAT = re.compile(rf"""(?:==|!=|\bin)\s*[("'\[]+(?:{"|".join(FORMAT_NAMES)})["']""")


def test_no_template_outside_a_format_asks_for_one() -> None:
    own = tuple(str(TEMPLATES / "hub/competitions" / name) for name in FORMAT_NAMES)
    offenders = [
        f"{file}: {question[0]}"
        for file in (TEMPLATES / "hub").rglob("*.html")
        if not str(file).startswith(own)
        for question in ASKS_FORMAT.finditer(file.read_text("utf-8"))
    ]
    assert not offenders, "show what `Format` gives"
