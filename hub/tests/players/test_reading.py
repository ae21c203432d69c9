"""What a hub takes from a player that a program has taken over."""

from __future__ import annotations

import base64
import io
import json
import zlib
from typing import Any, BinaryIO

import pytest

from cw.arena.bots import BotSpec
from cw.games.wire import Credits
from cw.matches.spec import Isolation, MatchSpec
from cw_hub.players import drafts, players, reading
from cw_hub.players.messages import Alive, Check, Draft, Live, Match, News, Piece, ReplayKeys, Turn
from cw_hub.players.players import Distrusted, Players
from cw_hub.players.reading import Allowance, Excess

BOT = BotSpec("bot", "builtin", "still")
CHECK = Check("paint", BOT, Isolation())
MATCH = Match(
    MatchSpec("m", "paint", (BOT,), 1), ReplayKeys("own", "viewed", "all"), Credits("m", [])
)
RUN = Draft("run", "paint", Isolation(), {}, 300)
STEP = b'{"type":"Answers","steps":[{"step":"x","ok":true}]}\n'
BOMB = zlib.compress(b" " * 8 * reading.MIB, 9)


class Hostile:
    """A player that a program has taken over: it writes what it likes."""

    def __init__(self, said: bytes) -> None:
        self.source: BinaryIO = io.BytesIO(said)
        self.target: BinaryIO = io.BytesIO()
        self.is_ended = False

    def is_there(self) -> bool:
        return not self.is_ended

    def end(self) -> None:
        self.is_ended = True


class Endless(io.BytesIO):
    """A player that is only alive; each of its lines takes a minute."""

    def __init__(self, clock: list[float]) -> None:
        super().__init__()
        self.clock = clock

    def readline(self, size: int | None = -1, /) -> bytes:
        self.clock[0] += 60
        return Alive().line() if self.clock[0] < 1e6 else b""


def slot(**values: Any) -> bytes:
    result = {"rank": 1, "score": 1.0, "faults": [], "stats": {"answers": 0}} | values
    replay = {"key": "own", "objects": [["own", base64.b64encode(b"{}").decode()]]}
    said = {"type": "Played", "reason": "x", "turns": 3, "slots": [result], "replay": replay}
    return json.dumps(said, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"Answers","steps":[{"step":"x","ok":true,"seen":"' + b"x" * 5_000_000 + b'"}]}\n',
        b'{"type":"Answers","steps":[{"step":"x","ok":true,"s":['
        + b"[]," * 1_200_000
        + b"[]]}]}\n",
        b'{"type":"Answers","steps":[{"step":' + b"[" * 200_000 + b"]" * 200_000 + b"}]}\n",
        b'{"type":"Answers","steps":[{"step":["x"],"ok":true}]}\n',
        b'{"type":"Answers","steps":[{"step":"x","ok":false}]}\n',
        b'{"steps":[],"type":"Answers"}\n',
        b'{"type":"News","report":{"words":"' + b"x" * 5_000_000 + b'"}}\n',
        b'{"type":"News","report":[1]}\n',
        slot(stats={"answers": 5, "median_ms": "x", "most_ms": {}}),
        slot(stats={"answers": 5}),
        slot(stats={"answers": 0, "died": [[[]]]}),
        slot(faults=[{}]),
        slot(faults=[{"kind": "crashed", "turn": "1", "detail": [1, 2]}]),
        slot(rank=10**18),
    ],
)
def test_a_line_that_no_player_writes_ends_it(line: bytes) -> None:
    hostile = Hostile(line + STEP)
    given = Players(connect=lambda _: hostile)
    with given.play(CHECK) as play, pytest.raises(Distrusted):
        list(play)
    assert hostile.is_ended


def test_what_a_player_writes_is_taken() -> None:
    fault = {"kind": "timeout", "turn": 2, "player": 0, "detail": "late", "answer": "[1, 2]"}
    stats = {"answers": 5, "median_ms": 1, "most_ms": 2.5, "died": None, "outputs": ["hello"]}
    assert reading.decoded(slot(faults=[fault], stats=stats))
    assert reading.decoded(STEP)


def take_often(allowance: Allowance, message: Live | News) -> None:
    for _ in range(10):
        allowance.take(message, 0)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (MATCH, Live(BOMB)),
        (MATCH, Live(b"no zlib")),
        (MATCH, Live(zlib.compress(b"0," * reading.MIB))),
        (RUN, News({}, (Piece("match", 0, 0, BOMB),))),
        (RUN, News({}, (Piece("replays", 0, 0, bytes(reading.MIB)),))),
        (RUN, News({}, (Piece("other", 0, 0, b""),))),
    ],
)
def test_a_task_reports_so_much_in_all(task: Match | Draft, message: Live | News) -> None:
    allowance = Allowance(task, 0)
    with pytest.raises(Excess):
        take_often(allowance, message)


def test_a_game_without_progress_is_late_and_one_that_goes_on_is_not() -> None:
    allowance = Allowance(MATCH, 0)
    for number in range(20):
        allowance.take(Turn(number), number * 500)
        assert not allowance.is_late(number * 500 + 500)
    allowance.take(Turn(3), 10_000)
    allowance.take(Alive(), 10_000)
    assert allowance.is_late(10_200)
    assert Allowance(MATCH, 0).is_late(reading.LONGEST_MATCH + 1)
    assert not Allowance(RUN, 0).is_late(359)
    assert Allowance(RUN, 0).is_late(361)


@pytest.mark.parametrize("task", [CHECK, MATCH, RUN])
def test_a_player_that_is_only_alive_is_ended(
    task: Match | Check | Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(players, "LOOKS", 0.01)
    clock = [0.0]
    hostile = Hostile(b"")
    hostile.source = Endless(clock)
    given = Players(connect=lambda _: hostile, clock=lambda: clock[0])
    with given.play(task) as play, pytest.raises(Distrusted, match="too long"):
        list(play)
    assert hostile.is_ended


@pytest.mark.parametrize(
    "data", [b"", b"1", b"[1]", b"[{}]", b'[{"turn": "1"}]', b"\xff", b"[" * 10**6]
)
def test_a_piece_that_no_player_writes_tells_of_no_turn(data: bytes) -> None:
    assert drafts.turn_in(drafts.packed(data), 1) == drafts.turn_in(None, 1)
