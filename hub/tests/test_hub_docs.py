"""The documents of the hub name everything there is, and nothing that is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cw.cli import COMMANDS
from cw_hub.cli import hub
from cw_hub.operation.settings import HubSettings, setting_rows
from hub.tests.documents import DOCS, PAGES, TEXTS, TOP
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
from tests.commands import commands, own_commands, unexplained, unknown_options
from tests.test_docs import ALL as ALL_OF_THE_ARENA
from tests.typed import ROOT

HUB = ROOT / "hub"
ALL = "\n".join((ALL_OF_THE_ARENA, *TEXTS.values()))
EVERY_COMMAND = dict(commands(hub, "cw hub"))


@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_every_command_of_a_hub_explains_itself(name: str) -> None:
    assert unexplained(name, EVERY_COMMAND[name]) == []


@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_no_help_of_a_hub_names_an_option_that_is_not_there(name: str) -> None:
    known = [*EVERY_COMMAND.values(), *dict(own_commands()).values()]
    assert unknown_options(EVERY_COMMAND[name], known) == set()


def test_every_setting_of_a_hub_is_documented_and_no_other() -> None:
    text = TEXTS[DOCS / "operators.md"]
    for name, _, default, words in setting_rows(HubSettings()):
        assert f"| `{name}` | {default} | {words} |" in text, name
    rows = re.findall(r"^\| `(CW_[A-Z_]+)` \|", text, re.M)
    assert rows == [row.name for row in setting_rows(HubSettings())]


def test_every_environment_variable_of_a_hub_is_documented() -> None:
    names = variables_in(HUB.rglob("*.py"))
    assert names
    assert {name for name in names if name not in ALL} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_the_hub_lead_somewhere(page: Path) -> None:
    assert [link.written for link in links(page) if not link.leads_somewhere()] == []


@pytest.mark.parametrize("page", TOP, ids=lambda page: page.name)
def test_links_of_the_repository_into_the_hub_lead_somewhere(page: Path) -> None:
    into_the_hub = [link for link in links(page) if link.leads_to_the_hub()]
    assert into_the_hub
    assert [link.written for link in into_the_hub if not link.leads_somewhere()] == []


def test_every_test_of_the_hub_that_is_named_exists() -> None:
    named = [*named_tests("\n".join(TEXTS.values())), *re.findall(r"\bhub/tests/[\w/]+\.py\b", ALL)]
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_command_line_in_the_docs_of_the_hub_is_one_that_exists() -> None:
    assert named_commands("\n".join(TEXTS.values())) <= COMMANDS.keys()


def test_nothing_replaces_the_editable_install_but_a_deployment() -> None:
    messages = [*(HUB / "cw_hub").rglob("*.py"), *PAGES]
    assert [path.name for path in messages if copies_the_code(path)] == ["deploy.md"]


def test_every_requirement_of_the_hub_is_pinned() -> None:
    assert unpinned(HUB / "pyproject.toml") == []


@pytest.mark.parametrize("page", ["README.md", "hub/docs/index.md"])
def test_what_make_does_for_people_of_a_hub_has_lines_without_it(page: str) -> None:
    lines = TEXTS[DOCS / "index.md"] + (ROOT / "docs" / "platforms.md").read_text("utf-8")
    targets = targets_of_make((ROOT / page).read_text(encoding="utf-8"))
    assert "hub" in targets
    assert [target for target in sorted(targets) if f"| `make {target}` |" not in lines] == []


def test_what_nobody_has_tried_elsewhere_on_a_hub_stands_on_one_page() -> None:
    assert [page.name for page in PAGES if says_untested(TEXTS[page])] == ["index.md"]
