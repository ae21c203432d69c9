"""Championships whose matches are played by the workers of a hub."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from cw.arena.bots import BotSpec
from cw.championship.config import ChampionshipSettings
from cw.championship.teams import Team
from cw.errors import Failure, UsageError
from cw.kits import new_bot
from cw_hub.competitions.cup import queued
from cw_hub.competitions.cup.queued import ID, NO_WORKER
from cw_hub.matches import planning, results
from cw_hub.matches.jobs import Worker
from cw_hub.operation import scheduler as operation_scheduler
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import read_settings
from cw_hub.players import packages
from cw_hub.players.programs import Room, placed
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import keep_in_order
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import Match
from hub.tests import patience
from hub.tests.campaign import ROOT, Role, next_week, on_services, roles, wait_until
from hub.tests.conftest import ON_SQLITE
from hub.tests.gates import Gate, gate
from hub.tests.services import new_postgresql, new_redis
from hub.tests.sites import Site, by_clock
from tests.championship.contests import (
    FIRST_FREE,
    cw,
    lines_of,
    make_teams,
    report_of,
    service,
)
from tests.interpreter import PYTHON
from tests.ports import free_port
from tests.tools import NEEDS_BUBBLEWRAP

TIMES = {"longest_ms", "median_ms", "longest", "median"}
SECRET = "0f" * 32
CUP = "0" * 16
MATCHES = 6
"""Matches of the fixture `gauntlet`."""


@dataclass
class RealHub:
    """A hub of several processes, all of which are really there."""

    environment: Mapping[str, str]
    resources: Resources
    workers: list[Role]

    def matches(self, out: Path) -> list[Match]:
        """Return the matches of a championship."""
        if not (out / ID).exists():
            return []
        its = Match.key.startswith((out / ID).read_text())
        with self.resources.database.reading() as session:
            return list(session.scalars(select(Match).where(its)))

    def wait_for(self, out: Path, **counts: int) -> None:
        """Wait until the matches of a championship are in so many states each."""
        wait_until(lambda: Counter(one.state for one in self.matches(out)) == counts, str(counts))

    def run(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Run a command of a championship beside the test."""
        command = [sys.executable, "-m", "cw", "championship", *map(str, arguments), "--queue"]
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def ended(process: subprocess.Popen[str], code: int) -> str:
    output, errors = process.communicate(timeout=600)
    assert process.returncode == code, output + errors
    return output + errors


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealHub]:
    tmp_path = tmp_path_factory.mktemp("hub")
    with new_postgresql() as database, new_redis(tmp_path) as broker:
        with closing(Database(database)) as empty:
            upgrade(empty)
        environment = on_services(tmp_path / "data", database, broker) | {"CW_LEASE": "600"}
        settings = read_settings(environment)
        playing = ["worker", "--kinds", "cup", "--programs"]
        with opened(settings, CeleryQueue(settings)) as resources:
            workers = [
                Role(playing, environment, tmp_path / f"{one}.log", program=patience.PROGRAM[1:])
                for one in "ab"
            ]
            scheduler = Role(["scheduler"], environment, tmp_path / "scheduler.log")
            with roles(*workers, scheduler):
                wait_until(lambda: slots(resources) == 2, "the workers")
                yield RealHub(environment, resources, workers)


def slots(resources: Resources) -> int:
    with resources.database.reading() as session:
        return operation_scheduler.live_slots(session)


