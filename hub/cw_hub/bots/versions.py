"""Versions of uploaded programs, for both users' and teams' bots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from itertools import chain, islice, takewhile
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import delete, func, select

from cw.errors import CapacityError, UsageError
from cw.kits import LANGUAGES
from cw_hub.bots.addresses import VERSION, version_played
from cw_hub.bots.programs import object_key, source_key
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, BotActivation, BotVersion, VersionState
from cw_hub.store.objects import ObjectStore

MOST: Final = 500
"""Maximum number of versions of a bot."""

MOST_BYTES: Final = 100 * 1024 * 1024
"""Maximum size in bytes of all versions of a bot together, as stored."""

NO_VERSION: Final = "There is no such version, or it cannot play"
TOO_MANY: Final = "A bot has at most 500 versions of 100 MiB together. Please register another bot."


class NotReady(UsageError):
    """A version cannot play: it is missing, waits for its check, or has failed it."""


Step: TypeAlias = Mapping[str, Any]
"""A step of a check: `step`, `ok`, and if not ok `problem` and `fix`."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A program in the object store."""

    sha256: str
    size: int
    """Size in bytes, packed."""
    files: str = ""
    """The names of its files, one per line."""
    language: str = ""
    note: str = ""


def store(objects: ObjectStore, bot_id: str, data: bytes, sha256: str) -> None:
    """Put an upload into the object store; the same bytes have the same key."""
    objects.put_new(object_key(bot_id, sha256), data)


def locked(session: Session, bot: int) -> Bot:
    """Return a bot's row, locked, so that callers count and choose its versions one at a time."""
    return session.scalars(select(Bot).where(Bot.id == bot).with_for_update(key_share=True)).one()


def add(session: Session, bot: Bot, upload: Upload, state: VersionState) -> int:
    """Add a version of a bot whose row is locked; return its number.

    Each call gets a unique number, even with concurrent callers. Raises CapacityError if the bot
    has the maximum number or size of versions.
    """
    last, size = session.execute(
        select(func.max(BotVersion.number), func.sum(BotVersion.size)).where(
            BotVersion.bot_id == bot.id
        )
    ).one()
    if (last or 0) >= MOST or (size or 0) + upload.size > MOST_BYTES:
        raise CapacityError(TOO_MANY)
    number = (last or 0) + 1
    session.add(
        BotVersion(
            bot_id=bot.id,
            number=number,
            sha256=upload.sha256,
            size=upload.size,
            language=upload.language,
            note=upload.note,
            state=state,
            log=upload.files,
            created_at=session.now(),
        )
    )
    return number


def ready(session: Session, bot: int, number: int) -> BotVersion:
    """Return a version that can play; raise NotReady if it is missing or not ready."""
    version = find(session, bot, number)
    if version is None or version.state != "ready":
        raise NotReady(NO_VERSION)
    return version


def find(session: Session, bot: int, number: int) -> BotVersion | None:
    """Return a version of a bot, or None."""
    return session.scalars(
        select(BotVersion).where(BotVersion.bot_id == bot, BotVersion.number == number)
    ).one_or_none()


def activate(session: Session, bot: Bot, number: int) -> None:
    """Activate a version of a bot whose row is locked, from the next match on."""
    bot.kind, bot.endpoint = "program", ""
    bot.settings = {**bot.settings, VERSION: number}
    session.add(BotActivation(bot_id=bot.id, number=number, at=session.now()))


def unchecked(session: Session, bot: int) -> BotVersion | None:
    """Return the first version of a bot that waits for its check, or None."""
    waiting = (BotVersion.bot_id == bot, BotVersion.state == "building")
    first = select(BotVersion).where(*waiting).order_by(BotVersion.number).limit(1)
    return session.scalars(first).one_or_none()


def note_check(session: Session, bot: Bot, number: int, steps: Sequence[Step]) -> bool:
    """Record a version's check, once; return whether it concerns what plays now.

    A version that has passed becomes active from the next match on, unless another one was chosen
    after it was saved.
    """
    version = find(session, bot.id, number)
    if version is None:
        return False
    if version.checks is None:
        version.checks = list(steps)
    if version.state == "building":
        version.state = "ready" if passes(steps) else "failed"
        if version.state == "ready" and not chosen_since(session, version):
            activate(session, bot, number)
    return version_played(bot) in (None, number)


