"""Without the site the arena is whole, and commands of the site say what to install."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from cw import extensions
from tests.championship.contests import built_in
from tests.typed import ROOT

WITHOUT = """
import importlib.metadata, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "cw_hub":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""

UNKNOWN = """
importlib.metadata.entry_points = lambda **_: ()
"""
"""As if it had never been installed; else it is known, and its modules are gone."""

IMPORT_ALL = """
from importlib import import_module
from pathlib import Path
for path in sorted(Path("cw").rglob("*.py")):
    name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    if not name.endswith("__main__"):
        import_module(name)
"""

RUN = "from cw.cli import main; main(sys.argv[1:])"


def without(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT + code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_all_of_the_arena_can_be_imported() -> None:
    done = without(UNKNOWN + IMPORT_ALL)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("known", ["", UNKNOWN])
@pytest.mark.parametrize("arguments", ["", "serve", "db check", "--help"])
def test_its_commands_say_what_to_install(known: str, arguments: str) -> None:
    done = without(known + RUN, "hub", *arguments.split())
    assert done.returncode == 2
    needed = "Error: cw hub is not installed: in the repository, pip install -e . -e hub\n"
    assert done.stderr.endswith(needed)


@pytest.mark.thorough
def test_the_arena_plays_and_names_its_commands() -> None:
    assert "  hub " in without(UNKNOWN + RUN, "--help").stdout
    done = without(UNKNOWN + RUN, "play", "hexagon", "builtin:random", "builtin:greedy", "--json")
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("known", ["", UNKNOWN])
def test_a_championship_is_played_here_alone(known: str, tmp_path: Path) -> None:
    teams = built_in(tmp_path / "teams.toml", ("random", "greedy"))
    out = tmp_path / "out"
    done = without(known + RUN, "championship", "run", str(teams), "--out", str(out), "--queue")
    assert done.returncode == 2
    assert "--queue needs a hub: in the repository, pip install -e . -e hub" in done.stderr
    assert not out.exists()


def test_what_an_extension_lacks_itself_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needy_extension.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    points = [EntryPoint(name, f"{name}_extension:it", "g") for name in ("needy", "gone")]
    monkeypatch.setattr(extensions, "extensions", lambda _: points)
    assert extensions.extension("g", "gone") is None
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        extensions.extension("g", "needy")
