"""Operations on versions: save, check once, and choose the one that plays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from cw.errors import CapacityError, UsageError
from cw_hub.bots.builds import source_key
from cw_hub.bots.programs import object_key
from cw_hub.bots.seats import VERSION, version_played
from cw_hub.clock import Clock
from cw_hub.store.objects import ObjectStore
from cw_hub.store.tables import Bot, BotActivation, BotVersion, VersionState

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
    """In bytes, packed."""
    files: str = ""
    """The names of its files, one per line."""
    language: str = ""
    note: str = ""


def store(objects: ObjectStore, bot_id: str, data: bytes, sha256: str) -> None:
    """Put an upload into the object store; the same bytes have the same key."""
    objects.put_new(object_key(bot_id, sha256), data)


def locked(session: Session, bot: int) -> Bot:
    """Return the row of a bot, locked: one caller at a time counts and chooses its versions."""
    return session.scalars(select(Bot).where(Bot.id == bot).with_for_update(key_share=True)).one()


def add(session: Session, clock: Clock, bot: Bot, upload: Upload, state: VersionState) -> int:
    """Add a version of a bot whose row is locked; return its number.

    Each call gets a number of its own, even with concurrent callers. Raises CapacityError if the
    bot has the maximum number or size of versions.
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
            created_at=clock(),
        )
    )
    return number


def ready(session: Session, bot: int, number: int) -> BotVersion:
    """Return a version that can play; raise NotReady if it is missing or cannot."""
    version = find(session, bot, number)
    if version is None or version.state != "ready":
        raise NotReady(NO_VERSION)
    return version


def find(session: Session, bot: int, number: int) -> BotVersion | None:
    """Return a version of a bot, or None."""
    return session.scalars(
        select(BotVersion).where(BotVersion.bot_id == bot, BotVersion.number == number)
    ).one_or_none()


def activate(session: Session, clock: Clock, bot: Bot, number: int) -> None:
    """Make a version of a bot whose row is locked the one that plays, from the next match on."""
    bot.kind, bot.endpoint = "program", ""
    bot.settings = {**bot.settings, VERSION: number}
    session.add(BotActivation(bot_id=bot.id, number=number, at=clock()))


def unchecked(session: Session, bot: int) -> BotVersion | None:
    """Return the first version of a bot that waits for its check, or None."""
    waiting = (BotVersion.bot_id == bot, BotVersion.state == "building")
    first = select(BotVersion).where(*waiting).order_by(BotVersion.number).limit(1)
    return session.scalars(first).one_or_none()


def note_check(
    session: Session, clock: Clock, bot: Bot, number: int, steps: Sequence[Step]
) -> bool:
    """Record a version's check, once; return whether it concerns what plays now.

    A version that has passed plays from the next match on, unless another was chosen since it was
    saved.
    """
    version = find(session, bot.id, number)
    if version is None:
        return False
    if version.checks is None:
        version.checks = list(steps)
    if version.state == "building":
        version.state = "ready" if passes(steps) else "failed"
        if version.state == "ready" and not chosen_since(session, version):
            activate(session, clock, bot, number)
    return version_played(bot) in (None, number)


def forget(session: Session, bots: Sequence[int]) -> None:
    """Delete all versions of some bots; the daily upkeep deletes their objects."""
    for table in (BotVersion, BotActivation):
        session.execute(delete(table).where(table.bot_id.in_(bots)))


def unused_uploads(session: Session, keys: Iterable[str]) -> list[str]:
    """Return the objects of uploads, and those derived from them, that no version refers to."""
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
    """Return whether another version was made to play since this one was saved."""
    last = select(func.max(BotActivation.at)).where(BotActivation.bot_id == version.bot_id)
    at = session.scalar(last)
    return at is not None and at > version.created_at