def forget(session: Session, bots: Sequence[int]) -> None:
    """Delete all versions of some bots; the daily upkeep deletes their objects."""
    for table in (BotVersion, BotActivation):
        session.execute(delete(table).where(table.bot_id.in_(bots)))


def unused_uploads(session: Session, keys: Iterable[str]) -> list[str]:
    """Return the keys of uploads, and of objects derived from them, that no version refers to."""
    stored = {key: tuple(source_key(key).split("/")[1:]) for key in keys}
    query = (
        select(Bot.bot_id, BotVersion.sha256)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(BotVersion.sha256.in_([parts[-1] for parts in stored.values()]))
    )
    used = {tuple(row) for row in session.execute(query)}
    return [key for key, parts in stored.items() if parts not in used]


def passes(steps: Iterable[Step]) -> bool:
    """Return whether a check passed; warnings do not count."""
    return failed_step(steps) is None


def failed_step(steps: Iterable[Step]) -> Step | None:
    """Return the first failed step of a check, or None; warnings do not count."""
    return next((step for step in steps if not step["ok"] and not step.get("warning")), None)


def chosen_since(session: Session, version: BotVersion) -> bool:
    """Return whether another version was activated after this one was saved."""
    last = select(func.max(BotActivation.at)).where(BotActivation.bot_id == version.bot_id)
    at = session.scalar(last)
    return at is not None and at > version.created_at


CONTEXT: Final = 3
"""Number of unchanged lines shown around differences."""

MOST_MATCHED: Final = 2000
"""Maximum number of lines matched over all files, as matching takes quadratic time."""

MOST_LINES: Final = 20_000
"""Maximum number of lines of a file that is shown."""

LONGEST_COMPARISON: Final = 4000
"""Maximum number of lines of a comparison."""

LONGEST_LINE: Final = 500
"""Maximum number of characters shown of a line."""

CUT: Final = " ... (the rest of the line was cut)"

Change: TypeAlias = Literal["added", "removed", "changed"]

Sign: TypeAlias = Literal[" ", "-", "+"]

Opcode: TypeAlias = tuple[str, int, int, int, int]
"""As in difflib: a tag, and line ranges in the earlier and the later version."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, in one version or in both."""

    sign: Sign
    old: int | None
    """The line number in the earlier version, from 1."""
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs between two versions."""

    name: str
    change: Change
    parts: Sequence[Sequence[Line]] | None
    """Groups of differing lines, with the lines around them.

    None if the file is not text, or has too many lines.
    """


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two versions."""

    files: Sequence[FileChange]
    is_cut: bool
    """Whether there are more differences than shown."""


