"""What a hub accepts from a player: lines of limited size, typed values, and a quota per task.

A program that escapes its sandbox can write its player's lines, so the reader enforces all limits
before it decodes them.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated, BinaryIO, Final, TypeAlias

import msgspec
from msgspec import Meta

from cw import documents
from cw_hub.players.messages import (
    LARGEST_LINE,
    MATCH,
    OUTPUTS,
    REPLAYS,
    TURNS,
    Answered,
    Answers,
    Ask,
    Check,
    Done,
    Draft,
    FromPlayer,
    Live,
    Match,
    Measure,
    News,
    Played,
    Ready,
    SlotResult,
    Task,
    Turn,
)

MIB: Final = 1024 * 1024

BEGINNING: Final = re.compile(rb'\{"type":"([A-Za-z]{1,20})"[,}]')
"""Matches the beginning of every line."""

LOOKED_AT: Final = 64
"""Number of bytes of a line that are read before its limit is known."""

LARGEST: Final = 4 * MIB
"""Maximum bytes of a line that contains no files."""

LARGEST_OF: Final[Mapping[bytes, int]] = {
    b"Live": 3 * MIB,
    b"Built": 44 * MIB,
    b"News": 40 * MIB,
    b"Done": 40 * MIB,
    b"Played": LARGEST_LINE,
}
"""Maximum bytes of a line that contains files in base64, by message type."""

MOST_TEXT: Final = 16 * MIB
"""Maximum bytes of a line in addition to files; a match may have thousands of faults."""

MOST_REPORT: Final = 1 * MIB
"""Maximum bytes of the report of a workshop task."""

MOST_VALUES: Final = 1_000_000
"""Maximum number of lists, objects and their members in a line; those inside strings count too."""

SHOWN, SHOWN_UNPACKED = 2 * MIB, 32 * MIB
"""Maximum bytes of a game shown to spectators; the rest can only be seen after its end."""

KEPT, KEPT_UNPACKED = 8 * MIB, 64 * MIB
"""Maximum bytes of a task's pieces of one kind; further ones are not stored."""

BYTES_OF_A_VALUE: Final = 10
"""Minimum average bytes per value in stored or shown JSON; decoded, each takes about 70 more."""

STALLED: Final = 600.0
"""Seconds without progress after which a task counts as stalled."""

LONGEST_MATCH: Final = 6 * 3600.0
"""Maximum duration of a game in seconds, whatever its progress."""

MARGIN: Final = 60.0
"""Seconds allowed beyond the limit that a workshop task sets for itself."""

DECODER: Final = msgspec.json.Decoder(FromPlayer)


class Excess(Exception):
    """A player has broken the protocol or its limits."""


class Texts(msgspec.Struct):
    """The parts of a line other than files, before they are decoded."""

    reason: msgspec.Raw = msgspec.Raw()
    slots: msgspec.Raw = msgspec.Raw()
    warnings: msgspec.Raw = msgspec.Raw()
    name: msgspec.Raw = msgspec.Raw()
    cause: msgspec.Raw = msgspec.Raw()
    report: msgspec.Raw = msgspec.Raw()
    news: msgspec.Raw = msgspec.Raw()


TEXTS: Final = msgspec.json.Decoder(Texts)

Text: TypeAlias = Annotated[str, Meta(max_length=65_536)]
Plain: TypeAlias = Text | int | float | bool | None
Place: TypeAlias = Text | Annotated[int, Meta(ge=-(2**53), le=2**53)] | None
Milliseconds: TypeAlias = Annotated[float, Meta(ge=0, le=1e9)]


class Step(msgspec.Struct, forbid_unknown_fields=True):
    """A step of a check."""

    step: Text
    ok: bool
    problem: Text | None = None
    fix: Text = ""
    warning: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError if a failed step states no problem."""
        if not self.ok and self.problem is None:
            raise ValueError("a step that failed says no problem")


class Fault(msgspec.Struct, forbid_unknown_fields=True):
    """A fault of a bot in a game."""

    kind: Text
    turn: Place = None
    player: Place = None
    detail: Text = ""
    expected: Text = ""
    actual: Text = ""
    answer: Text = ""


class Stats(msgspec.Struct):
    """A bot's response times, in addition to the statistics of its game."""

    answers: Annotated[int, Meta(ge=0, le=2**53)] = 0
    median_ms: Milliseconds | None = None
    most_ms: Milliseconds | None = None
    outputs: list[Text] = []

    def __post_init__(self) -> None:
        """Raise ValueError if there are replies without times."""
        if self.answers and (self.median_ms is None or self.most_ms is None):
            raise ValueError("answers without their times")


def limit_of(beginning: bytes) -> int:
    """Return the size limit of a line with this beginning; raise Excess if it is not a message."""
    tag = BEGINNING.match(beginning)
    if tag is None:
        raise Excess("a line does not begin with its type")
    return LARGEST_OF.get(tag[1], LARGEST)


def line_from(source: BinaryIO) -> bytes:
    """Return the next line, without a newline if the output ends in it; raise Excess."""
    line = source.readline(LOOKED_AT)
    if not line.endswith(b"\n") and len(line) < LOOKED_AT:
        return line
    most = limit_of(line)
    if not line.endswith(b"\n"):
        line += source.readline(most - len(line))
    if len(line) == most and not line.endswith(b"\n"):
        raise Excess("a line is too long")
    return line


