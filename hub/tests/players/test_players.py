"""Processes that play: what they know, what they are given, and how they end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from cw.arena.bots import BotSpec
from cw.arena.processes import PROC
from cw.errors import UsageError
from cw.games.wire import Credit, Credits
from cw.matches.spec import Isolation, MatchSpec
from cw_hub.players import messages, players, reading
from cw_hub.players import players as players_players
from cw_hub.players.messages import Match, Played, ReplayKeys
from cw_hub.players.players import Child, PlayerGone, Players, PlayersAway

NEEDS_PROC = pytest.mark.skipif(not PROC.is_dir(), reason="this system has no /proc")


class Started(Players):
    """Players of a test, which knows their processes."""

    def __init__(self) -> None:
        self.children: list[Child] = []
        super().__init__(connect=self.start)

    def start(self, _: str) -> Child:
        self.children.append(Child())
        return self.children[-1]

    def process(self, number: int = -1) -> subprocess.Popen[bytes]:
        return self.children[number]._process


@pytest.fixture
def own() -> Iterator[Started]:
    with closing(Started()) as players:
        yield players


def match(game: str = "hexagon", *bots: str, **options: Any) -> Match:
    seats = tuple(
        BotSpec(f"bot{n}", "builtin", bot) for n, bot in enumerate(bots or ("random",) * 2)
    )
    names = Credits("m", [Credit(bot.name, "") for bot in seats])
    return Match(MatchSpec("m", game, seats, 1, options), ReplayKeys("own", "viewed", "all"), names)


@pytest.fixture
def endless() -> Iterator[Match]:
    """A match whose first answer never comes."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        task = match("end-of-codes", "hunter", "hunter", timeout=3600)
        bots = (task.spec.bots[0], BotSpec("silent", "http", address))
        yield replace(task, spec=replace(task.spec, bots=bots))


def played(players: Players, task: Match) -> Played:
    with players.play(task) as play:
        return next(message for message in play if isinstance(message, Played))


def test_a_player_is_used_again_and_ends_with_the_hub(own: Started) -> None:
    first, second = played(own, match()), played(own, match())
    assert first.slots[0].rank == second.slots[0].rank
    assert len(own.children) == 1
    own.close()
    assert own.process().poll() == 0


def test_what_cannot_be_played_is_said_in_its_sentence_and_its_player_is_not_used_again(
    own: Started,
) -> None:
    with pytest.raises(UsageError, match="no strategy"):
        played(own, match("hexagon", "no-such", "random"))
    assert own.process().poll() is not None
    played(own, match())
    assert len(own.children) == 2


@NEEDS_PROC
def test_a_player_knows_no_setting_and_no_key(
    own: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CW_MASTER_KEYS", "CW_DATABASE_URL", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD"):
        monkeypatch.setenv(name, "of the hub")
    # A player of others' programs, which may be without a sandbox, hides its environment.
    task = match()
    played(own, replace(task, spec=replace(task.spec, isolation=Isolation("require"))))
    environment = (PROC / str(own.process().pid) / "environ").read_bytes()
    assert b"of the hub" not in environment
    names = {entry.partition(b"=")[0].decode() for entry in environment.split(b"\0") if entry}
    assert names <= players_players.KEPT


def test_a_player_imports_no_database_and_no_store() -> None:
    modules = "sqlalchemy obstore celery redis cryptography alembic cw_hub.store cw_hub.operation"
    text = "import sys, cw_hub.players.process, cw_hub.players.drafts\nprint([name for name in"
    text += f" {modules.split()} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True)
    assert ended.stdout.strip() == "[]"


def test_a_player_that_dies_is_the_trouble_of_its_task_alone(own: Started, endless: Match) -> None:
    with own.play(endless) as play:
        messages = iter(play)
        next(messages)
        own.process().kill()
        with pytest.raises(PlayerGone):
            list(messages)
    played(own, match())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows stops no process")
def test_a_player_that_is_silent_is_ended(
    own: Started, endless: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(players, "LOOKS", 0.1)
    monkeypatch.setattr(players_players, "GRACE", 0.1)
    with own.play(endless) as play:
        messages = iter(play)
        next(messages)
        os.kill(own.process().pid, signal.SIGSTOP)
        monkeypatch.setattr(players, "SILENCE", 1.0)
        with pytest.raises(PlayerGone):
            list(messages)
    assert own.process().poll() is not None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_a_signal_to_all_processes_of_a_hub_breaks_no_match_off(own: Started) -> None:
    played(own, match())
    with own.play(match("code-battle", "swarm", "rusher", max_turns=200)) as play:
        os.kill(own.process().pid, signal.SIGTERM)
        assert any(isinstance(message, Played) for message in play)
    assert len(own.children) == 1


def test_a_player_that_starts_while_its_match_is_broken_off_is_ended() -> None:
    children: list[Child] = []

    def start(_: str) -> Child:
        children.append(Child())
        play.close()
        return children[-1]

    with closing(Players(connect=start)) as players, players.play(match()) as play:
        with pytest.raises(PlayerGone, match="broken off"):
            list(play)
        assert not children[0].is_there()


def test_nothing_is_kept_of_a_player_that_died_between_two_matches(own: Started) -> None:
    played(own, match())
    own.process().kill()
    own.process().wait()
    played(own, match())
    first, _ = own.children
    assert first.target.closed


def test_a_player_whose_hub_has_vanished_ends(own: Started, endless: Match) -> None:
    with own.play(endless) as play:
        next(iter(play))
        own.children[-1].target.close()
        assert own.process().wait(60) == 0


def test_a_player_whose_hub_vanishes_with_its_task_sent_ends(endless: Match) -> None:
    for _ in range(3):
        child = Child()
        child.target.write(endless.line())
        child.target.close()
        try:
            child._process.wait(60)
        finally:
            child.end()


def test_what_is_no_message_ends_a_player() -> None:
    child = Child()
    child.target.write(b'{"type": "Match", "spec": 1}\n')
    assert child._process.wait(60) == 0
    child.end()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such sockets")
def test_players_that_do_not_answer_are_said_in_a_sentence(tmp_path: Path) -> None:
    away = Players(f"unix:{tmp_path / 'players.sock'}")
    with pytest.raises(PlayersAway, match=r"cannot be reached: .*start their service"):
        played(away, match())


def test_each_message_has_one_type_and_reads_back() -> None:
    task = match()
    assert reading.decoded(messages.Turn(3).line()) == messages.Turn(3)
    assert messages.Match.__struct_config__.forbid_unknown_fields
    assert task.line().endswith(b"\n")