def compare(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Comparison:
    """Compare the files of two versions, given as contents by name."""
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    files: list[FileChange] = []
    left, matched = LONGEST_COMPARISON, MOST_MATCHED // max(1, len(names))
    for name in names:
        parts = file_parts(old.get(name, b""), new.get(name, b""), matched, left)
        change: Change = "added" if name not in old else "removed" if name not in new else "changed"
        files.append(FileChange(name, change, parts))
        left -= sum(map(len, parts or ()))
        if left <= 0:
            break
    return Comparison(files, left <= 0)


def file_parts(old: bytes, new: bytes, matched: int, most: int) -> list[list[Line]] | None:
    """Return the diff hunks of a file, with at most `most` changed lines; None if it is not text.

    If there are too many lines to match, everything between the first and last difference is shown
    as removed and then added again.
    """
    before, after = lines_of(old), lines_of(new)
    if before is None or after is None:
        return None
    lines = lines_by(before, after, opcodes(before, after, matched))
    return list(grouped(islice(lines, MOST_LINES), most))


def lines_of(data: bytes) -> list[str] | None:
    """Return the lines of a text; None if it is not text, or has too many lines."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    is_text = "\0" not in text and text.count("\n") < MOST_LINES
    return text.removesuffix("\n").split("\n") if is_text and text else [] if is_text else None


def opcodes(old: Sequence[str], new: Sequence[str], matched: int) -> list[Opcode]:
    """Return the opcodes that turn one text into another."""
    first = common(old, new)
    last = common(old[first:][::-1], new[first:][::-1])
    a, b = len(old) - last, len(new) - last
    if max(a, b) - first > matched:
        middle: list[Opcode] = [("replace", first, a, first, b)]
    else:
        matcher = SequenceMatcher(None, old[first:a], new[first:b])
        middle = [
            (tag, i + first, j + first, k + first, m + first)
            for tag, i, j, k, m in matcher.get_opcodes()
        ]
    same: Opcode = ("equal", 0, first, 0, first)
    return [same, *middle, ("equal", a, len(old), b, len(new))]


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of leading lines that two texts have in common."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def lines_by(old: Sequence[str], new: Sequence[str], codes: Sequence[Opcode]) -> Iterator[Line]:
    """Yield the lines of both versions in order, removed ones before added ones."""
    for tag, a, b, c, d in codes:
        if tag == "equal":
            yield from (
                Line(" ", a + step + 1, c + step + 1, line_text(old[a + step]))
                for step in range(b - a)
            )
            continue
        yield from (Line("-", number + 1, None, line_text(old[number])) for number in range(a, b))
        yield from (Line("+", None, number + 1, line_text(new[number])) for number in range(c, d))


def line_text(text: str) -> str:
    """Return a line as shown: truncated if it is long."""
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}{CUT}"


def grouped(all_lines: Iterator[Line], most: int) -> Iterator[list[Line]]:
    """Yield lines in groups, without unchanged lines far from any difference."""
    lines = list(all_lines)
    differ = [place for place, line in enumerate(lines) if line.sign != " "][:most]
    near = {*chain.from_iterable(range(at - CONTEXT, at + CONTEXT + 1) for at in differ)}
    group: list[Line] = []
    for place, line in enumerate(lines):
        if place in near:
            group.append(line)
        elif group:
            yield group
            group = []
    if group:
        yield group


LISTED: Final = 50
"""Maximum number of a bot's versions that are listed, and marked on its graph."""


@dataclass(frozen=True, slots=True)
class Version:
    """An uploaded program."""

    number: int
    sha256: str
    size: int
    """Size in bytes, as stored."""
    language: str
    """The name that kits use; "" if unknown."""
    note: str
    state: VersionState
    log: str
    """The names of its files."""
    checks: Sequence[Mapping[str, Any]] | None
    """The steps of its check; None before it is checked."""
    created_at: datetime

    @property
    def language_title(self) -> str:
        """The display title of the language."""
        known = LANGUAGES.get(self.language)
        return known.title if known else ""


def versions_of(session: Session, bot: int, most: int = LISTED) -> tuple[Version, ...]:
    """Return the last versions of a bot, latest first."""
    query = select(BotVersion).where(BotVersion.bot_id == bot)
    rows = session.scalars(query.order_by(BotVersion.number.desc()).limit(most))
    return tuple(map(view_of, rows))


def find_version(session: Session, bot: int, number: int) -> Version | None:
    """Return a version of a bot, or None."""
    query = select(BotVersion).where(BotVersion.bot_id == bot, BotVersion.number == number)
    row = session.scalars(query).one_or_none()
    return None if row is None else view_of(row)


def view_of(row: BotVersion) -> Version:
    """Return a version as its author sees it."""
    return Version(
        row.number,
        row.sha256,
        row.size,
        row.language,
        row.note,
        row.state,
        row.log,
        row.checks,
        row.created_at,
    )


@dataclass(frozen=True, slots=True)
class Activation:
    """The time from which a version is active."""

    number: int
    at: datetime


def activations_of(session: Session, bot: int, most: int = LISTED) -> list[Activation]:
    """Return the last activations of a bot's versions, oldest first."""
    query = select(BotActivation).where(BotActivation.bot_id == bot)
    rows = session.scalars(query.order_by(BotActivation.id.desc()).limit(most)).all()
    return [Activation(row.number, row.at) for row in reversed(rows)]
