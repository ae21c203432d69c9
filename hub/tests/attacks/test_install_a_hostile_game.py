"""The package of a game wants to stop all commands, or to pass for another game.

Its code has the rights of whoever installed it; but what fails in it must fail alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from hub.tests.campaign import ROOT

pytestmark = pytest.mark.thorough

HOSTILE: Final[Mapping[str, str]] = {
    "raises-exit": "raise SystemExit(0)",
    "raises-base": "class Evil(BaseException): pass\nraise Evil('stop')",
    "raises-interrupt": "raise KeyboardInterrupt",
    "raises-generator-exit": "raise GeneratorExit",
    "raises-silent": (
        "class Evil(Exception):\n    def __str__(self): raise Exception('no words')\nraise Evil"
    ),
    "has-a-repr": (
        "class Evil:\n    def __repr__(self): raise BaseException('no words')\nGAME = Evil()"
    ),
    "is-a-module": "import sys\nGAME = sys",
    "recurses": "def f(): f()\nf()",
    "does-not-parse": "GAME = (",
    "is-missing": "",
    "escapes": "raise ValueError('\\x1b[2Jred')",
    "takes-a-name": ("from cw.games.registry import GAMES\nGAME = GAMES['paint']"),
}
"""What stands in the module of each game, by its name."""

NAMES: Final = ("paint", "Paint", "../paint", "paint ", "p" * 33, "", "hexagon")
"""Names that are taken, or that no game can have."""


def install(place: Path, package: str, games: Mapping[str, str], version: str = "1") -> None:
    """Install a package whose entry points name games and where they are."""
    about = place / f"{package}-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    points = "\n".join(f"{name} = {where}" for name, where in games.items())
    (about / "entry_points.txt").write_text(f"[cw.games]\n{points}\n")


def cw(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Type a command where these packages are installed."""
    return subprocess.run(
        [sys.executable, "-m", "cw", *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{place}", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def assert_ours_are_whole(place: Path) -> None:
    """Find our games as they are, and play one."""
    listed = cw(place, "bots", "kits")
    assert listed.returncode == 0, listed.stderr
    played = cw(place, "simulate", "paint", "random", "random", "--games", "1")
    assert played.returncode == 0, played.stderr
    assert "\x1b[2J" not in listed.stdout + listed.stderr


@pytest.mark.parametrize("name", HOSTILE)
def test_a_package_that_fails_stops_nothing(tmp_path: Path, name: str) -> None:
    module = f"hostile_{name.replace('-', '_')}"
    if HOSTILE[name]:
        (tmp_path / f"{module}.py").write_text(HOSTILE[name])
    install(tmp_path, "hostile", {name: f"{module}:GAME"})
    assert_ours_are_whole(tmp_path)
    asked = cw(tmp_path, "simulate", name, "random", "random", "--games", "1")
    assert asked.returncode == 2
    assert f"the game '{name}' of hostile 1 is left out" in asked.stderr
    assert "\x1b[2J" not in asked.stderr
    assert "Traceback" not in asked.stderr


def test_a_package_takes_no_name_of_ours(tmp_path: Path) -> None:
    (tmp_path / "fake.py").write_text(
        "import cw.games.registry as registry\nGAME = registry.GAMES['hexagon']\n"
    )
    install(tmp_path, "fake", {name: "fake:GAME" for name in NAMES if name})
    assert_ours_are_whole(tmp_path)
    rules = "import cw.games.registry as r; print(r.load_game('paint').rules.__class__.__module__)"
    printed = subprocess.run(
        [sys.executable, "-c", rules],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.startswith("cw.games.paint")


def test_the_names_of_a_package_are_shown_as_text(tmp_path: Path) -> None:
    install(tmp_path, "evil", {"evil-game": "nowhere:GAME"}, version="\x1b[2J1")
    assert_ours_are_whole(tmp_path)
    doctor = cw(tmp_path, "doctor")
    assert "\x1b[2J" not in doctor.stdout + doctor.stderr
