"""The results of runs and series in pieces of limited size, and how pages read them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from cw import documents
from cw.games.registry import load_endings
from cw.games.rules import Json
from cw.matches.processes.live_file import LiveDocument, LiveLines, live_document
from cw.matches.progress import MatchProgress
from cw.replays.document import Document
from cw.web.workshop.page_documents import turn_document
from cw.web.workshop.run import Run
from cw.workshop.series import Series
from cw_hub.players.messages import MATCH, REPLAYS, TURNS, Piece
from cw_hub.players.reading import KEPT, KEPT_UNPACKED, Room

AT_ONCE: Final = 100
"""Maximum number of turns in a piece."""

CUT: Final = "The match is too large to be shown to its end."


def fitting(room: Room, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield pieces until one does not fit."""
    for piece in pieces:
        if not room.fits(piece.data, is_unpacked=piece.kind != REPLAYS):
            return
        yield piece


class RunPieces:
    """Reports a run piece by piece."""

    def __init__(self, run: Run) -> None:
        """Start before the beginning of the match."""
        self._run = run
        self._lines = LiveLines()
        self._number = 0
        """Lines reported so far."""
        self._turn = 0
        """The first turn whose questions are not reported yet."""
        self._match, self._asked = (Room(KEPT, KEPT_UNPACKED) for _ in range(2))

    def news(self, *, is_over: bool) -> list[Piece]:
        """Return the new pieces; none before the start."""
        progress = self._run.match.progress
        if progress is None:
            return []
        played = len(progress.recorder.turns)
        return [
            *fitting(self._match, self._news_of_match(progress, played, is_over=is_over)),
            *fitting(self._asked, self._news_of_turns(played, is_over=is_over)),
        ]

    def amended(self, report: Json) -> Json:
        """Return the status text of the run, with a note if not everything could be stored."""
        return {**report, "words": f"{report['words']} {CUT}"} if self._match.is_full else report

    def _news_of_match(
        self, progress: MatchProgress, played: int, *, is_over: bool
    ) -> Iterator[Piece]:
        if self._number == 0:
            yield self._line(self._lines.head(progress))
        while self._lines.turns < played:
            yield self._line(self._lines.news(progress, AT_ONCE))
        if is_over:
            # The result may have arrived after the last turn.
            yield self._line(self._lines.news(progress, AT_ONCE))

    def _line(self, line: bytes) -> Piece:
        number, self._number = self._number, self._number + 1
        return Piece(MATCH, number, number, packed(line))

    def _news_of_turns(self, played: int, *, is_over: bool) -> Iterator[Piece]:
        """Yield the questions of finished turns, and at the end those of the last one."""
        end = played + load_endings(self._run.match.spec.game).first + is_over
        while self._turn < end:
            first, self._turn = self._turn, min(self._turn + AT_ONCE, end)
            turns = [turn_document(self._run, number) for number in range(first, self._turn)]
            asked = [turn for turn in turns if turn["exchanges"]]
            yield Piece(TURNS, first, self._turn - 1, packed(msgspec.json.encode(asked)))


class SeriesPieces:
    """Reports the replays of a series."""

    def __init__(self, number: int = 0) -> None:
        """Skip this many matches."""
        self._number = number
        self._room = Room(KEPT, KEPT_UNPACKED)

    def news(self, series: Series | None, end: int) -> list[Piece]:
        """Return the replays of newly ended matches, among the first `end` matches."""
        matches = [] if series is None else series.matches[self._number : end]
        self._number += len(matches)
        files = [(match.number, match.file) for match in matches if match.file is not None]
        replays = (Piece(REPLAYS, number, number, file.read_bytes()) for number, file in files)
        return list(fitting(self._room, replays))


def packed(data: bytes) -> bytes:
    """Return data compressed for storage."""
    return zlib.compress(data, 1)


def unpacked(data: bytes) -> bytes:
    """Return decompressed data, at most KEPT_UNPACKED bytes."""
    return zlib.decompressobj().decompress(data, KEPT_UNPACKED)


def match_so_far(pieces: Sequence[bytes], after: int | None) -> LiveDocument | None:
    """Return the match in pieces, or what came after some turns; None if there are none."""
    return live_document([unpacked(piece) for piece in pieces], after) if pieces else None


def replay_of(pieces: Sequence[bytes]) -> Document | None:
    """Return the match in some pieces as a document for analyses, or None if there are none."""
    match = match_so_far(pieces, None)
    if match is None:
        return None
    document: Document = msgspec.json.decode(msgspec.json.encode(match))
    while document["more"]:
        rest = msgspec.json.encode(match_so_far(pieces, len(document["turns"])))
        more = msgspec.json.decode(rest)
        document |= {"turns": document["turns"] + more["turns"], "more": more["more"]}
    return document


def turn_in(piece: bytes | None, number: int) -> dict[str, Any]:
    """Return what the bot was asked in a turn, or an empty turn if the piece does not cover it."""
    nothing = {"turn": number, "exchanges": [], "faults": [], "action": None}
    try:
        turns = [] if piece is None else documents.decode(unpacked(piece), list[dict[str, Any]])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return nothing
    return next((turn for turn in turns if turn.get("turn") == number), nothing)
