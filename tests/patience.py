"""Time for bots on a busy machine: limits that none exceeds take the place of those of the rules.

As a program it is `cw` by these limits, and without arguments a worker that plays matches by them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, Final

from cw.arena.seats import services
from cw.cli import main
from cw.games.circuit_wars import protocol as circuit_wars
from cw.games.code_battle import checks as code_battle_checks
from cw.games.code_battle import protocol as code_battle
from cw.games.defaults import protocol as defaults
from cw.games.end_of_codes import protocol as end_of_codes
from cw.games.hexagon import protocol as hexagon
from cw.games.paint import checks as paint_checks
from cw.games.paint import protocol as paint
from cw.matches import worker, workers

SECONDS: Final = 60.0
PROGRAM: Final = (sys.executable, __file__)

# Modules that import a limit have it under their own name: whichever comes first, each is changed.
LIMITS: Final = (
    (services, "SERVICE_READY"),
    (circuit_wars, "REGISTERED"),
    (circuit_wars, "TIMEOUT"),
    (code_battle, "HEALTH"),
    (code_battle, "TURN"),
    (code_battle_checks, "TURN"),
    (defaults, "STARTING"),
    (defaults, "TIMEOUT"),
    (end_of_codes, "CONNECT_TIMEOUT"),
    (end_of_codes, "TIMEOUT"),
    (hexagon, "TIMEOUT"),
)
FOR_PAINTERS: Final = ((paint, "READY"), (paint, "TURN"), (paint_checks, "TURN"))
"""What is awaited to its end where a line of Paint is not as it should be."""


def be_patient(
    change: Callable[[object, str, Any], None], limits: Iterable[tuple[Any, str]] = LIMITS
) -> None:
    """Change limits of bots, as `setattr` does."""
    for module, name in limits:
        limit = getattr(module, name)
        is_number = isinstance(limit, float)
        change(module, name, SECONDS if is_number else limit._replace(seconds=SECONDS))


if __name__ == "__main__":
    be_patient(setattr, (*LIMITS, *FOR_PAINTERS))
    setattr(workers, "WORKER", PROGRAM)  # noqa: B010
    run = main if len(sys.argv) > 1 else worker.main
    run()
