"""The layers of the site, and what it takes of the arena."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from cw.assets import PACKAGE
from tests.modules import Layers, Modules

ROOT = Path(__file__).resolve().parents[2]
MODULES = Modules(ROOT / "hub" / "cw_hub", PACKAGE)
OURS = sorted(MODULES.of("cw_hub"))

LAYERS = (
    ("cw_hub.assets",),
    ("cw_hub.context", "cw_hub.players"),
    ("cw_hub.store",),
    ("cw_hub.operation",),
    ("cw_hub.pages",),
    ("cw_hub.accounts",),
    ("cw_hub.bots",),
    ("cw_hub.matches",),
    ("cw_hub.api",),
    ("cw_hub.competitions",),
    ("cw_hub.formats",),
    ("cw_hub.competitions.*",),
    ("cw_hub.site", "cw_hub"),
    ("cw_hub.cli",),
)
"""Each layer's packages, the lowest first. Packages on one layer do not know each other."""

FORMATS = "cw_hub.competitions"
"""Where each folder is a format, and a package of its own."""

HOUSE = Layers("cw_hub", LAYERS, FORMATS, MODULES)


def test_no_modules_of_the_site_import_each_other_in_a_circle() -> None:
    HOUSE.demand_no_circle()


def test_imports_within_the_site_point_down_only() -> None:
    assert HOUSE.upward() == []


# The arena

PAGE = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
PUBLIC = set(re.findall(r"`(cw(?:\.\w+)*)`", PAGE))
"""Modules of the arena on which others may build: those that the page of its Python names."""

LISTED = Path(__file__).with_name("modules_of_the_arena.txt")
"""The others on which the site builds, one a line: the fewer they are, the better."""


def test_the_site_takes_of_the_arena_what_is_listed_alone() -> None:
    listed = LISTED.read_text(encoding="utf-8").split()
    taken = {
        target
        for module in OURS
        for target in MODULES.imported(module)
        if f"{target}.".startswith("cw.")
    }
    assert sorted(taken - PUBLIC - set(listed)) == [], "take less of the arena"
    assert sorted(set(listed) - taken) == [], "no longer taken: delete it from the list"
    assert listed == sorted(set(listed) - PUBLIC)


def test_only_commands_of_the_site_know_those_of_the_arena() -> None:
    offenders = [
        f"{module} imports {target}"
        for module in OURS
        if not module.startswith("cw_hub.cli")
        for target in MODULES.imported_of("cw.cli", module)
    ]
    assert not offenders


def test_files_of_toml_are_read_by_the_arena_alone() -> None:
    assert [module for module in OURS if "tomllib" in MODULES.sources[module]] == []


# Pages


def test_pages_ask_verbs_and_never_a_table_or_the_queue() -> None:
    forbidden = {"celery", "kombu", "sqlalchemy", "cw_hub.store.models"}
    offenders = {
        module: targets
        for module in OURS
        if "flask" in MODULES.libraries(module)
        if (targets := (MODULES.libraries(module) | MODULES.imported(module)) & forbidden)
    }
    assert not offenders


def test_no_application_is_made_here() -> None:
    """That of the arena checks under which name it is asked."""
    assert list(MODULES.calls_of("Flask")) == ["cw.server.app"]


# Formats

FORMAT_NAMES = sorted(
    folder.rpartition(".")[2]
    for folder in MODULES.folders
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
        for module in OURS
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
        for module in OURS
        for name in FORMAT_NAMES
        if not belongs_to(module, name) and not module.startswith(KNOWS_FORMATS)
        for target in MODULES.imported(module)
        if f"{target}.".startswith(f"{FORMATS}.{name}.")
    ]
    assert not offenders, "ask `Format` for it"


def test_nothing_outside_a_format_asks_which_kind_a_match_is() -> None:
    offenders = [
        f"{module} compares with {word!r}"
        for module in outside_formats()
        for word in words_compared(MODULES.tree_of(module))
        if word in FORMAT_NAMES
    ]
    assert not offenders, "ask `Format` or `Kind` for it"


TEMPLATES = ROOT / "hub" / "templates"
ASKS_FORMAT = re.compile(rf"""(?:==|!=|\bin)\s*[("'\[]+(?:{"|".join(FORMAT_NAMES)})["']""")


def test_no_template_outside_a_format_asks_for_one() -> None:
    own = tuple(str(TEMPLATES / "hub/competitions" / name) for name in FORMAT_NAMES)
    offenders = [
        f"{file}: {question[0]}"
        for file in TEMPLATES.rglob("*.html")
        if not str(file).startswith(own)
        for question in ASKS_FORMAT.finditer(file.read_text("utf-8"))
    ]
    assert not offenders, "show what `Format` gives"
