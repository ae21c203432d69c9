"""Time for bots on a busy machine: limits that none exceeds take the place of those of the rules.

As a program it is `cw` by these limits, and without arguments a worker that plays matches by them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pkgutil import resolve_name
from types import ModuleType
from typing import Any, Final, TypeAlias

SECONDS: Final = 60.0
PROGRAM: Final = (sys.executable, __file__)

Change: TypeAlias = Callable[[object, str, Any], None]
Changes: TypeAlias = Mapping[str, Callable[[ModuleType], None]]
"""By module what changes it when it has been loaded."""

# Modules that import a limit have it under their own name: whichever comes first, each is changed.
LIMITS: Final[Mapping[str, Sequence[str]]] = {
    "cw.arena.seats.http": ("SERVICE_READY",),
    "cw.games.circuit_wars.protocol": ("REGISTERED", "TIMEOUT"),
    "cw.games.code_battle.protocol": ("HEALTH", "TURN"),
    "cw.games.code_battle.checks": ("TURN",),
    "cw.games.defaults": ("STARTING", "TIMEOUT"),
    "cw.games.end_of_codes.protocol": ("CONNECT_TIMEOUT", "TIMEOUT"),
    "cw.games.hexagon.protocol": ("TIMEOUT",),
}
FOR_PAINTERS: Final[Mapping[str, Sequence[str]]] = {
    "cw.games.paint.protocol": ("READY", "TURN"),
    "cw.games.paint.checks": ("TURN",),
}
"""What is awaited to its end where a line of Paint is not as it should be."""


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


def changes(limits: Mapping[str, Sequence[str]]) -> Changes:
    """Return what changes the limits of each module."""
    return {
        module: partial(change_limits, names=names, change=setattr)
        for module, names in limits.items()
    }


CHANGES: Final = changes({**LIMITS, **FOR_PAINTERS})


class PatientLoader(SourceFileLoader):
    """Runs a module, and changes it."""

    def __init__(self, name: str, path: str, change: Callable[[ModuleType], None]) -> None:
        super().__init__(name, path)
        self.change = change

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self.change(module)


class PatientImports:
    """Finds the modules that are to be changed, so that a process loads those it needs alone."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.changes:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None:
            return None
        loader = PatientLoader(name, spec.origin, self.changes[name])
        return spec_from_file_location(name, spec.origin, loader=loader)


def main(changes: Changes = CHANGES) -> None:
    """Be `cw`, or a worker."""
    sys.meta_path.insert(0, PatientImports(changes))
    if len(sys.argv) > 1:
        setattr(import_module("cw.matches.workers"), "WORKER", PROGRAM)  # noqa: B010
        resolve_name("cw.cli:main")()
    else:
        resolve_name("cw.matches.worker:main")()


if __name__ == "__main__":
    main()
