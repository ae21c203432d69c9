"""Programs that the operator trusts, and what a process needs to run them without a sandbox.

Where bubblewrap does not work they run as the user of the process, and can read whatever that
user can: so no secret may be readable by that user.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from cw.errors import UsageError
from cw_hub.operation.settings import HubSettings
from cw_hub.players.hiding import hide_process

KEY_FILES: Final = ("master.key", "secret.key")
"""The files of the data folder with the keys that are not set in the environment."""

IS_LINUX: Final[bool] = sys.platform == "linux"


def begin_to_trust(settings: HubSettings) -> None:
    """Hide the secrets of this process from programs that it may run without a sandbox.

    Nothing changes without CW_TRUSTED_TOURNAMENTS. Raises UsageError if keys would be readable.
    """
    if not settings.trusted_tournaments:
        return
    problem = problem_of_trust(settings.data, is_root=sys.platform != "win32" and os.geteuid() == 0)
    if problem is not None:
        raise UsageError(f"CW_TRUSTED_TOURNAMENTS: {problem}")
    hide_process()


def problem_of_trust(data: Path, *, is_root: bool) -> str | None:
    """Return why a process may not run trusted programs, or None if it may."""
    if not IS_LINUX:
        return "only Linux hides the environment of a process from other programs of its user"
    if is_root:
        return "run the hub as an ordinary user, as root can read the keys wherever they are"
    readable = [data / name for name in KEY_FILES if os.access(data / name, os.R_OK)]
    if readable:
        return f"remove {readable[0]}, which programs could read: keys are set in the environment"
    return None
