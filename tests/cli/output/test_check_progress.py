"""What a terminal shows while `cw check` runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from cw.cli.output.announcements import Announcements
from cw.cli.output.check_progress import CheckProgress
from cw.cli.output.stderr import Stderr
from cw.matches.check import PROTOCOL, Attempt

if sys.platform != "win32":
    import pty


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_left_is_that_of_the_matches_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr, clock = Stderr(), Clock()
    progress = CheckProgress(stderr, Announcements(stderr), clock)
    lines: list[str] = []
    monkeypatch.setattr(progress._status, "update", lines.append)
    for seconds, attempt in (
        (0, Attempt(PROTOCOL, 1, 6)),
        (9, Attempt(PROTOCOL, 4, 6)),
        (10, Attempt("plays", 4, 6)),
        (40, Attempt("plays on", 5, 6)),
        (90, Attempt("plays to the end", 6, 6)),
    ):
        clock.now = seconds
        progress.trying(attempt)
    assert lines == [
        "step 1 of 6: the steps of the protocol",
        "step 4 of 6: the steps of the protocol",
        "step 4 of 6: plays",
        "step 5 of 6: plays on; about 1:00 left",
        "step 6 of 6: plays to the end; about 0:40 left",
    ]
    assert progress.total == 6


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_no_result_stands_behind_the_spinner() -> None:
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "cw", "check", "hexagon", "builtin:random"]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env=environment) as check:
        os.close(end)
        output = b""
        while part := read(terminal):
            output += part
    os.close(terminal)
    assert check.returncode == 0
    text = output.decode()
    assert "step 1 of 5: plays a whole battle" in text
    before = re.findall(r"(.{1,4})(?:ok   |all fine)", text, re.DOTALL)
    assert len(before) == 6
    assert {each[-4:] for each in before} == {"\x1b[2K"}


def read(terminal: int) -> bytes:
    """Return what a terminal shows next, nothing at its end, which Linux calls an error."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""
