"""Users' programs as team bots: a member copies the version that plays for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.bots import builds, programs
from cw_hub.bots.programs import object_key
from cw_hub.bots.seats import is_version_played
from cw_hub.bots.verbs import ASKED
from cw_hub.bots.versions.verbs import Upload
from cw_hub.bots.versions.views import Version, view_of
from cw_hub.store.objects import ObjectStore
from cw_hub.store.tables import Bot, BotVersion

NO_PROGRAM: Final = "Choose one of your own bots that is a program and has a version that plays."
"""Also used for other people's bots, to reveal nothing about them."""

LOG_IN: Final = "Log in with your own account to choose one of your bots."


@dataclass(frozen=True, slots=True)
class OwnProgram:
    """A user's program bot, with its playing version."""

    bot_id: str
    name: str
    version: Version

    @property
    def upload(self) -> Upload:
        """That version as a team's upload; the note names its origin."""
        of = self.version
        note = f"{self.name}, version {of.number}"
        return Upload(of.sha256, of.size, of.log, of.language, note)


def own_programs(session: Session, user_id: int, game: str) -> Sequence[OwnProgram]:
    """Return a user's playable programs for a game, by name."""
    rows = session.execute(
        select(Bot, BotVersion)
        .join(BotVersion, is_version_played())
        .where(Bot.user_id == user_id, Bot.game == game, Bot.status.in_(ASKED))
        .order_by(Bot.name_key)
    )
    return [OwnProgram(bot.bot_id, bot.name, view_of(version)) for bot, version in rows]


def own_program(session: Session, user_id: int, game: str, bot_id: str) -> OwnProgram:
    """Return a user's program for a game; raise UsageError for any other bot."""
    mine = own_programs(session, user_id, game)
    program = next((one for one in mine if one.bot_id == bot_id), None)
    if program is None:
        raise UsageError(NO_PROGRAM)
    return program


def copy(objects: ObjectStore, program: OwnProgram, bot_id: str) -> Upload:
    """Copy a program's files and build outputs to the object store for a team's bot.

    Returns the team's version, which later changes to the user's program do not affect. Raises
    Failure if the files are not there as uploaded, and StoreAway.
    """
    sha256 = program.version.sha256
    source, target = object_key(program.bot_id, sha256), object_key(bot_id, sha256)
    objects.put_new(target, programs.fetched(objects, program.bot_id, sha256))
    for suffix in (builds.WARNINGS, builds.SUFFIX):
        data = objects.get(source + suffix)
        if data is not None:
            objects.put_new(target + suffix, data)
    return program.upload
