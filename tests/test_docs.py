"""The documentation names everything there is, and nothing that is not."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from cw.cli import COMMANDS
from cw.game import Board
from cw.games.circuit_wars.protocol import REGISTRATION_ERRORS, STATUS
from cw.games.registry import GAMES, load_strategies
from cw.games.rules import FAULT_KINDS
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.claims import (
    copies_the_code,
    links,
    named_commands,
    named_tests,
    says_untested,
    targets_of_make,
    unpinned,
    variables_in,
)
from tests.commands import own_commands, unexplained, unknown_options
from tests.documented import DOCS
from tests.typed import ROOT

TOP = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES = [*TOP, ROOT / "SECURITY.md", *sorted(DOCS.rglob("*.md"))]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
ALL = "\n".join(TEXTS.values())


EVERY_COMMAND = dict(own_commands())


@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_every_command_and_option_explains_itself(name: str) -> None:
    """The reference of the site is made of these texts: there is no other."""
    assert unexplained(name, EVERY_COMMAND[name]) == []


@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_no_help_names_an_option_that_is_not_there(name: str) -> None:
    assert unknown_options(EVERY_COMMAND[name], EVERY_COMMAND.values()) == set()


def test_every_route_is_documented() -> None:
    for rule in create_app().url_map.iter_rules():
        if rule.endpoint == "static":
            continue
        part = rule.endpoint.partition(".")[0]
        pages = {
            "replays": "docs/viewer.md",
            "replay_forms": "docs/viewer.md",
            "games": "docs/server.md",
            "matches": "docs/server.md",
            "play_on": "docs/server.md",
            "outputs": "docs/server.md",
            "docs": "docs/server.md",
        }
        rules = pages.get(part, "docs/games/circuit_wars.md")
        text = TEXTS[ROOT / rules]
        route = re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", rule.rule).replace("<move>", "<x,y,border>")
        if not route.endswith(("/reg/", "/move/<team_id>", "/move/<team_id>/")):
            assert f"`{route}" in text, f"{rules} does not name {route}"


def test_every_setting_is_documented() -> None:
    text = TEXTS[DOCS / "server.md"]
    for field in dataclasses.fields(SiteSettings):
        assert f"`{field.name}`" in text


def test_every_code_is_documented() -> None:
    text = TEXTS[DOCS / "games" / "circuit_wars.md"]
    for code in STATUS:
        assert re.search(rf"^\|.*\b{code}\b", text, re.M), code
    for code in REGISTRATION_ERRORS.values():
        assert re.search(rf"^\| {code} \|", text, re.M), code
    assert STATUS[100] in text
    assert "timeout" in FAULT_KINDS


def test_every_method_of_the_board_is_documented() -> None:
    text = TEXTS[DOCS / "first-bot.md"]
    for name in vars(Board):
        if not name.startswith("_"):
            assert f"`{name}" in text or f"Board.{name}" in text, name


@pytest.mark.parametrize("game", GAMES)
def test_every_strategy_is_documented(game: str) -> None:
    text = TEXTS[DOCS / "strategies.md"]
    for name in load_strategies(game):
        assert f"`{name}`" in text


def test_every_environment_variable_is_documented() -> None:
    sources = [*ROOT.glob("*.py"), *(ROOT / "cw").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    names = variables_in(sources)
    assert names
    assert {name for name in names if name not in ALL} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Those of README.md and CONTRIBUTING.md into hub/ are tried by the tests there."""
    into_the_hub = [link for link in links(page) if link.leads_to_the_hub()]
    assert page in TOP or not into_the_hub
    others = [link for link in links(page) if link not in into_the_hub]
    assert [link.written for link in others if not link.leads_somewhere()] == []


def test_every_test_that_is_named_exists() -> None:
    named = named_tests(ALL)
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_command_line_in_the_docs_is_one_that_exists() -> None:
    assert named_commands(ALL) <= COMMANDS.keys()


def test_nothing_replaces_the_editable_install() -> None:
    messages = [*(ROOT / "cw").rglob("*.py"), *DOCS.rglob("*.md"), ROOT / "README.md"]
    assert [path.name for path in messages if copies_the_code(path)] == []


def test_every_requirement_is_pinned() -> None:
    assert unpinned(ROOT / "pyproject.toml") == []


OF_THE_HUB = {"hub"}
"""What the tests of the hub find lines for."""


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/first-bot.md"])
def test_what_make_does_for_people_has_lines_without_it(page: str) -> None:
    lines = TEXTS[DOCS / "platforms.md"]
    targets = targets_of_make(TEXTS[ROOT / page]) - OF_THE_HUB
    assert [target for target in sorted(targets) if f"| `make {target}` |" not in lines] == []


def test_what_nobody_has_tried_elsewhere_stands_on_one_page() -> None:
    assert [page.name for page in PAGES if says_untested(TEXTS[page])] == ["platforms.md"]
