"""Folders that take long to make: one test process makes them, and all of a run share them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder of a name that `make` has filled; it is called by the first process only.

    `make` is given a folder that is not there yet. Tests may not write into what is shared.
    """
    base = factory.getbasetemp()
    # The processes of pytest-xdist have folders of their own in one of the run.
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = run / name, run / f"{name}.done"
    with FileLock(run / f"{name}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            done.touch()
    return folder
