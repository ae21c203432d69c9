"""A Python without the packages of the arena is told what to type, in every way to start it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from cw import version
from cw.version import PACKAGES
from tests.interpreter import PYTHON

ROOT = Path(__file__).resolve().parents[1]

BLOCKED = """
import runpy, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

MISSING = set(sys.argv.pop(1).split(","))
sys.meta_path.insert(0, Missing())
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in MISSING else find(name, *more)
del sys.argv[0]
if sys.argv[0] == "-m":
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    sys.path[0] = str(__import__("pathlib").Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
"""

OF_THE_CARD = {"click", "flask", "flask_cors", "jinja2", "markupsafe", "requests", "urllib3"}
OF_THE_CARD |= {"werkzeug"}
"""What `pip install flask flask-cors requests jinja2 pytest pytest-flask` brings of them."""

MISSING = [name for name in PACKAGES if name not in OF_THE_CARD]


def run(missing: Iterable[str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, ",".join(missing), *command],
        cwd=ROOT,
        env={**os.environ, "CW_SERVER": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("missing", "command"),
    [
        (MISSING, "cw/game_server.py --port 0"),
        (MISSING, "game_ai.py alice --against greedy"),
        (MISSING, "-m cw bots"),
        (MISSING, "-m cw play paint builtin:random builtin:random"),
        (PACKAGES, "cw/game_server.py --port 0"),
        (PACKAGES, "-m cw --help"),
    ],
)
def test_what_is_missing_is_said_with_the_line_to_type(
    missing: Sequence[str], command: str
) -> None:
    done = run(missing, *command.split())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"Circuit Wars needs packages that are not installed ({', '.join(missing)}):"
        f" in {ROOT}, type\n  {PYTHON} -m pip install -c requirements.txt -e .\n"
    )


def test_the_python_of_a_system_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(version, "PACKAGE", tmp_path / "cw")
    monkeypatch.setattr(version, "get_path", lambda _: str(tmp_path))
    install = "-m pip install -c requirements.txt -e ."
    assert version.what_to_type() == f"{PYTHON} {install}"
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    made = f"{PYTHON} -m venv .venv && . .venv/bin/activate && python {install}"
    assert version.what_to_type() == made
    (tmp_path / ".venv").mkdir()
    assert version.what_to_type() == ". .venv/bin/activate"


@pytest.mark.parametrize("command", ["game_ai.py alice", "test.py"])
def test_clients_need_no_more_than_the_card_has(command: str) -> None:
    done = run(MISSING, *command.split())
    assert "There is no server at http://127.0.0.1:9." in done.stderr


def test_a_module_that_is_not_of_the_arena_is_another_error() -> None:
    done = run(["tomllib"], "-m", "cw", "championship", "validate", ".")
    assert "No module named 'tomllib'" in done.stderr
    assert "Circuit Wars needs packages" not in done.stderr


def test_the_packages_are_the_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[^\w.-]", line)[0] for line in project["dependencies"]}
    brought = packages_distributions()
    assert {brought[name][0].lower().replace("_", "-") for name in PACKAGES} == names
