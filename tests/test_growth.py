"""Whatever reads what strangers send takes time in proportion to it, however evil it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from re import _parser
from typing import Any

import pytest

from hub.bench.strangers_files import KINDS, PAGE, Kind
from cw.arena.bot_names import named_after_file
from cw.arena.bots import LONGEST_COMMAND, read_bot, split_command
from cw.arena.exceptions import exceptions
from cw.arena.sandbox.bounds import by_words
from cw.cli.output.last_words import last_words
from cw.documents.toml import parse_toml
from cw.errors import ArenaError
from cw.games.code_battle.maps.map_file import decode_map
from cw.games.end_of_codes.answers import strict_json
from cw.games.wire import read_json
from cw_hub.accounts.forms import is_email
from cw_hub.bots.versions.comparing import compare
from cw_hub.competitions import description
from cw_hub.competitions.tournament.config import team_lines
from cw_hub.competitions.tournament.host.forms import read_boards
from cw_hub.competitions.tournament.people.invitations import guests_of
from cw_hub.competitions.tournament.teams.machines import read_ssh_key
from cw_hub.operation.health.logs import masked
from cw_hub.pages import names
from cw_hub.players import packages
from cw.replays.document import decode as decode_replay
from cw.visible import visible
from cw.workshop.marks import marks_in
from tests.growth import KIB, MOST, growth, repeated

SOURCES = Path(__file__).resolve().parents[1] / "cw"

READERS: dict[str, Callable[[str], object]] = {
    "TOML": lambda text: parse_toml(text.encode(), 64 * KIB),
    "JSON": read_json,
    "JSON of End of Codes": lambda text: strict_json(text.encode()),
    "zip": lambda text: packages.files_of(b"PK\x03\x04" + text.encode()),
    "replay": lambda text: decode_replay(text.encode()),
    "map": lambda text: decode_map(text.encode(), "map"),
    "Markdown": description.as_html.__wrapped__,
    "first sentence of Markdown": description.first_sentence.__wrapped__,
    "list of addresses": lambda text: list(guests_of(text)),
    "list of teams": lambda text: list(team_lines(text)),
    "boards": read_boards,
    "e-mail address": is_email,
    "SSH key": read_ssh_key,
    "display name": names.as_shown,
    "bot argument": lambda text: read_bot("a", text, {}),
    "command": split_command,
    "name of a file": named_after_file,
    "comparison": lambda text: compare({"a": b"x\n"}, {"a": text.encode()}),
    "error output": lambda text: [raised.sentence for raised in exceptions(text)],
    "marks": lambda text: marks_in(text, ["bot.py", "a.php"]),
    "limits in output": by_words,
    "last words": last_words,
    "text for a terminal": visible,
    "line of a log": masked,
}
"""What reads texts of strangers, each as a whole."""

LONGEST = {
    "Markdown": description.LONGEST,
    "first sentence of Markdown": description.LONGEST,
    "command": LONGEST_COMMAND,
}
"""Characters of the texts that are accepted where those are few."""

PARTS = (
    *(
        "a",
        " ",
        "\n",
        "\t",
        "\r",
        "\0",
        "1",
        "-",
        "_",
        ".",
        ",",
        "=",
        "/",
        "\\",
        "|",
        "&",
        "é",
        "\ufeff",
    ),
    *(
        "[",
        "{",
        "(",
        "<",
        '"',
        "'",
        "`",
        "*",
        "a.",
        "a@",
        "@a.",
        "a:",
        "a:1",
        "1_",
        "1.",
        "a/",
        "a;",
    ),
    *(
        "a b ",
        "a=1,",
        "a x 1",
        "host ",
        "http://",
        "www.",
        "://",
        "/reset/",
        "&#1;",
        "\\*",
        "\\u0041",
    ),
    *(
        "**a",
        "a*b_",
        "~~a",
        "* *a",
        "*a **b ",
        "![",
        "![a][",
        "[a](",
        "[a]: b\n",
        "[a]\n",
        "](",
        "[[",
    ),
    *("- ", "> ", "# ", "1) ", "```", "~~~\n", "<!--", "<a ", "| a ", "|\n", "a\n-\n", "a\n=\n"),
    *(
        "'''",
        '"""',
        "'\"",
        '""',
        "[1,",
        '{"a":',
        "1e9,",
        '"\\u0041',
        "[[a]]\n",
        "a={",
        "#\n",
        "\ta\n",
    ),
    *("Parse error: ", "Parse error:", "Fatal error:  x in a.php ", "PHP Fatal error: "),
    *("a.c:1:1: error: x\n", "a.c:1:", "a: b: ", "at a (b.js:1:1)\n", "from a:1:in ", "panic: "),
    *(
        'Exception in thread "',
        "Caused by: ",
        "Uncaught ",
        '  File "a", line 1\n',
        "\x1b[",
        "a\u0301",
    ),
)

