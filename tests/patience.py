"""Time for bots on a busy machine: limits that none exceeds take the place of those of the rules.

As a program it is `cw` by these limits, and without arguments a worker that plays matches by them.
A hub that runs so has players that do, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pkgutil import resolve_name
from types import ModuleType
from typing import Any, Final, TypeAlias

SECONDS: Final = 60.0
PROGRAM: Final = (sys.executable, __file__)
PLAYER: Final = (*PROGRAM, "hub", "player")
PLAYERS: Final = "cw_hub.players.connections"
"""The module that starts the players of a hub: they are programs of their own."""

Change: TypeAlias = Callable[[object, str, Any], None]

# Modules that import a limit have it under their own name: whichever comes first, each is changed.
LIMITS: Final[Mapping[str, Sequence[str]]] = {
    "cw.arena.seats.services": ("SERVICE_READY",),
    "cw.games.circuit_wars.protocol": ("REGISTERED", "TIMEOUT"),
    "cw.games.code_battle.protocol": ("HEALTH", "TURN"),
    "cw.games.code_battle.checks": ("TURN",),
    "cw.games.defaults.protocol": ("STARTING", "TIMEOUT"),
    "cw.games.end_of_codes.protocol": ("CONNECT_TIMEOUT", "TIMEOUT"),
    "cw.games.hexagon.protocol": ("TIMEOUT",),
}
FOR_PAINTERS: Final[Mapping[str, Sequence[str]]] = {
    "cw.games.paint.protocol": ("READY", "TURN"),
    "cw.games.paint.checks": ("TURN",),
}
"""What is awaited to its end where a line of Paint is not as it should be."""
FOR_HUBS: Final[Mapping[str, Sequence[str]]] = {"cw_hub.operation.threads": ("LAST_WORDS",)}
"""What a process of a hub has time for that is told to end."""


def be_patient(change: Change, limits: Mapping[str, Sequence[str]] = LIMITS) -> None:
    """Change limits of bots, as `setattr` does."""
    for module, names in limits.items():
        change_limits(import_module(module), names, change)


def change_limits(module: ModuleType, names: Sequence[str], change: Change) -> None:
    """Change the limits of one module."""
    for name in names:
        limit = getattr(module, name)
        is_number = isinstance(limit, float)
        change(module, name, SECONDS if is_number else limit._replace(seconds=SECONDS))


class PatientLoader(SourceFileLoader):
    """Runs a module, and changes its limits, or what starts players."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        if module.__name__ == PLAYERS:
            setattr(module, "COMMAND", PLAYER)  # noqa: B010
        else:
            limits = {**LIMITS, **FOR_PAINTERS, **FOR_HUBS}
            change_limits(module, limits[module.__name__], setattr)


class PatientImports:
    """Finds the modules that are to be changed, so that a process loads those it needs alone."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in {*LIMITS, *FOR_PAINTERS, *FOR_HUBS, PLAYERS}:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None:
            return None
        return spec_from_file_location(name, spec.origin, loader=PatientLoader(name, spec.origin))


def main() -> None:
    """Be `cw`, or a worker."""
    sys.meta_path.insert(0, PatientImports)
    if len(sys.argv) > 1:
        setattr(import_module("cw.matches.processes.workers"), "WORKER", PROGRAM)  # noqa: B010
        resolve_name("cw.cli:main")()
    else:
        resolve_name("cw.matches.processes.worker:main")()


if __name__ == "__main__":
    main()