def decoded(line: bytes) -> FromPlayer:
    """Return a line's message; raise Excess if no player would write it."""
    if sum(map(line.count, (b"[", b"{", b","))) > MOST_VALUES:
        raise Excess("a line has too many values")
    try:
        if len(line) > LARGEST:
            refuse_long(TEXTS.decode(line))
        message: FromPlayer = DECODER.decode(line)
        refuse_untyped(message)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Excess(f"a line cannot be read: {error}") from None
    return message


def refuse_long(texts: Texts) -> None:
    """Raise Excess if a line's text is too long."""
    parts = (texts.reason, texts.slots, texts.warnings, texts.name, texts.cause, texts.report)
    if sum(len(memoryview(part)) for part in parts) > MOST_TEXT:
        raise Excess("a line has too much text")
    if len(memoryview(texts.report)) > MOST_REPORT:
        raise Excess("a report is too long")
    if bytes(texts.news).startswith(b"{"):
        refuse_long(TEXTS.decode(texts.news))


def refuse_untyped(message: FromPlayer) -> None:
    """Raise ValidationError or Excess if values have types that pages cannot show."""
    if isinstance(message, Answers | Answered):
        documents.convert(message.steps or (), tuple[Step, ...])
    elif isinstance(message, Played):
        for slot in message.slots:
            refuse_slot(slot, len(message.slots))
    elif isinstance(message, News | Done):
        news = message.news if isinstance(message, Done) else message
        if news is not None and not isinstance(news.report, dict | None):
            raise Excess("a report is no object")


def refuse_slot(slot: SlotResult, slots: int) -> None:
    """Raise ValidationError or Excess if the result of a slot cannot be shown."""
    if slot.rank is not None and not 1 <= slot.rank <= slots:
        raise Excess("a rank is none of the match")
    documents.convert(slot.faults, list[Fault])
    documents.convert(slot.stats, Stats)
    figures = {name: value for name, value in slot.stats.items() if name != OUTPUTS}
    documents.convert(figures, dict[Text, Plain])


class Room:
    """The remaining quota for compressed JSON: bytes, packed and unpacked, and values."""

    def __init__(self, packed: int, unpacked: int) -> None:
        """Start with the full quota."""
        self._packed, self._unpacked = packed, unpacked
        self._values = unpacked // BYTES_OF_A_VALUE

    @property
    def is_full(self) -> bool:
        """Whether something did not fit."""
        return min(self._packed, self._unpacked, self._values) < 0

    def fits(self, data: bytes, *, is_unpacked: bool = True) -> bool:
        """Count data; return whether it fits. Once something did not fit, nothing does."""
        if not self.is_full:
            self._packed -= len(data)
        if is_unpacked and not self.is_full:
            size, values = unpacked_size(data, self._unpacked + 1)
            self._unpacked -= size
            self._values -= values
        return not self.is_full


def unpacked_size(data: bytes, most: int) -> tuple[int, int]:
    """Return the size of data when unpacked, up to `most`, and its number of commas.

    Invalid data counts as too long.
    """
    packing, size, commas = zlib.decompressobj(), 0, 0
    try:
        while data and size < most:
            part = packing.decompress(data, min(MIB, most - size))
            size += len(part)
            commas += part.count(b",")
            data = packing.unconsumed_tail
    except zlib.error:
        return most, commas
    return size, commas


class Allowance:
    """How much and for how long a player may report on one task."""

    def __init__(self, task: Task, now: float) -> None:
        """Start with the full quota."""
        self._task = task
        self._live = Room(SHOWN, SHOWN_UNPACKED)
        self._kept: defaultdict[str, Room] = defaultdict(lambda: Room(KEPT, KEPT_UNPACKED))
        self._turn = -1
        self._answered = set[int]()
        self._ends = now + longest(task)
        self._progress = now

    def is_late(self, now: float) -> bool:
        """Return whether the task takes too long, or has stalled."""
        return now > self._ends or now - self._progress > max(STALLED, self._patience)

    @property
    def _patience(self) -> float:
        return longest(self._task) if isinstance(self._task, Draft) else STALLED

    def take(self, message: FromPlayer, now: float) -> None:
        """Count a message; raise Excess if it exceeds what the task may report."""
        match message:
            case Turn() if message.number > self._turn:
                self._turn, self._progress = message.number, now
            case Answered():
                self._take_answer(message.number, now)
            case Live() if not self._live.fits(message.data):
                raise Excess("the lines for spectators are too large")
            case News() | Done():
                self._take_news(message if isinstance(message, News) else message.news)

    def _take_answer(self, number: int, now: float) -> None:
        asked = len(self._task.questions) if isinstance(self._task, Ask) else 0
        if number in self._answered or not 0 <= number < asked:
            raise Excess("an answer is to none of the questions")
        self._answered.add(number)
        self._progress = now

    def _take_news(self, news: News | None) -> None:
        for piece in () if news is None else news.pieces:
            if piece.kind not in {MATCH, TURNS, REPLAYS}:
                raise Excess("a piece is of no known kind")
            if not self._kept[piece.kind].fits(piece.data, is_unpacked=piece.kind != REPLAYS):
                raise Excess("the pieces of a task are too large")


def longest(task: Task) -> float:
    """Return the maximum duration of a task in seconds."""
    match task:
        case Match():
            return LONGEST_MATCH
        case Draft():
            return task.seconds + MARGIN
        case Ask():
            return 6 * STALLED
        case Check() | Ready() | Measure():
            return STALLED
