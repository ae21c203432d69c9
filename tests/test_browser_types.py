"""The browser code is checked with TypeScript: strict, by the types in its JSDoc."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tools import TYPESCRIPT

ROOT = Path(__file__).resolve().parents[1]
CODE = ("static", "tests/browser/globals.d.ts", "tsconfig.json")
WRONG = ("static/viewer/main.js", "static/monitor.js", "static/base.js")


@pytest.fixture(scope="module")
def tsc() -> Path:
    """Return the path of the compiler; without one, skip or fail as CW_REQUIRE_TYPESCRIPT says."""
    path = ROOT / "node_modules" / ".bin" / ("tsc.cmd" if os.name == "nt" else "tsc")
    if not path.exists() or shutil.which("node") is None:
        TYPESCRIPT.missing()
    return path


def check(tsc: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the code in a folder."""
    command = [str(tsc), "--project", str(folder), "--pretty", "false"]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)


def test_the_browser_code_keeps_its_types(tsc: Path) -> None:
    result = check(tsc, ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.thorough
def test_wrong_types_are_found(tsc: Path, tmp_path: Path) -> None:
    for part in CODE:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / part, tmp_path / part)
    for name in WRONG:
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write("\nMath.abs('one');\n")
    result = check(tsc, tmp_path)
    assert result.returncode != 0
    lines = [line for line in result.stdout.splitlines() if "TS2345" in line]
    assert sorted(line.partition("(")[0] for line in lines) == sorted(WRONG)
