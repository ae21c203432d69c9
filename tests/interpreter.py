"""This Python in command lines and scripts, also where its path has a space."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

PYTHON: Final = shlex.quote(sys.executable)
"""This Python as a word of a command line."""


PATIENT: Final = """import sys
from tests.patience import CHANGES, PROGRAM, PatientImports
sys.meta_path.insert(0, PatientImports(CHANGES))
from cw.matches import workers
workers.WORKER = PROGRAM
"""


def write_cw(
    program: Path, python: Path | str = sys.executable, *, is_patient: bool = False
) -> None:
    """Write the command `cw` as pip installs it, for a Python.

    A patient one gives bots more time than any needs; its Python must find the tests.
    """
    # No space may stand in the line that names an interpreter.
    start = f"#!/bin/sh\n'''exec' {shlex.quote(str(python))} \"$0\" \"$@\"\n' '''\n"
    run = "from cw.__main__ import main\nmain()\n"
    program.write_text(start + PATIENT * is_patient + run, encoding="utf-8")
    program.chmod(0o755)
