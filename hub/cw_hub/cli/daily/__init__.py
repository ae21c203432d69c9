"""Daily competitions for the operator: a part of `cw hub competition`."""

from __future__ import annotations

from typing import Final

from cw_hub.cli.daily.due_times import next_command, run, skip

COMMANDS: Final = (next_command, run, skip)
"""Commands of `cw hub competition` for daily competitions only."""
