"""Cutting bytes into lines, however they come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cw.arena.transports.lines import HeadAndTail, Line, LineBuffer, TooLong

CAP = 8
PIECES = st.lists(st.text("ab\r\n", max_size=20).map(str.encode), max_size=30)


def expected(data: bytes) -> list[bytes | None]:
    """Cut all at once; None stands for a line above the cap."""
    lines = [line.lstrip(b"\r") for line in data.split(b"\n")[:-1]]
    return [
        None if len(line) > CAP else line.removesuffix(b"\r") for line in lines if line.strip(b"\r")
    ]


@given(PIECES)
def test_lines_do_not_depend_on_the_pieces(pieces: list[bytes]) -> None:
    buffer, texts = LineBuffer(CAP), list[bytes | None]()
    for number, piece in enumerate(pieces):
        buffer.feed(piece, number)
        while (line := buffer.take()) is not None:
            texts.append(None if isinstance(line, TooLong) else line.text)
        assert not buffer.full
    data = b"".join(pieces)
    begun = data.rpartition(b"\n")[2].lstrip(b"\r")
    assert texts == expected(data) + ([None] if len(begun) > CAP else [])


@given(PIECES)
def test_a_line_has_the_time_of_its_last_byte(pieces: list[bytes]) -> None:
    whole, cut = LineBuffer(10_000), LineBuffer(10_000)
    for number, piece in enumerate(pieces):
        whole.feed(piece, number)
    for number, piece in enumerate(pieces):
        cut.feed(piece, number)
        while isinstance(line := cut.take(), Line):
            assert line.time == number
            assert whole.take() == line
    assert whole.take() is None


@given(PIECES, PIECES)
def test_after_a_discard_only_lines_begun_later_come(old: list[bytes], new: list[bytes]) -> None:
    buffer = LineBuffer(10_000)
    for piece in old:
        buffer.feed(piece, 0)
    buffer.discard()
    buffer.feed(b"".join(new), 1)
    begun = b"".join(old).rpartition(b"\n")[2].lstrip(b"\r")
    data = b"".join(new).partition(b"\n")[2] if begun else b"".join(new)
    lines = []
    while isinstance(line := buffer.take(), Line):
        lines.append(line.text)
    assert lines == [line for line in expected_lines(data) if line]


def expected_lines(data: bytes) -> list[bytes]:
    return [line.lstrip(b"\r").removesuffix(b"\r") for line in data.split(b"\n")[:-1]]


def test_tiny_chunks_fill_the_buffer_too() -> None:
    buffer = LineBuffer(10_000)
    fed = 0
    while not buffer.full:
        buffer.feed(b"\n", 0)
        fed += 1
    assert fed < 1000


def test_the_rest_is_given_without_a_line_end() -> None:
    buffer = LineBuffer(CAP)
    buffer.feed(b"one\ntwo\r", 1)
    assert buffer.take() == Line(b"one", 1)
    assert buffer.take() is None
    assert buffer.rest(2) == Line(b"two", 2)
    assert buffer.rest(2) is None


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_head_and_tail_are_those_of_all_that_came(pieces: list[bytes]) -> None:
    output, data = HeadAndTail(16), b"".join(pieces)
    for piece in pieces:
        output.feed(piece)
    assert output.length == len(data)
    gap = b"\n... %d bytes left out ...\n" % (len(data) - 32) if len(data) > 32 else b""
    head, tail = data[:16], data[16:][-16:]
    assert output.text() == (head + gap + tail).decode(errors="replace")
    assert output.end(8) == data[-8:].decode(errors="replace").rstrip().lstrip("\r\n")


@given(st.lists(st.text(max_size=40), max_size=20))
def test_a_place_in_the_text_is_where_a_position_of_the_stream_stands(pieces: list[str]) -> None:
    output, begins = HeadAndTail(16), []
    for piece in pieces:
        begins.append(output.length)
        output.feed(piece.encode())
    text, places = output.text(), list(map(output.place, begins))
    assert places == sorted(places)
    assert output.place(output.length) == len(text)
    if output.length <= 32:
        ends = places[1:] + [len(text)] * bool(places)
        assert [text[one:two] for one, two in zip(places, ends, strict=True)] == pieces
