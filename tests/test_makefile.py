"""Commands that people end with Ctrl-C in their terminal end without an error of make."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import MAKE
from tests.typed import checkout

IN_A_TERMINAL = """
import os, pty, sys
status = pty.spawn(sys.argv[1:])
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
"""
"""Runs a command at a terminal of its own; what comes to standard input is typed there."""

CTRL_C = b"\x03"

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs a terminal of POSIX")


def ended_by_ctrl_c(target: str, says: bytes, folder: Path) -> bytes:
    """Return what make prints of a target once it has said something and then Ctrl-C is typed."""
    command = [sys.executable, "-c", IN_A_TERMINAL, MAKE.program("make"), target]
    on_any_port = {target.upper(): "--port 0"}
    with subprocess.Popen(
        command,
        cwd=checkout(folder),
        env={**os.environ, **on_any_port},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as terminal:
        assert terminal.stdin is not None
        assert terminal.stdout is not None
        printed = b""
        while says not in printed:
            part = os.read(terminal.stdout.fileno(), 4096)
            assert part, printed
            printed += part
        terminal.stdin.write(CTRL_C)
        terminal.stdin.flush()
        return terminal.stdout.read()


@POSIX
@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("demo", b"Watch the match"),
        pytest.param("serve", b"Monitor: ", marks=pytest.mark.thorough),
    ],
)
def test_ctrl_c_is_no_error_of_make(target: str, says: bytes, tmp_path: Path) -> None:
    rest = ended_by_ctrl_c(target, says, tmp_path)
    assert b"make" not in rest, rest
    assert b"Traceback" not in rest, rest
