"""Without the packages of the extra `hub` nothing of the local arena changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.championship.contests import built_in

ROOT = Path(__file__).resolve().parents[3]

WITHOUT = """
import re, sys
from pathlib import Path

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in PACKAGES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

PACKAGES = set(sys.argv.pop(1).split(","))
sys.meta_path.insert(0, Missing())
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in PACKAGES else find(name, *more)
"""

IMPORT_ALL = """
from importlib import import_module
root = Path("cw")
for path in sorted(root.rglob("*.py")):
    name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    if not name.startswith(("cw_hub", "cw_hub.cli.")) and not name.endswith("__main__"):
        import_module(name)
hub = [name for name in sys.modules if name == "cw_hub" or name.startswith("cw_hub.")]
assert not hub, hub
"""

RUN = "from cw.cli import main; main(sys.argv[1:])"

EXTRA = (
    "alembic,argon2,authlib,cachetools,celery,cryptography,email_validator,flask_limiter,flask_wtf,kombu,"
    "limits,obstore,prometheus_client,psycopg,pycountry,redis,sqlalchemy,wtforms"
)


def without(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT + code, EXTRA, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_all_but_the_hub_can_be_imported() -> None:
    done = without(IMPORT_ALL)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_the_hub_says_what_it_needs() -> None:
    for arguments in (["serve"], ["db", "check"], ["settings"], ["--help"]):
        done = without(RUN, "hub", *arguments)
        assert done.returncode == 2
        assert (
            'cw hub needs the extra "hub": in the repository, pip install -e ".[hub]"'
            in done.stderr
        )


@pytest.mark.thorough
def test_the_arena_plays_and_names_its_commands() -> None:
    assert "  hub " in without(RUN, "--help").stdout
    done = without(RUN, "play", "hexagon", "builtin:random", "builtin:greedy", "--json")
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_a_championship_is_played_here_alone(tmp_path: Path) -> None:
    teams = built_in(tmp_path / "teams.toml", ("random", "greedy"))
    out = tmp_path / "out"
    done = without(RUN, "championship", "run", str(teams), "--out", str(out), "--queue")
    assert done.returncode == 2
    assert (
        '--queue needs the extra "hub": in the repository, pip install -e ".[hub]"' in done.stderr
    )
    assert not out.exists()
