"""TypeScript, which checks the browser code: strict, by the types in its JSDoc."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.tools import TYPESCRIPT

ROOT = Path(__file__).resolve().parents[1]
CODE = ("static", "tests/browser/globals.d.ts", "tsconfig.json")


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the code in a folder; skip a test without the compiler, or fail."""
    tsc = ROOT / "node_modules" / ".bin" / ("tsc.cmd" if os.name == "nt" else "tsc")
    if not tsc.exists() or shutil.which("node") is None:
        TYPESCRIPT.missing()
    command = [str(tsc), "--project", str(folder), "--pretty", "false"]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)


def found_wrong(folder: Path, wrong: Iterable[str], *more: str) -> list[str]:
    """Copy the code, and `more` than ours; return in which files wrong types are found there."""
    for part in (*CODE, *more):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / part, folder / part)
    for name in wrong:
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("\nMath.abs('one');\n")
    result = check(folder)
    assert result.returncode != 0
    lines = [line for line in result.stdout.splitlines() if "TS" in line]
    assert all("TS2345" in line for line in lines), lines
    return sorted(line.partition("(")[0] for line in lines)
