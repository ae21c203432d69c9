"""Ctrl-C at any moment in which a command is loaded."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

PRESSED = """
import os, sys

module, number, *command = sys.argv[1:]

class Press:
    def find_spec(self, name, path, target=None):
        if name == module:
            os.kill(os.getpid(), int(number))

sys.meta_path.insert(0, Press())
sys.argv[1:] = command
from cw.__main__ import main
main()
"""

COMPARE = "compare paint builtin:walker builtin:random"
ASK = "replay ask match.json.gz builtin:greedy --every"


@pytest.mark.parametrize(
    ("command", "module", "number"),
    [
        (COMPARE, "click", signal.SIGINT),
        (COMPARE, "click", signal.SIGTERM),
        (COMPARE, "cw.lab.comparison", signal.SIGINT),
        (COMPARE, "cw.games.paint", signal.SIGINT),
        (ASK, "cw.cli.replay.ask", signal.SIGINT),
        ("play paint builtin:walker builtin:random", "cw.cli.play", signal.SIGTERM),
    ],
)
def test_it_is_exit_code_130_without_a_word(
    tmp_path: Path, command: str, module: str, number: signal.Signals
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRESSED, module, str(int(number)), *command.split()],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
    assert list(tmp_path.iterdir()) == []