BEGINNINGS = {"marks": ("Parse error:", "PHP Fatal error:"), "TOML": ('a = "', "a = [", 'a = """')}
"""With what texts begin that lead into a reader."""


def quietly(read: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return a reader that says nothing of what it refuses."""

    def tried(data: Any) -> None:
        with suppress(ArenaError):
            read(data)

    return tried


@pytest.mark.parametrize("name", READERS)
def test_no_text_takes_the_square_of_its_length(name: str) -> None:
    longest = LONGEST.get(name, 32 * KIB)
    slow = [
        (beginning, part)
        for beginning in ("", *BEGINNINGS.get(name, ()))
        for part in PARTS
        if growth(
            quietly(READERS[name]),
            beginning + repeated(part, longest // 4),
            beginning + repeated(part, longest),
        )
        > MOST
    ]
    assert slow == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_worst_file_of_each_kind_is_read_in_proportion(kind: Kind) -> None:
    length = min(kind.largest, 32 * KIB)
    assert growth(kind.read, kind.make(length // 4), kind.make(length)) <= MOST


def test_the_documentation_lists_these_kinds_with_their_bounds() -> None:
    text = PAGE.read_text("utf-8")
    missing = [kind.name for kind in KINDS if f"| {' | '.join(kind.row())} |" not in text]
    assert missing == [], "call `python -m hub.bench.strangers_files --write`"


# Patterns

SEARCHING = re.compile(r"\b([A-Z_]+)\.(?:search|sub|split|findall|finditer)\b")
"""Where a pattern is tried at each place of a text."""


def patterns() -> Iterator[Any]:
    """Yield each pattern that a module names, and whether texts are searched for it."""
    texts = {file: file.read_text(encoding="utf-8") for file in sorted(SOURCES.rglob("*.py"))}
    searched = {name for text in texts.values() for name in SEARCHING.findall(text)}
    for file, text in texts.items():
        names = re.findall(r"^([A-Z_]+)\b.* = re\.compile\(", text, re.MULTILINE)
        path = file.relative_to(SOURCES.parent).with_suffix("")
        module = ".".join(path.parts).removesuffix(".__init__")
        for name in names:
            pattern = getattr(import_module(module), name)
            yield pytest.param(pattern, name in searched, id=f"{module}.{name}")


def sample(tree: Any) -> str:
    """Return the shortest text that a part of a pattern matches, as far as that is simple."""
    text = ""
    for code, argument in tree:
        name = str(code)
        if name == "LITERAL":
            text += chr(argument)
        elif name == "NOT_LITERAL":
            text += "~"
        elif name == "ANY":
            text += "a"
        elif name == "IN":
            text += one_of(argument)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            text += sample(argument[2]) * argument[0]
        elif name == "SUBPATTERN":
            text += sample(argument[3])
        elif name == "BRANCH":
            text += sample(argument[1][0])
        elif name == "ATOMIC_GROUP":
            text += sample(argument)
    return text


CATEGORIES = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a"}


def one_of(members: Any) -> str:
    """Return a sign of a set."""
    if str(members[0][0]) == "NEGATE":
        return next(sign for sign in "~a1 \n" if sign not in str(members))
    code, argument = members[0]
    if str(code) == "LITERAL":
        return chr(argument)
    if str(code) == "RANGE":
        return chr(argument[0])
    return CATEGORIES.get(str(argument), "~")


def evil(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield beginnings that a pattern matches, and what it may then try in many ways."""
    for code, argument in tree:
        inner: list[Any] = []
        if str(code) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            inner = [argument[2]]
            yield before, sample(argument[2]) or "a"
        elif str(code) == "SUBPATTERN":
            inner = [argument[3]]
        elif str(code) == "BRANCH":
            inner = list(argument[1])
        for part in inner:
            yield from evil(part, before)
        before += sample([(code, argument)])
    yield "", before or "a"


SIGNS = ("", "a", "1", " ", ".")

AFTER = "\n~"
"""What hardly any pattern ends with, so that it is tried in every way."""


@pytest.mark.parametrize(("pattern", "is_searched"), list(patterns()))
def test_no_pattern_takes_the_square_of_a_text(pattern: re.Pattern[Any], is_searched: bool) -> None:
    call = pattern.search if is_searched else pattern.fullmatch

    def apply(text: str) -> None:
        call(text if isinstance(pattern.pattern, str) else text.encode())

    tree = _parser.parse(pattern.pattern, pattern.flags)
    tries = {(before, part + more) for before, part in evil(tree) for more in SIGNS}
    slow = [
        (before, part)
        for before, part in sorted(tries)
        if growth(
            apply,
            before + repeated(part, 8 * KIB) + AFTER,
            before + repeated(part, 32 * KIB) + AFTER,
        )
        > MOST
    ]
    assert slow == []
