"""Recorded matches of Circuit Wars: one JSON object per line, and the moves as a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, BinaryIO, Final

import msgspec
from msgspec import Meta

from cw.championship.entries import Count, Entry, EntryFault, Name, Number, decoded
from cw.errors import ProtocolError
from cw.games.circuit_wars.endings import ENDINGS
from cw.games.circuit_wars.protocol import STATUS
from cw.games.rules import Json
from cw.league.fixtures import Result
from cw.matches.spec import MatchResult

LONGEST_LINE: Final = 256 * 1024
"""Maximum bytes of a line; a match with all its moves is below 64 KiB on the largest board."""

ENDED: Final[Mapping[int, str]] = {3: "finished", 4: "illegal", 5: "timeout"}
"""Why a match ended, by the first digit of its status code."""

KINDS: Final[Mapping[str, int]] = {ended: kind for kind, ended in ENDED.items()}

NOT_PLAYED: Final = 100
"""The status code of a match that was called off before its start."""

Points = Annotated[int, Meta(ge=0, le=31 * 31)]


class RecordedLine(msgspec.Struct, frozen=True):
    """The required members of a line, which may have others."""

    player_1: Name
    player_2: Name
    status_code: Annotated[int, Meta(ge=0, le=999)]
    score_1: Points
    score_2: Points
    group: Name | None = None
    stage: Name | None = None
    extra: Count = 0
    size: Annotated[int, Meta(ge=1, le=31)] = 7


@dataclass(frozen=True, slots=True)
class RecordedMatch:
    """A finished match, and its position in the contest."""

    group: str | None
    stage: str | None
    tie_break: int
    """The number of its pair of tie-break matches; 0 for other matches."""
    result: Result


def read_results(stream: BinaryIO) -> Iterator[RecordedMatch]:
    """Read recorded matches; raise ProtocolError that names an invalid line."""
    number = 0
    while text := stream.readline(LONGEST_LINE + 1):
        number += 1
        try:
            if text.strip():
                yield read_line(text)
        except ProtocolError as error:
            raise ProtocolError(f"line {number}: {error}") from None


def read_line(text: bytes) -> RecordedMatch:
    """Read one recorded match; raise ProtocolError if invalid."""
    if len(text) > LONGEST_LINE:
        raise ProtocolError(f"longer than {LONGEST_LINE} bytes")
    line = decoded(text, RecordedLine)
    for name in (line.player_1, line.player_2, line.group or "", line.stage or ""):
        if not name.isprintable():
            raise ProtocolError(f"the name {name!a} contains a character that cannot be printed")
    if line.player_1 == line.player_2:
        raise ProtocolError(f"{line.player_1} cannot play against itself")
    return RecordedMatch(line.group, line.stage, line.extra, result_of(line))


def result_of(line: RecordedLine) -> Result:
    """Return the result for a status code; raise ProtocolError if it does not end a match."""
    kind, player = divmod(line.status_code, 100)
    if line.status_code not in STATUS or kind not in ENDED:
        codes = ", ".join(str(code) for code in STATUS if code // 100 in ENDED)
        raise ProtocolError(
            f"status_code {line.status_code} is not that of a finished game; expected one of "
            f"{codes}"
        )
    teams, score = (line.player_1, line.player_2), (line.score_1, line.score_2)
    if ENDED[kind] != "finished":
        return forfeited(teams, player - 1, ENDED[kind], line.size)
    if score[player - 1] <= score[2 - player]:
        raise ProtocolError(f"player {player} cannot have won with {score[0]}:{score[1]}")
    return Result(teams, (player, 3 - player), score)


def forfeited(teams: tuple[str, str], loser: int, ended: str, size: int) -> Result:
    """Score a match that the loser did not finish: the other team gets every square.

    `loser` is the seat number, from 0; `size` is that of the board.
    """
    ranks = (2, 1) if loser == 0 else (1, 2)
    return Result(teams, ranks, ENDINGS.forfeit((0, 0), {loser}, {"size": size}), ended)


class Reason(msgspec.Struct, frozen=True):
    """A player's fault, as stored in a line."""

    turn: Count
    player: Annotated[int, Meta(ge=1, le=2)]
    kind: str
    detail: str


