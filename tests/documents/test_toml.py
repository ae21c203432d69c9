"""TOML of strangers: what is read, and what is rejected before the parser builds anything."""

from __future__ import annotations

import random
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest

from cw import documents
from cw.documents import MOST_VALUES, check_bounds, parse_toml, read_toml
from cw.errors import UsageError
from tests.effort import amount

KIB = 1024
SOURCES = Path(documents.__file__).parent


def read(text: str) -> dict[str, object]:
    """Read a text of at most 64 KiB."""
    return parse_toml(text.encode(), 64 * KIB)


@pytest.mark.parametrize(
    "text",
    [
        "a.b.c.d = 1",
        '"a.a.a.a.a" = "b.b.b.b.b"',
        "a = 3.25\nb = 2026-11-28T10:00:00.123456+02:00",
        f"a = {2**64 - 1}\nb = 0xffff_ffff_ffff_ffff\nc = 1_000_000",
        f'a = "{"1" * 400}"\n# {"1" * 400} a.a.a.a.a',
        'a = """\nx.x.x.x.x [[[[[[[[[[ ""\\""" ""x"""""',
        "a = '''\nx.x.x.x.x ''\\'''''",
        "a = [[[[[[[[1]]]]]]]]",
        "[[teams.red]]\r\nmembers = ['a', 'b']\r\n",
        f"[teams.{'a1' * 19}]",
    ],
)
def test_usual_files_are_read(text: str) -> None:
    assert read(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{'a.' * 30_000}a = 1", "line 1: a key may have at most 4 parts"),
        ("\nrun . a.\t'b'.c.\"d\" = 1", "line 2: a key may have at most 4 parts"),
        ("[a.b.c.d.e]", "a key may have at most 4 parts"),
        ("a = {b.c.d.e.f = 1}", "a key may have at most 4 parts"),
        ('a = """"""\nb.c.d.e.f = 1', "line 2: a key may have at most 4 parts"),
        ("a = ''''''\nb.c.d.e.f = 1", "line 2: a key may have at most 4 parts"),
        ('a = "\\""\r\nb.c.d.e.f = 1', "line 2: a key may have at most 4 parts"),
        ("a = '\\'\nb.c.d.e.f = 1", "line 2: a key may have at most 4 parts"),
        (f"parallel = {'9' * 4301}", "a number may have at most 20 digits"),
        (f"parallel = 0x{'f' * 21}", "a number may have at most 20 digits"),
        (f"a = -1.{'3' * 21}", "a number may have at most 20 digits"),
        (f"a = {'1_' * 20}1", "a number may have at most 20 digits"),
        (f"a = {'[' * 30_000}", "lists and tables may be nested at most 8 times"),
        (f"a = {'{b = ' * 9}1", "lists and tables may be nested at most 8 times"),
        ("a=[" + "[]," * MOST_VALUES + "]", "at most 20,000 keys, tables and lists"),
        ("#" * 64 * KIB + "\n", "the file is larger than 64 KiB: make it smaller"),
        ("a = '", "this is not TOML: "),
        ("a = 2026-99-99", "this is not TOML: "),
        ("a = \udcff", "this is not TOML: "),
    ],
)
def test_what_would_cost_too_much_is_rejected_with_its_line(text: str, message: str) -> None:
    data = text.encode(errors="surrogateescape")
    with pytest.raises(UsageError) as error:
        parse_toml(data, 64 * KIB)
    assert message in str(error.value)


def test_a_file_that_is_too_large_is_rejected_and_not_cut(tmp_path: Path) -> None:
    file = tmp_path / "teams.toml"
    file.write_text("a = 1\n" + "\n" * 100)
    with pytest.raises(UsageError, match=r"teams\.toml: the file is larger than 0 KiB"):
        read_toml(file, 50)
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_toml(tmp_path / "none.toml", KIB)


PIECES = (
    *('"', '""', '"""', "'", "''", "'''", "\\", '\\"', "#", "\n", "\r\n", " ", "\t", ".", "=", ","),
    *("a", "b1", "-", "_", "1", "[", "]", "{", "}", "a.a", "a=1\n", "='", '="', "='''", '="""'),
)


def test_no_spelling_hides_a_long_key_from_the_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0
    original = tomllib._parser.parse_key  # type: ignore[attr-defined]

    def parse_key(text: str, at: int) -> tuple[int, tuple[str, ...]]:
        nonlocal longest
        at, key = original(text, at)
        longest = max(longest, len(key))
        return at, key

    monkeypatch.setattr(tomllib._parser, "parse_key", parse_key)  # type: ignore[attr-defined]
    rejected = 0
    for _ in range(amount(20_000, 200_000)):
        text = "".join(random.choices(PIECES, k=random.randint(1, 12)))
        hidden = text + random.choice(("", "\n", '"\n', "'\n", '"""\n', "'''\n")) + "k.k.k.k.k = 1"
        longest = 0
        with suppress(ValueError):
            tomllib.loads(hidden)
        try:
            check_bounds(hidden.replace("\r\n", "\n"))
        except UsageError:
            rejected += longest > 4
        else:
            assert longest <= 4, hidden
    assert rejected > 100


def test_files_of_toml_are_read_here_alone() -> None:
    readers = {
        file.relative_to(SOURCES).as_posix()
        for file in SOURCES.rglob("*.py")
        if "tomllib" in file.read_text(encoding="utf-8")
    }
    assert readers == {"documents.py"}
