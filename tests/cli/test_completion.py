"""`cw completion` and `cw --version`, as shells and reports of mistakes use them."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.version import commit, version_line
from tests.interpreter import write_cw
from tests.tools import BASH, CLONE
from tests.typed import ROOT


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_each_shell(shell: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0
    assert f"_CW_COMPLETE={shell}_complete" in done.output


def test_another_shell_is_refused_with_those_that_there_are() -> None:
    done = CliRunner().invoke(main, ["completion", "tcsh"])
    assert done.exit_code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in done.output


def completed(line: str, folder: Path) -> list[str]:
    """Return what Bash completes the last word of a line to."""
    script = folder / "completion.sh"
    script.write_text(CliRunner().invoke(main, ["completion", "bash"]).output)
    write_cw(folder / "cw")
    words = " ".join(f'"{word}"' for word in line.split())
    typed = f". {script}; COMP_WORDS=({words}); COMP_CWORD={len(line.split()) - 1}; "
    typed += '_cw_completion cw; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", typed],
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.stdout.split()


@BASH.unless(shutil.which("bash"))
@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("cw champ", "championship"),
        ("cw championship val", "validate"),
        ("cw play --see", "--seed"),
    ],
)
def test_bash_completes_commands_and_options(tmp_path: Path, line: str, word: str) -> None:
    assert completed(line, tmp_path) == [word]


def test_the_version_names_commit_and_python() -> None:
    line = CliRunner().invoke(main, ["--version"]).output
    assert line == f"{version_line()}\n"
    assert f"Python {platform.python_version()}" in line


@CLONE.unless((ROOT / ".git").exists() and shutil.which("git"))
def test_the_commit_is_that_of_the_checkout() -> None:
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    origin = commit()
    assert origin
    assert head.stdout.startswith(origin)


def test_the_commit_is_unknown_without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert commit() is None
    assert "commit" not in version_line()
