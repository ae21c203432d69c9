"""Text of others is shown in terminals and not obeyed."""

from __future__ import annotations

import io

import pytest

from cw.errors import escape_unencodable, visible


@pytest.mark.parametrize(
    ("text", "printable"),
    [
        ("plain äöü 🙂\tand\nso on", "plain äöü 🙂\tand\nso on"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("\x9b2J\x7f\x00", "\\x9b2J\\x7f\\x00"),
        ("one\r\ntwo\rthree", "one\ntwo\\rthree"),
        ("\u202eevil\u2028", "\\u202eevil\\u2028"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_would_obey_comes_as_its_escape(text: str, printable: str) -> None:
    assert visible(text) == printable
    assert visible(printable) == printable


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_what_an_encoding_lacks_is_written_as_its_escape(encoding: str) -> None:
    output = io.BytesIO()
    stream = io.TextIOWrapper(output, encoding=encoding)
    escape_unencodable(stream)
    stream.write("Łukasz")
    stream.flush()
    assert output.getvalue() == b"\\u0141ukasz"
