"""Recorded results: one JSON object a line for each game."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, BinaryIO, Final

import msgspec
from msgspec import Meta

from cw.errors import ProtocolError
from cw.games.circuit_wars.protocol import STATUS
from cw.league.fixtures import Ended, Result, forfeited

LONGEST_LINE: Final = 256 * 1024
"""Bytes; a recorded game with all its moves is below 64 KiB on the largest board."""

ENDED: Final[dict[int, Ended]] = {3: "finished", 4: "illegal", 5: "timeout"}
"""Why a game was over, by the first digit of its status code."""

Name = Annotated[str, Meta(min_length=1, max_length=100)]
Points = Annotated[int, Meta(ge=0, le=31 * 31)]


class RecordedLine(msgspec.Struct, frozen=True):
    """What a line must hold; it may hold more."""

    player_1: Name
    player_2: Name
    status_code: Annotated[int, Meta(ge=0, le=999)]
    score_1: Points
    score_2: Points
    group: Name | None = None
    stage: Name | None = None
    extra: Annotated[int, Meta(ge=0)] = 0
    size: Annotated[int, Meta(ge=1, le=31)] = 7


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A game that is over, and what it was played for."""

    group: str | None
    stage: str | None
    extra: int
    """The number of the pair of further games that broke a tie, else 0."""
    result: Result


def read_results(stream: BinaryIO) -> Iterator[RecordedGame]:
    """Read recorded games; raise ProtocolError that names the line which cannot be used."""
    number = 0
    while text := stream.readline(LONGEST_LINE + 1):
        number += 1
        try:
            if text.strip():
                yield read_line(text)
        except ProtocolError as error:
            raise ProtocolError(f"line {number}: {error}") from None


def read_line(text: bytes) -> RecordedGame:
    """Read one recorded game; raise ProtocolError with what is wrong."""
    if len(text) > LONGEST_LINE:
        raise ProtocolError(f"longer than {LONGEST_LINE} bytes")
    try:
        line = msgspec.json.decode(text, type=RecordedLine)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"no result of a game: {error}") from None
    for name in (line.player_1, line.player_2, line.group or "", line.stage or ""):
        if not name.isprintable():
            raise ProtocolError(f"the name {name!a} holds a sign that cannot be printed")
    if line.player_1 == line.player_2:
        raise ProtocolError(f"{line.player_1} cannot play against itself")
    return RecordedGame(line.group, line.stage, line.extra, result_of(line))


def result_of(line: RecordedLine) -> Result:
    """Count a game by its status code; raise ProtocolError for a code that ends no game."""
    kind, player = divmod(line.status_code, 100)
    if line.status_code not in STATUS or kind not in ENDED:
        codes = ", ".join(str(code) for code in STATUS if code // 100 in ENDED)
        raise ProtocolError(f"status_code {line.status_code} ends no game; those that do: {codes}")
    named = (line.player_1, line.player_2)[player - 1]
    if ENDED[kind] != "finished":
        return forfeited(line.player_1, line.player_2, named, ENDED[kind], line.size)
    score = (line.score_1, line.score_2)
    if score[player - 1] <= score[2 - player]:
        raise ProtocolError(f"player {player} cannot have won with {score[0]}:{score[1]}")
    return Result(line.player_1, line.player_2, named, score)
