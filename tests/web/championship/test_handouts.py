"""Hand-outs: what a team may read of a championship, and nothing of others' output."""

from __future__ import annotations

from pathlib import Path

import pytest

from cw.replays.document import decode
from tests.championship.contests import cw, make_teams

PLAN = "my secret plan"
BROKEN = f"""
import sys
print("{PLAN}", file=sys.stderr, flush=True)
print("no answer at all: {PLAN}", flush=True)
raise KeyError("{PLAN}")
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("championship")
    teams = make_teams(folder / "teams", {"Lea Müller": BROKEN}, "bot.py")
    for name, strategy in (("ann", "greedy"), ("bob", "walker")):
        (teams / name).mkdir()
        (teams / name / "team.toml").write_text(f'bot = "builtin:{strategy}"\n')
    arguments = ("--game", "paint", "--option", "turns=20", "--format", "double-round-robin")
    ended = cw("run", teams, *arguments, "--out", folder / "out", "--handouts", "--no-validate")
    assert ended.exit_code == 0, ended.output + ended.stderr
    assert "3 hand-outs, one for each team" in ended.stdout
    return folder / "out"


def texts(folder: Path) -> dict[str, str]:
    """Return all that a hand-out holds but the viewer, replays as text."""
    files = [file for file in folder.rglob("*") if file.suffix in (".html", ".txt", ".gz")]
    return {
        file.name: str(decode(file.read_bytes())) if file.suffix == ".gz" else file.read_text()
        for file in files
    }


def test_a_team_reads_its_own_faults_and_output(out: Path) -> None:
    own = texts(out / "handouts" / "Lea-Muller")
    assert PLAN in own["output.txt"]
    assert f"<pre>{PLAN}" in own["index.html"]
    assert "Rank 3 of 3" in own["index.html"]
    replays = [text for name, text in own.items() if name.endswith(".gz")]
    assert len(replays) == 4
    assert all(PLAN in text for text in replays)
    assert all(f"{name.removesuffix('.json.gz')}.html" in own for name in own if "gz" in name)


@pytest.mark.parametrize("team", ["ann", "bob"])
def test_nothing_of_the_output_of_others_is_handed_out(out: Path, team: str) -> None:
    theirs = texts(out / "handouts" / team)
    assert len([name for name in theirs if name.endswith(".gz")]) == 4
    assert not [name for name, text in theirs.items() if PLAN in text or "bot.py" in text]
    assert "Lea Müller" in theirs["index.html"]


def test_they_can_be_written_afterwards(out: Path) -> None:
    (out / "handouts" / "ann" / "index.html").unlink()
    assert cw("report", out, "--handouts").exit_code == 0
    assert (out / "handouts" / "ann" / "index.html").is_file()
