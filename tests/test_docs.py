"""The documentation names everything there is, and nothing that is not."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cw.cli import COMMANDS, main
from cw.game import Board
from cw.games.circuit_wars.protocol import REGISTRATION_ERRORS, STATUS
from cw.games.registry import GAMES, load_strategies
from cw.games.rules import FAULT_KINDS
from cw_hub.operation.environment import setting_rows
from cw_hub.operation.settings import HubSettings
from cw.web import create_app
from cw.web.settings import SiteSettings

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
ALL = "\n".join(TEXTS.values())


def commands(of: click.Command = main, name: str = "cw") -> Iterator[tuple[str, click.Command]]:
    """Yield a command with its name as it is typed, and the commands in it."""
    yield name, of
    if isinstance(of, click.Group):
        context = click.Context(of)
        for word in of.list_commands(context):
            inner = of.get_command(context, word)
            assert inner is not None
            yield from commands(inner, f"{name} {word}")


EVERY_COMMAND = dict(commands())


def options_of(of: click.Command) -> list[click.Option]:
    return [parameter for parameter in of.params if isinstance(parameter, click.Option)]


def is_sentence(text: str, own_name: str) -> bool:
    """Return whether a help text says something: a sentence, and more than a name."""
    words = [word for word in re.findall(r"\w+", text.lower()) if word not in own_name.split()]
    return len(words) >= 2 and re.match(r"^[A-Z].*\.$", text, re.S) is not None


@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_every_command_and_option_explains_itself(name: str) -> None:
    """The reference of the site is made of these texts: there is no other."""
    described = EVERY_COMMAND[name]
    first = str(described.help).strip().partition("\n\n")[0]
    assert is_sentence(first, name.rpartition(" ")[2]), first
    for option in options_of(described):
        text = re.sub(r"\s*\[[^]]*\]$", "", str(option.help))
        own_name = " ".join(option.opts).replace("-", " ").strip()
        assert is_sentence(text, own_name), (option.opts, option.help)


@pytest.mark.parametrize("name", EVERY_COMMAND)
def test_no_help_names_an_option_that_is_not_there(name: str) -> None:
    known = {
        option
        for other in EVERY_COMMAND.values()
        for one in options_of(other)
        for option in (*one.opts, *one.secondary_opts)
    }
    texts = [str(EVERY_COMMAND[name].help)]
    texts += [str(option.help) for option in options_of(EVERY_COMMAND[name])]
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", "\n".join(texts))) <= known | {"--help"}


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
    text = TEXTS[ROOT / "docs" / "server.md"]
    for field in dataclasses.fields(SiteSettings):
        assert f"`{field.name}`" in text


def test_every_setting_of_a_hub_is_documented_and_no_other() -> None:
    text = TEXTS[ROOT / "docs" / "hub" / "operators.md"]
    for name, _, default, words in setting_rows(HubSettings()):
        assert f"| `{name}` | {default} | {words} |" in text, name
    rows = re.findall(r"^\| `(CW_[A-Z_]+)` \|", text, re.M)
    assert rows == [row.name for row in setting_rows(HubSettings())]


def test_every_code_is_documented() -> None:
    text = TEXTS[ROOT / "docs" / "games" / "circuit_wars.md"]
    for code in STATUS:
        assert re.search(rf"^\|.*\b{code}\b", text, re.M), code
    for code in REGISTRATION_ERRORS.values():
        assert re.search(rf"^\| {code} \|", text, re.M), code
    assert STATUS[100] in text
    assert "timeout" in FAULT_KINDS


def test_every_method_of_the_board_is_documented() -> None:
    text = TEXTS[ROOT / "docs" / "first-bot.md"]
    for name in vars(Board):
        if not name.startswith("_"):
            assert f"`{name}" in text or f"Board.{name}" in text, name


@pytest.mark.parametrize("game", GAMES)
def test_every_strategy_is_documented(game: str) -> None:
    text = TEXTS[ROOT / "docs" / "strategies.md"]
    for name in load_strategies(game):
        assert f"`{name}`" in text


def test_every_environment_variable_is_documented() -> None:
    sources = [*ROOT.glob("*.py"), *(ROOT / "cw").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    names = {
        name
        for source in sources
        for name in re.findall(r'"(CW_[A-Z_]+)"', source.read_text(encoding="utf-8"))
    }
    assert names
    assert {name for name in names if name not in ALL} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXTS[page]):
        path, _, anchor = target.partition("#")
        if path.startswith("http"):
            continue
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.M)
            assert anchor in {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"\btests/[\w/]+\.py\b", ALL)
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_command_line_in_the_docs_is_one_that_exists() -> None:
    for name in re.findall(r"\b(?:python -m cw|^\s*\$? ?cw) ([a-z]+)", ALL, re.M):
        assert name in COMMANDS, name


COPYING = re.compile(r"""pip install (?:(?:-c|--constraint) \S+ )?["']?\.["'\s`\[]""")
"""Copies the code into the environment, where an editable install may be."""


def test_nothing_replaces_the_editable_install_but_a_deployment() -> None:
    messages = [*(ROOT / "cw").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    copying = [path.name for path in messages if COPYING.search(path.read_text("utf-8"))]
    assert copying == ["deploy.md"]


def test_every_requirement_is_pinned() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    for name in re.findall(r'^  "([\w-]+)>=', project, re.M):
        assert re.search(rf"^{name}==", pinned, re.M), name


FOR_PEOPLE = ("README.md", "docs/index.md", "docs/first-bot.md", "hub/docs/index.md")


@pytest.mark.parametrize("page", FOR_PEOPLE)
def test_what_make_does_for_people_has_lines_without_it(page: str) -> None:
    targets = set(re.findall(r"(?:`|\$ |^    )make ([a-z-]+)", TEXTS[ROOT / page], re.M))
    lines = TEXTS[ROOT / "docs" / "platforms.md"]
    assert [target for target in sorted(targets) if f"| `make {target}` |" not in lines] == []


def test_what_nobody_has_tried_elsewhere_stands_on_one_page() -> None:
    words = re.compile(
        r"untested|nobody has (?:yet )?tried|(?:not|never) (?:been )?tested on", re.I
    )
    assert [page.name for page in PAGES if words.search(TEXTS[page])] == ["platforms.md"]
