"""What a reply with an unexpected status says, as far as it is told."""

from __future__ import annotations

import pytest

from cw.games.wire import LONGEST, SERVER_ERROR, Reply, status_fault


@pytest.mark.parametrize(
    ("body", "status", "note"),
    [
        (b"KeyError: 7 (bot.py, line 12)", 500, "KeyError: 7 (bot.py, line 12)"),
        (b"", 500, ""),
        (b"<!doctype html><title>500</title>", 500, ""),
        (b"two\nlines\r\n\x1b[31mred\x00\xff", 502, "two lines [31mred \ufffd"),
        (b'{"status": "error", "message": "no such game"}', 404, None),
        (b"moved", 302, ""),
    ],
)
def test_a_body_that_is_text_is_quoted_on_one_line(
    body: bytes, status: int, note: str | None
) -> None:
    fault = status_fault(Reply(body, status))
    assert fault.kind == "malformed"
    assert fault.detail == f"HTTP status {status}, expected 200"
    assert fault.note == (body.decode() if note is None else note)
    assert fault.cause == (SERVER_ERROR if status >= 500 else "")
    assert "error" not in fault.to_json() or fault.to_json()["error"] == fault.detail


def test_a_long_body_is_cut() -> None:
    note = status_fault(Reply(b"x" * 60_000, 500)).note
    assert len(note) == LONGEST
    assert note.endswith("x...")
