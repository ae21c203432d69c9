"""How the time of reading grows with what is read, however evil that is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from time import process_time
from typing import Any, TypeVar

import pytest

from cw.errors import ArenaError

T = TypeVar("T")

KIB = 1024

MOST = 6.0
"""How much longer four times as much may take."""

QUICK = 0.02
"""Seconds: what takes less may grow as it likes."""


def seconds(work: Callable[[T], object], data: T) -> float:
    """Return the processor time of some work."""
    began = process_time()
    work(data)
    return process_time() - began


def growth(work: Callable[[T], object], small: T, large: T) -> float:
    """Return how much longer the large one takes: the best of five, or the first that will do."""
    best = float("inf")
    for _ in range(5):
        # Each pair is measured at once: a machine that gets busy slows both.
        took = seconds(work, large)
        best = min(best, took / seconds(work, small)) if took > QUICK else 0
        if best <= MOST:
            break
    return best


def repeated(part: str, length: int) -> str:
    """Return a part so often that it has about a length."""
    return part * (length // len(part))


# Texts

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


def quietly(read: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return a reader that says nothing of what it refuses."""

    def tried(data: Any) -> None:
        with suppress(ArenaError):
            read(data)

    return tried


def slow_texts(
    read: Callable[[str], object], longest: int, *beginnings: str
) -> list[tuple[str, str]]:
    """Return the beginnings and parts of texts that take a reader more than in proportion."""
    return [
        (beginning, part)
        for beginning in ("", *beginnings)
        for part in PARTS
        if growth(
            quietly(read),
            beginning + repeated(part, longest // 4),
            beginning + repeated(part, longest),
        )
        > MOST
    ]


# Patterns

SEARCHING = re.compile(r"\b([A-Z_]+)\.(?:search|sub|split|findall|finditer)\b")
"""Where a pattern is tried at each place of a text."""


def patterns(package: Path) -> Iterator[Any]:
    """Yield each pattern that a module names, and whether texts are searched for it."""
    texts = {file: file.read_text(encoding="utf-8") for file in sorted(package.rglob("*.py"))}
    searched = {name for text in texts.values() for name in SEARCHING.findall(text)}
    for file, text in texts.items():
        names = re.findall(r"^([A-Z_]+)\b.* = re\.compile\(", text, re.MULTILINE)
        path = file.relative_to(package.parent).with_suffix("")
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


def slow_tries(pattern: re.Pattern[Any], is_searched: bool) -> list[tuple[str, str]]:
    """Return the beginnings and parts of texts that take a pattern more than in proportion."""
    call = pattern.search if is_searched else pattern.fullmatch

    def apply(text: str) -> None:
        call(text if isinstance(pattern.pattern, str) else text.encode())

    tree = resolve_name("re._parser:parse")(pattern.pattern, pattern.flags)
    tries = {(before, part + more) for before, part in evil(tree) for more in SIGNS}
    return [
        (before, part)
        for before, part in sorted(tries)
        if growth(
            apply,
            before + repeated(part, 8 * KIB) + AFTER,
            before + repeated(part, 32 * KIB) + AFTER,
        )
        > MOST
    ]
