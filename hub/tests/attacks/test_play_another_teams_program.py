"""A team of a championship whose folder is a link to the folder of another team."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

import pytest

from tests.championship.contests import cw, make_teams
from tests.matches.bots_of_games import PAINT

PLAN = "alice begins in the corner"
ALICE = f"import sys\nprint({PLAN!r}, file=sys.stderr, flush=True)\n{PAINT}"
REFUSED = "eve is a link: replace it with a copy of the folder"
GAME = ("--game", "paint", "--option", "turns=2", "--format", "round-robin")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs links")


@pytest.fixture
def teams(tmp_path: Path) -> Path:
    """Alice, Bob, and what Eve has sent."""
    teams = make_teams(tmp_path / "teams", {"alice": ALICE, "bob": PAINT}, "bot.py")
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as packed:
        link = zipfile.ZipInfo("eve")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(link, "alice")
    unpack(tmp_path / "eve.zip", teams)
    return teams


def unpack(sent: Path, teams: Path) -> None:
    """Unpack a zip of links as the programs do that organisers use, unlike Python."""
    with zipfile.ZipFile(sent) as packed:
        for entry in packed.infolist():
            (teams / entry.filename).symlink_to(packed.read(entry).decode())


@pytest.mark.parametrize("more", [(), ("--no-validate",)])
def test_no_championship_begins_with_it(teams: Path, more: tuple[str, ...]) -> None:
    out = teams.with_name("out")
    refused = cw("run", teams, *GAME, "--out", out, *more)
    assert refused.exit_code == 1
    assert REFUSED in refused.stderr
    assert not out.exists()


@pytest.mark.thorough
def test_it_plays_nothing_and_is_handed_nothing(teams: Path) -> None:
    out = teams.with_name("out")
    played = cw("run", teams, *GAME, "--skip-broken", "--handouts", "--out", out)
    assert played.exit_code == 0, played.stderr
    assert REFUSED in (out / "report" / "index.html").read_text()
    handouts = {place.name: place for place in (out / "handouts").iterdir()}
    assert handouts.keys() == {"alice", "bob"}
    assert PLAN in (handouts["alice"] / "output.txt").read_text()
    others = [file for file in handouts["bob"].rglob("*") if file.is_file()]
    assert PLAN not in "".join(file.read_text(errors="replace") for file in others)
