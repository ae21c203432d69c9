"""`cw workshop` in which bots have more time than any needs, also while they are checked."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from tests import patience


def be_patient(change: patience.Change) -> None:
    """Let workshops check bots by the limits of `patience`; `change` does what `setattr` does."""
    check = import_module("cw.workshop.runs").Check
    begin = check.__init__

    def begin_patiently(self: Any, *arguments: Any) -> None:
        begin(self, *arguments)
        _, _, *command = self._command
        self._command = (patience.__file__, *command)

    change(check, "__init__", begin_patiently)


if __name__ == "__main__":
    sys.meta_path.insert(0, patience.PatientImports(patience.CHANGES))
    be_patient(setattr)
    patience.main()
