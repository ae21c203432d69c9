"""Hides the secrets of a process from other processes of its user."""

from __future__ import annotations

import ctypes
import os
from typing import Final

from cw.errors import Failure

PR_SET_DUMPABLE: Final = 4


def hide_process() -> None:
    """Hide environment and memory of this process from other processes of its user (Linux).

    Processes forked from it are hidden as well, until they execute another program.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise Failure(f"this process cannot be hidden: {os.strerror(ctypes.get_errno())}")
