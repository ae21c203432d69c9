"""Who lets uploaded programs run without a sandbox, and what they could read then."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cw.errors import UsageError
from cw_hub.bots import health
from cw_hub.bots.programs import sandbox_of
from cw_hub.competitions.format import hosting_by
from cw_hub.competitions.tournament.progress import claimed
from cw_hub.competitions.tournament.service import TournamentConfig
from cw_hub.competitions.tournament.teams import NewGroup, NewTeam
from cw_hub.matches.jobs import spec_of
from cw_hub.matches.results import Claim
from cw_hub.operation import settings as operation_settings
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings, problem_of_trust, read_settings
from cw_hub.site.formats import FORMATS
from cw_hub.store.models import Bot, Competition
from hub.tests.evening import HOST, Evening
from hub.tests.ladder_hub import Tournament
from hub.tests.sites import Site

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
SHARED = {
    "CW_DATABASE_URL": "postgresql://cw@127.0.0.1:9/cw",
    "CW_MASTER_KEYS": "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "CW_SECRET_KEY": "0" * 64,
}
LOOKING = f"""
import ctypes, os, subprocess, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from cw_hub.operation.settings import hide_process
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as a process of this user is from its start on
def looks():
    return subprocess.run(["cat", f"/proc/{{os.getpid()}}/environ"], capture_output=True)
before = looks()
hide_process()
after = looks()
print(b"SECRET" in before.stdout, b"SECRET" in after.stdout, after.returncode)
"""


def test_no_host_lifts_the_sandbox_by_a_form_of_their_own(site: Site) -> None:
    groups, teams = [NewGroup("GRODNO")], [NewTeam("Alpha")]
    evening = Evening(site, TournamentConfig("t1", "paint", "Duel", 1, {}, groups, teams))
    page = evening.host.open(HOST)
    assert "trusted" not in page.text
    for word, status in (("off", 303), ("trusted", 422), ("sandboxed", 303)):
        answer = evening.host.fill(f"{HOST}/settings", on=HOST, hosting=word)
        assert answer.status_code == status
    assert (
        "hosting must be one of off, sandboxed, not"
        in evening.host.fill(f"{HOST}/settings", on=HOST, hosting="trusted").text
    )
    with site.resources.database.reading() as session:
        assert session.query(Competition.settings).scalar()["hosting"] == "sandboxed"


def test_tournaments_that_the_operator_names_may_do_without_walls(resources: Resources) -> None:
    tournament = Tournament(resources, {"all": {"ann": "", "bob": ""}}, {}, "paint")
    tournament.happens("start")
    with resources.database.writing() as session:
        match = tournament.matches(1)[0]
        claim = Claim(match.id, match.match_id, 1, "tournament", "paint", {}, 1, match.at, ())
        claim = claimed(session, claim)
        slug = session.query(Competition.slug).scalar()
        bot = session.query(Bot).filter(Bot.team_id == tournament.teams["ann"]).one()
        hosting = hosting_by(FORMATS)(session, bot)
        assert (hosting.hosting, hosting.tournament) == ("sandboxed", slug)
        assert hosting.options == {"board": "square"}
        bot.team_id = None
        assert hosting_by(FORMATS)(session, bot) == health.always_sandboxed(session, bot)
        session.rollback()
    assert claim.tournament == slug
    shared = read_settings(SHARED)
    trusting = read_settings({**SHARED, "CW_TRUSTED_TOURNAMENTS": f"other,{slug}"})
    assert sandbox_of(shared, slug) == "require"
    assert sandbox_of(trusting, slug) == "auto"
    assert sandbox_of(trusting, "") == "require"
    assert spec_of(claim, trusting).isolation.sandbox == "auto"
    assert spec_of(claim, shared).isolation.sandbox == "require"
    assert spec_of(replace(claim, tournament=""), trusting).isolation.sandbox == "require"


def test_where_all_is_in_files_no_program_is_trusted(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="requires a PostgreSQL"):
        HubSettings(trusted_tournaments=("t1",))
    with pytest.raises(UsageError, match="CW_TRUSTED_TOURNAMENTS must be the slugs"):
        read_settings({**SHARED, "CW_TRUSTED_TOURNAMENTS": "t1, t2"})


@ON_LINUX
def test_no_program_is_trusted_where_it_could_read_a_key(tmp_path: Path) -> None:
    assert problem_of_trust(tmp_path, is_root=False) is None
    assert "ordinary user" in str(problem_of_trust(tmp_path, is_root=True))
    (tmp_path / "master.key").write_text("k1:...")
    assert "remove" in str(problem_of_trust(tmp_path, is_root=False))
    settings = read_settings({**SHARED, "CW_TRUSTED_TOURNAMENTS": "t1", "CW_DATA": str(tmp_path)})
    with (
        pytest.raises(UsageError, match="CW_TRUSTED_TOURNAMENTS"),
        opened(settings, CeleryQueue(settings)),
    ):
        pass


def test_other_systems_hide_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation_settings, "IS_LINUX", False)
    assert "only Linux" in str(problem_of_trust(tmp_path, is_root=False))


@ON_LINUX
def test_a_program_of_the_same_user_does_not_read_the_keys_in_the_environment() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOKING],
        env={"CW_MASTER_KEYS": "SECRET", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == (["True", "False", "1"], "")