@pytest.fixture
def gauntlet(tmp_path: Path) -> Iterator[tuple[Gate, tuple[str | Path, ...]]]:
    """A gate, and the arguments of a gauntlet of six matches, each of which waits for it."""
    with gate() as at:
        tables = [f'[teams.a-gate]\nbot = "{at.address}"\nparallel = {MATCHES}\n']
        tables += [f'[teams.house-{n}]\nbot = "builtin:random"\n' for n in range(MATCHES // 2)]
        (tmp_path / "teams.toml").write_text("".join(tables))
        limits = ("--option", "timeout=600", "--option", "size=4")
        about = ("--game", "hexagon", "--format", "gauntlet", *limits, "--out", tmp_path / "out")
        yield at, (tmp_path / "teams.toml", *about)


def without_times(document: Any) -> Any:
    """Return a document without times of answers and ports, also in what a bot has written."""
    if isinstance(document, str):
        return re.sub(r"127\.0\.0\.1:\d+", "PORT", re.sub(r"[0-9.]+ ms", "0 ms", document))
    if isinstance(document, dict):
        # The lines of two streams come in any order, and the last ones perhaps not before the end.
        outputs = {k: list(map(bool, v)) for k, v in document.items() if k == "stderr"}
        return {k: without_times(v) for k, v in document.items() if k not in TIMES} | outputs
    return [without_times(one) for one in document] if isinstance(document, list) else document


def same(one: Path, other: Path) -> None:
    """Hold the folders of two championships against each other, but for times."""
    assert without_times(lines_of(one)) == without_times(lines_of(other))
    assert without_times(report_of(one)) == without_times(report_of(other))
    for file_name in ("report/report.md", "report/games.csv", "championship.json"):
        assert (one / file_name).read_bytes() == (other / file_name).read_bytes()
    for folder in ("games", "report/replays", "report/stderr"):
        names = sorted(path.name for path in (one / folder).iterdir())
        assert names == sorted(path.name for path in (other / folder).iterdir())
    for log in (one / "games").glob("*.log"):
        assert log.read_bytes() == (other / "games" / log.name).read_bytes()


@pytest.mark.thorough
@NEEDS_BUBBLEWRAP
def test_results_and_report_are_those_without_a_queue(
    hub: RealHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in a folder, a web service with a secret, a built-in; clients of Circuit Wars."""
    for name, value in {**hub.environment, "WEB_SECRET": SECRET, "CW_PAUSE": "0"}.items():
        monkeypatch.setenv(name, value)
    kit = tmp_path / "kit"
    new_bot("code-battle", "python", kit)
    source = (kit / "bot.py").read_text()
    (kit / "bot.py").write_text(
        source.replace("random.random()", "1").replace('random.choice("NESW")', '"N"')
    )
    with service(kit / "bot.py", BOT_SECRET=SECRET) as address:
        teams = tmp_path / "teams.toml"
        teams.write_text(
            f'[teams.web]\nbot = "{address}"\nsecret = "env:WEB_SECRET"\n'
            '[teams.house]\nbot = "builtin:rusher"\n'
            '[teams.a-program]\nbot = "kit/bot.py"\n'
        )
        about = ("--game", "code-battle", "--format", "gauntlet", "--option", "max_turns=4")
        for out, more in (("here", ()), ("there", ("--queue",))):
            done = cw("run", teams, *about, "--jobs", 1, "--out", tmp_path / out, *more)
            assert done.exit_code == 0, done.output + done.stderr
    same(tmp_path / "here", tmp_path / "there")
    assert [line["faults"] for line in lines_of(tmp_path / "there")] == [[]] * 4

    clients = {"ann": FIRST_FREE, "a-team-with-the-longest-id-of-them-all--": FIRST_FREE}
    make_teams(tmp_path / "clients", {name[:39]: source for name, source in clients.items()})
    about = ("--format", "gauntlet", "--size", "3", "--timeout", "60")
    for out, more in (("near", ()), ("far", ("--queue",))):
        done = cw("run", tmp_path / "clients", *about, "--jobs", 1, "--out", tmp_path / out, *more)
        assert done.exit_code == 0, done.output + done.stderr
    same(tmp_path / "near", tmp_path / "far")
    hub.wait_for(tmp_path / "there", done=4)
    hub.wait_for(tmp_path / "far", done=2)


@pytest.mark.thorough
def test_ctrl_c_calls_off_what_waits_and_twice_what_is_played(
    hub: RealHub, gauntlet: tuple[Gate, tuple[str | Path, ...]], tmp_path: Path
) -> None:
    at, about = gauntlet
    out = tmp_path / "out"
    running = hub.run("run", *about)
    hub.wait_for(out, in_progress=2, queued=4)
    wait_until(lambda: len(running_in(out)) == 2, "the progress")
    running.send_signal(signal.SIGINT)
    hub.wait_for(out, in_progress=2, void=4)
    at.open.set()
    assert "stopped; continue with: cw championship resume" in ended(running, 1)
    assert len(lines_of(out)) == 2

    at.open.clear()
    running = hub.run("resume", out)
    hub.wait_for(out, done=2, in_progress=2, queued=2)
    running.send_signal(signal.SIGINT)
    hub.wait_for(out, done=2, in_progress=2, void=2)
    running.send_signal(signal.SIGINT)
    ended(running, 1)
    hub.wait_for(out, done=2, void=4)
    at.open.set()
    ended(hub.run("resume", out), 0)
    assert len(lines_of(out)) == MATCHES
    hub.wait_for(out, done=MATCHES)


def running_in(out: Path) -> list[Any]:
    """Return the matches that are played, as those are told who look on."""
    file = out / "progress.json"
    running: list[Any] = json.loads(file.read_text())["running"] if file.exists() else []
    return running


@pytest.mark.thorough
def test_a_runner_that_is_killed_finds_what_was_played_without_it(
    hub: RealHub, gauntlet: tuple[Gate, tuple[str | Path, ...]], tmp_path: Path
) -> None:
    at, about = gauntlet
    out = tmp_path / "out"
    running = hub.run("run", *about)
    hub.wait_for(out, in_progress=2, queued=4)
    killed(running)
    # Messages that it has noted and not sent are sent again after minutes: here at once.
    with hub.resources.database.writing() as session:
        planning.forget_messages(session)
    at.open.set()
    hub.wait_for(out, done=MATCHES)
    assert lines_of(out) == []
    ended(hub.run("resume", out), 0)
    assert len(lines_of(out)) == MATCHES
    assert [match.attempt for match in hub.matches(out)] == [1] * MATCHES


def killed(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.mark.thorough
def test_the_match_of_a_worker_that_is_killed_is_played_again_once(
    hub: RealHub, gauntlet: tuple[Gate, tuple[str | Path, ...]], tmp_path: Path
) -> None:
    at, about = gauntlet
    out = tmp_path / "out"
    running = hub.run("run", *about)
    hub.wait_for(out, in_progress=2, queued=4)
    lost = hub.workers[0]
    lost.kill()
    # Its lease is over; no other ends by itself on a busy machine.
    with hub.resources.database.writing() as session:
        its = Match.worker.contains(f":{lost.process.pid}:")
        assert results.reap_where(session, its) == 1
    at.open.set()
    ended(running, 0)
    assert len(lines_of(out)) == MATCHES
    assert sorted(match.attempt for match in hub.matches(out)) == [1] * (MATCHES - 1) + [2]
    hub.wait_for(out, done=MATCHES)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"CW_DATABASE_URL": "", "CW_BROKER_URL": ""}, "set CW_DATABASE_URL"),
        ({"CW_BROKER_URL": ""}, "set CW_BROKER_URL"),
        ({"CW_DATABASE_URL": "postgresql://x@127.0.0.1:{closed}/x"}, "the database does not"),
        ({"CW_BROKER_URL": "redis://127.0.0.1:{closed}/0"}, "the queue does not answer"),
        ({}, NO_WORKER),
    ],
)
def test_a_hub_that_is_not_there_is_told_and_nothing_is_begun(
    tmp_path: Path,
    postgresql_url: str,
    monkeypatch: pytest.MonkeyPatch,
    changed: dict[str, str],
    sentence: str,
) -> None:
    with new_redis(tmp_path) as broker:
        variables = on_services(tmp_path / "data", postgresql_url, broker) | changed
        for name, value in variables.items():
            monkeypatch.setenv(name, value.format(closed=free_port()))
        teams = make_teams(tmp_path / "teams", dict.fromkeys("ab", FIRST_FREE))
        done = cw("run", teams, "--out", tmp_path / "out", "--queue")
    assert done.exit_code in (1, 2)
    assert sentence in " ".join(done.stderr.split()), done.stderr
    assert not (tmp_path / "out").exists()


def test_programs_without_a_sandbox_are_not_sent(tmp_path: Path) -> None:
    teams = make_teams(tmp_path / "teams", dict.fromkeys("ab", FIRST_FREE))
    done = cw("run", teams, "--out", tmp_path / "out", "--queue", "--sandbox", "off")
    assert done.exit_code == 2
    assert "--sandbox off cannot be used with --queue" in done.stderr


class TestParcels:
    """What is sent is bounded, and where it comes to it is held to its own folder."""

    def bot(self, folder: Path) -> BotSpec:
        (folder / "team").mkdir()
        (folder / "team" / "bot.py").write_text("pass")
        return BotSpec("ann", "exec", f"{PYTHON} {folder / 'team' / 'bot.py'}")

    @ON_SQLITE
    def test_a_command_is_sent_without_the_places_of_this_machine(
        self, resources: Resources, tmp_path: Path
    ) -> None:
        bot = self.bot(tmp_path)
        sent, _ = queued.send_program(resources.objects, "0" * 16, bot, [])
        assert sent.target == "'{python}' bot.py"
        arrived = placed(sent, tmp_path / "team")
        assert (arrived.command, arrived.folder) == (
            [sys.executable, "bot.py"],
            str(tmp_path / "team"),
        )
        player = replace_target(bot, "python", f"{tmp_path / 'team' / 'bot.py'}:Bot")
        sent, _ = queued.send_program(resources.objects, "0" * 16, player, [])
        assert sent.target == "bot.py:Bot"
        assert placed(sent, tmp_path / "team").python_player == ("bot.py", "Bot")

    def test_a_command_names_no_file_of_the_worker(self, tmp_path: Path) -> None:
        spying = BotSpec("ann", "exec", "cat /etc/passwd")
        with pytest.raises(UsageError, match="outside the folder"):
            placed(spying, tmp_path)

    @ON_SQLITE
    def test_a_link_and_a_folder_that_is_too_large_are_refused(
        self, resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bot = self.bot(tmp_path)
        (tmp_path / "team" / "link").symlink_to("/etc/passwd")
        with pytest.raises(UsageError, match="link is a link: replace it with the file"):
            queued.send_program(resources.objects, "0" * 16, bot, [])
        (tmp_path / "team" / "link").unlink()
        monkeypatch.setattr(queued, "BOUNDS", replace(queued.BOUNDS, size=3))
        with pytest.raises(UsageError, match="ann cannot be sent to workers, which take at most"):
            queued.send_program(resources.objects, "0" * 16, bot, [])


def replace_target(bot: BotSpec, kind: Any, target: str) -> BotSpec:
    return BotSpec(bot.name, kind, target, bot.settings)


@ON_SQLITE
class TestMatches:
    """Matches of championships beside the others of a hub."""

    def asked(self, resources: Resources, **options: Any) -> int:
        """Open a cup of one match, of which a team has a secret; return the id of the match."""
        pair = (BotSpec("ann", "builtin", "random"), BotSpec("bob", "builtin", "greedy"))
        teams = (
            Team("ann", "Ann", (), pair[0], {"secret": "hush"}),
            Team("bob", "Bob", (), pair[1]),
        )
        settings = ChampionshipSettings(
            ("ann", "bob"), "", "hexagon", "round-robin", options=options
        )
        queued.send(resources, CUP, teams)
        with resources.database.writing() as session:
            values = queued.settings_for(settings, teams, 256)
            cup = queued.open_cup(session, CUP, settings, values)
            return session.scalars(select(Match.id).where(Match.competition_id == cup)).one()

    def row(self, resources: Resources) -> Match:
        with resources.database.reading() as session:
            return session.scalars(select(Match)).one()

    def test_what_cannot_be_played_fails_at_once_with_its_sentence(
        self, resources: Resources
    ) -> None:
        match = self.asked(resources, size=4000)
        Worker("me", 1, MATCH_TYPES).play(resources, match)
        row = self.row(resources)
        assert (row.state, row.attempt) == ("failed", 1)
        outcome = queued.outcome_of(resources, row.key, 1)
        assert outcome is not None
        assert outcome.error is not None
        assert "size" in outcome.error.message
        # Who asks again, as by `resume`, lets it be tried again.
        assert self.asked(resources, size=4000) == match
        assert self.row(resources).state == "queued"

    @NEEDS_BUBBLEWRAP
    def test_a_program_that_was_changed_in_the_store_is_not_unpacked(
        self, resources: Resources, tmp_path: Path
    ) -> None:
        (tmp_path / "bot.py").write_text("pass")
        bot = BotSpec("eve", "exec", f"{PYTHON} {tmp_path / 'bot.py'}")
        sent, digest = queued.send_program(resources.objects, CUP, bot, [])
        parcel = queued.Parcel({"eve": sent}, {"eve": digest}, "", "")
        (sent_program,) = queued.programs_of(resources.objects, CUP, parcel, ["eve"])
        with Room(lambda _: None) as room:
            room.add(sent_program)
            assert room.bot("eve", "paint").kind == "exec"
        key = queued.program_key(CUP, digest)
        resources.objects.delete(key)
        resources.objects.put_new(key, packages.pack({"bot.py": b"import evil"}))
        with pytest.raises(Failure, match="in the store is not what was sent"):
            list(queued.programs_of(resources.objects, CUP, parcel, ["eve"]))

    def test_it_has_a_page_and_what_it_was_sent_with_is_forgotten(
        self, resources: Resources, site: Site
    ) -> None:
        match = self.asked(resources, size=4)
        stored = resources.objects.get(queued.entrants_key(CUP)) or b""
        assert b"hush" not in stored
        Worker("me", 1, MATCH_TYPES).play(resources, match)
        row = self.row(resources)
        page = site.visitor().open(f"/match/{row.match_id}")
        assert page.status_code == 200
        assert "ann - bob" in page.text
        assert list(resources.objects.keys(queued.PREFIX))
        aged = replace(resources.settings, replay_days=1)
        keep_in_order(replace(by_clock(resources, next_week), settings=aged))
        assert list(resources.objects.keys(queued.PREFIX)) == []
