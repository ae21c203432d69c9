"""Matches of Circuit Wars between real clients: whoever leads them, the rules hold."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cw import kits
from cw.arena.bots import read_bots
from cw.errors import Abandoned
from cw.games.circuit_wars.rules import CircuitWars
from cw.games.registry import load_game
from cw.matches.progress import MatchProgress
from cw.matches.run import run_match
from cw.matches.spec import Isolation, MatchSpec
from cw.replays.verify import verify
from tests.interpreter import PYTHON
from tests.matches.playing import Played, play_match

HONEST = """
import json, os, sys, time, urllib.request

def ask(path):
    with urllib.request.urlopen(os.environ["CW_SERVER"] + path) as answer:
        return json.load(answer)

def free(status):
    size = status["board_size"]
    for y in range(size):
        for x in range(size):
            for name, bit in (("top", 1), ("right", 2), ("bottom", 4), ("left", 8)):
                if not status["board"][y][x] & (bit | 48):
                    return f"{x},{y},{name}"

me = ask("/reg/" + sys.argv[1])["player"]
while (status := ask("/status"))["status_code"] < 300:
    if status["status_code"] == 200 + me:
        ask(f"/move/{sys.argv[1]}/{free(status)}")
    time.sleep(0.01)
"""

BOTH = pytest.mark.parametrize("sandbox", ["auto", pytest.param("off", marks=pytest.mark.thorough)])


def client(folder: Path, name: str, *changes: tuple[str, str]) -> str:
    """Return the argument of a client that is honest but for the changes."""
    source = HONEST
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    place = folder / name
    place.mkdir()
    (place / "client.py").write_text(source)
    return f"{name}=exec:{PYTHON} {place / 'client.py'} {name}"


def play(bots: list[str], sandbox: Any, **options: Any) -> Played:
    played = play_match("circuit-wars", bots, 5, {"size": 3, **options}, sandbox=sandbox)
    assert verify(load_game("circuit-wars"), played.replay) is None
    return played


@BOTH
def test_two_clients_play_to_the_end(tmp_path: Path, sandbox: str) -> None:
    result = play([client(tmp_path, "ann"), client(tmp_path, "bob")], sandbox).result
    assert (result.reason, result.faults) == ("finished", ())
    assert sorted(result.ranks) == [1, 2]  # type: ignore[type-var]
    assert sum(map(len, result.seconds)) == result.turns


def test_a_kit_registers_under_the_name_that_it_must_have(tmp_path: Path) -> None:
    kits.new_bot("circuit-wars", "python", tmp_path / "kit")
    bots = [f"Wirey=exec:{PYTHON} {tmp_path / 'kit/bot.py'}", "builtin:random"]
    options = {"size": 3, "timeout": 60}
    result = play_match("circuit-wars", bots, 5, options, ["Wirey.username=Wirey"]).result
    assert (result.reason, result.faults) == ("finished", ())


@BOTH
@pytest.mark.parametrize("first", [True, False])
def test_a_client_plays_against_a_strategy(tmp_path: Path, sandbox: str, first: bool) -> None:
    bots = [client(tmp_path, "ann"), "builtin:random"]
    result = play(bots if first else bots[::-1], sandbox).result
    assert (result.reason, result.faults) == ("finished", ())


@BOTH
@pytest.mark.parametrize(
    ("old", "new", "reason", "kind", "detail"),
    [
        ("if status[", "if True or status[", "illegal", "illegal", "is not"),
        ("{free(status)}", "9,9,top", "illegal", "illegal", "off the board"),
        ("{free(status)}", "nonsense", "illegal", "illegal", "cannot be read as a move"),
        ("{free(status)}", "", "illegal", "illegal", "cannot be read as a move"),
        ('ask(f"/move', 'sys.exit(3); ask(f"/move', "illegal", "crashed", "exit code 3"),
        ('ask(f"/move', 'time.sleep(600); ask(f"/move', "timeout", "timeout", "within 5 s"),
        ('me = ask("/reg/"', 'sys.exit(3); ask("/reg/"', "illegal", "startup", "exit code 3"),
        ("import json", "import numbskull, json", "illegal", "startup", "numbskull"),
    ],
)
def test_a_client_that_fails_loses_in_its_turn(  # noqa: PLR0917
    tmp_path: Path, sandbox: str, old: str, new: str, reason: str, kind: str, detail: str
) -> None:
    bots = [client(tmp_path, "ann"), client(tmp_path, "bob", (old, new))]
    timeout = 5 if kind == "timeout" else 60
    result = play(bots, sandbox, timeout=timeout).result
    assert (result.reason, result.winner) == (reason, 0)
    (fault,) = result.faults
    assert (fault.bot, fault.kind) == (1, kind)
    assert detail in fault.detail


@BOTH
def test_who_moves_before_the_game_has_started_has_lost(tmp_path: Path, sandbox: str) -> None:
    early = client(tmp_path, "ann", ("while (status", 'ask("/move/ann/0,0,top")\nwhile (status'))
    result = play(
        [early, client(tmp_path, "bob", ("me = ask", "time.sleep(600); me = ask"))], sandbox
    ).result
    assert (result.winner, result.faults[0].bot) == (1, 0)
    assert "not started" in result.faults[0].detail


def test_a_recorded_position_is_played_on() -> None:
    rules, codec = CircuitWars(), load_game("circuit-wars").codec
    start = rules.new(2, 9, size=3, openings=8)
    document = codec.state_to_json(start)
    bots = ["builtin:random", "builtin:random"]
    played = play_match("circuit-wars", bots, 1, {"size": 3}, start=document)
    assert played.replay["start"] == document
    assert played.result.turns < 21


@pytest.mark.parametrize("game", ["circuit-wars", "paint"])
def test_whoever_watches_may_stop_a_match(game: str, tmp_path: Path) -> None:
    bots = ["builtin:random", "builtin:random"]
    if game == "circuit-wars":
        bots = [client(tmp_path, "ann"), client(tmp_path, "bob")]

    def stop(progress: MatchProgress) -> None:
        if progress.turns == 3:
            raise Abandoned("enough was seen")

    spec = MatchSpec("stopped", game, tuple(read_bots(bots).bots), 1)
    with pytest.raises(Abandoned, match="enough"):
        asyncio.run(run_match(spec, on_turn=stop))


def test_cancelling_leaves_nothing_running(tmp_path: Path) -> None:
    bots = read_bots([client(tmp_path, "ann"), client(tmp_path, "bob")]).bots
    spec = MatchSpec("cancelled", "circuit-wars", tuple(bots), 1, {"size": 31})

    async def play() -> None:
        begun = asyncio.Event()
        match = asyncio.create_task(
            run_match(spec, on_turn=lambda progress: begun.set() if progress.turns == 2 else None)
        )
        await begun.wait()
        match.cancel()
        with pytest.raises(asyncio.CancelledError):
            await match

    asyncio.run(play())


def test_private_addresses_can_be_forbidden() -> None:
    bots = read_bots(["builtin:random", "http://127.0.0.1:9"]).bots
    faults = []
    for networks in ((), ("127.0.0.0/8",)):
        isolation = Isolation(addresses="public", networks=networks)
        spec = MatchSpec("forbidden", "hexagon", tuple(bots), 1, {"size": 3}, isolation=isolation)
        faults.append(asyncio.run(run_match(spec)).faults[0].detail)
    assert "is a private address" in faults[0]
    assert "nothing listens" in faults[1]