class JournalLine(RecordedLine, frozen=True, kw_only=True):
    """A match as a line of a championship's journal."""

    stage: Name
    round: Number
    first: Name
    second: Name
    seed: Count = 0
    turns: Count = 0
    reasons: tuple[Reason, ...] = ()
    longest_ms: tuple[Count, ...] = ()
    median_ms: tuple[Count, ...] = ()
    stderr: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedLines:
    """The journal lines of Circuit Wars: recorded matches with their fixtures."""

    size: int
    """Number of squares per row of the board."""

    def write(self, entry: Entry) -> dict[str, Json]:
        """Return an entry as a journal line."""
        first, second = entry.players
        return {
            "stage": entry.stage,
            "group": entry.group,
            "round": entry.round,
            "first": first,
            "second": second,
            "extra": entry.tie_break,
            "player_1": first,
            "player_2": second,
            "status_code": status_code(entry),
            "score_1": entry.scores[0],
            "score_2": entry.scores[1],
            "size": self.size,
            "seed": entry.seed,
            "turns": entry.turns,
            "reasons": [
                {"turn": f.turn, "player": f.seat + 1, "kind": f.kind, "detail": f.detail}
                for f in entry.faults
            ],
            "longest_ms": list(entry.longest_ms),
            "median_ms": list(entry.median_ms),
            "stderr": list(entry.stderr),
        }

    def read(self, text: bytes) -> Entry:
        """Read a line; raise ProtocolError if invalid."""
        result = read_line(text).result
        line = decoded(text, JournalLine)
        if (line.first, line.second) != result.players:
            raise ProtocolError(f"{line.first} and {line.second} are not the players of this match")
        return Entry(
            line.stage,
            line.group,
            line.round,
            result.players,
            line.extra,
            ranks=result.ranks,
            scores=(line.score_1, line.score_2),
            reason=result.ended,
            seed=line.seed,
            turns=line.turns,
            faults=tuple(EntryFault(r.player - 1, r.turn, r.kind, r.detail) for r in line.reasons),
            longest_ms=line.longest_ms,
            median_ms=line.median_ms,
            stderr=line.stderr,
        )

    def result(self, entry: Entry) -> Result:
        """Return the match result; if one team did not finish, the other one gets all squares."""
        if not is_forfeit(entry):
            return Result(entry.players, entry.ranks, entry.scores)
        first, second = entry.players
        return forfeited((first, second), loser_of(entry), entry.reason, self.size)

    def forfeits(self, entry: Entry) -> tuple[str | None, ...]:
        """Return by seat the fault that forfeited the match, or None; other faults do not count."""
        if not is_forfeit(entry):
            return (None, None)
        loser = loser_of(entry)
        absent = any(fault.seat == loser and fault.kind == "startup" for fault in entry.faults)
        kind = "startup" if absent else entry.reason
        return (kind, None) if loser == 0 else (None, kind)


def is_forfeit(entry: Entry) -> bool:
    """Return whether a match was lost by not finishing it; nobody lost one that was not played."""
    return entry.reason != "finished" and 2 in entry.ranks


def loser_of(entry: Entry) -> int:
    """Return the loser's seat number, from 0."""
    return entry.ranks.index(2)


def status_code(entry: Entry) -> int:
    """Return the status code of a match: of a finished game, or of one that has not started."""
    if 2 not in entry.ranks:
        return NOT_PLAYED
    loser = loser_of(entry)
    named = 1 - loser if entry.reason == "finished" else loser
    return 100 * KINDS[entry.reason] + named + 1


def log_of(entry: Entry, result: MatchResult) -> str:
    """Return a match as a recorded log: its moves, then its status code, teams and scores."""
    moves = [
        f"/move/{entry.players[int(player) - 1]}/{action}"
        for turn in result.replay["turns"]
        for player, action in turn["actions"].items()
        if isinstance(action, str)
    ]
    scores = " ".join(map(str, entry.scores))
    end = ["----", str(status_code(entry)), " ".join(entry.players), scores]
    return "\n".join([*moves, *end, ""])
