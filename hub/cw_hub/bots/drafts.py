"""Drafts: the program files that a user edits for a game, and their own versions as opponents.

Every save passes the digest of the content it was based on, so that edits made in another window
are never silently overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from sqlalchemy import delete, select

from cw import kits
from cw.errors import UsageError, short
from cw.workshop.project import LARGEST_FILE, MOST_FILES, NAME, ChangedMeanwhile, TextFile
from cw.workshop.runs import digest_of
from cw_hub.context import Clock
from cw_hub.store.database import Session, insert_missing
from cw_hub.store.models import Bot, BotVersion, DraftFile, User

LARGEST: Final = 2 * 1024 * 1024
"""Maximum size in bytes of all files of a draft together."""

ALSO_HERE: Final = "another window has changed this file meanwhile"


@dataclass(frozen=True, slots=True)
class Draft:
    """The identity of a draft: a user has one per game."""

    user: int
    game: str


def files(session: Session, draft: Draft) -> list[TextFile]:
    """Return a draft's files, sorted by name; before the first edit, those of a kit."""
    return stored(session, draft) or from_kit(draft.game)


def stored(session: Session, draft: Draft) -> list[TextFile]:
    """Return a draft's stored files, sorted by name; none before the first edit."""
    mine = select(DraftFile.name, DraftFile.text, DraftFile.digest).where(
        DraftFile.user_id == draft.user, DraftFile.game == draft.game
    )
    rows = [TextFile(*row) for row in session.execute(mine)]
    # Sorted here, because databases differ in their sort order.
    return sorted(rows, key=lambda file: file.name)


def from_kit(game: str, language: str = "") -> list[TextFile]:
    """Return the editable files of a game's kit, sorted by name; "" means the first language."""
    kit = kits.files(game, language or next(iter(kits.languages_of(game))))
    return [text_file(name, kit[name].read_text()) for name in sorted(kit) if NAME.fullmatch(name)]


def text_file(name: str, text: str) -> TextFile:
    """Return a file of a draft; raise UsageError if it is invalid."""
    data = text.encode()
    if not NAME.fullmatch(name):
        raise UsageError(f"{short(name)} is not a valid name of a file in a draft")
    if "\0" in text:
        raise UsageError(f"{name} contains a NUL character, which text cannot have: delete it")
    if len(data) > LARGEST_FILE:
        raise UsageError(f"a file may have at most {LARGEST_FILE} bytes, not {len(data)}")
    return TextFile(name, text, sha256(data).hexdigest())


def save(session: Session, draft: Draft, file: TextFile, base: str) -> TextFile:
    """Save a file if its stored content has the digest `base` ("" for a new file); return it.

    Raises ChangedMeanwhile if the content differs, and UsageError if the draft becomes too large.
    """
    session.scalars(select(User.id).where(User.id == draft.user).with_for_update()).one()
    there = {each.name: each for each in files(session, draft)}
    now = there.get(file.name)
    if (now.digest if now else "") != base:
        raise ChangedMeanwhile(now, ALSO_HERE)
    there[file.name] = file
    refuse_large(list(there.values()))
    insert_missing(
        session, DraftFile, [row_of(draft, each, session.clock) for each in there.values()]
    )
    row = session.get_one(DraftFile, (draft.user, draft.game, file.name))
    row.text, row.digest = file.text, file.digest
    row.size, row.changed_at = len(file.text.encode()), session.now()
    return file


def is_untouched(game: str, draft: list[TextFile]) -> bool:
    """Return whether a draft consists of the unchanged files of a kit."""
    return any(draft == from_kit(game, language) for language in kits.languages_of(game))


def begin_again(session: Session, draft: Draft, language: str, base: str) -> None:
    """Replace a draft whose digest is `base` with the kit of a language.

    An unedited draft is replaced whatever its digest. Raises ChangedMeanwhile, without changing
    anything, if another window has edited it, and UsageError for an unknown language.
    """
    kit = from_kit(draft.game, language)
    session.scalars(select(User.id).where(User.id == draft.user).with_for_update()).one()
    there = files(session, draft)
    if not is_untouched(draft.game, there) and digest_of(there) != base:
        raise ChangedMeanwhile(None, "another window has changed your draft meanwhile")
    mine = (DraftFile.user_id == draft.user, DraftFile.game == draft.game)
    session.execute(delete(DraftFile).where(*mine))
    insert_missing(session, DraftFile, [row_of(draft, each, session.clock) for each in kit])


def fill(session: Session, draft: Draft, sent: Mapping[str, bytes]) -> bool:
    """Fill an empty draft with files; return False, and change nothing, if it has been edited.

    Raises UsageError if a file cannot be edited here: versions saved from the draft would lack it.
    """
    there = [text_file(name, decoded(name, data)) for name, data in sent.items()]
    refuse_large(there)
    session.scalars(select(User.id).where(User.id == draft.user).with_for_update()).one()
    if stored(session, draft):
        return False
    insert_missing(session, DraftFile, [row_of(draft, each, session.clock) for each in there])
    return True


def decoded(name: str, data: bytes) -> str:
    """Return the text of a file; raise UsageError if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError(
            f"{short(name)} is not UTF-8 text: the workshop edits nothing else"
        ) from None


def refuse_large(there: list[TextFile]) -> None:
    """Raise UsageError if a draft has too many files or is too large."""
    if len(there) > MOST_FILES:
        raise UsageError(f"a draft may have at most {MOST_FILES} files")
    size = sum(len(each.text.encode()) for each in there)
    if size > LARGEST:
        raise UsageError(f"a draft may have at most {LARGEST} bytes, not {size}")


def row_of(draft: Draft, file: TextFile, clock: Clock) -> dict[str, object]:
    """Return the database row of a draft's file."""
    return {
        "user_id": draft.user,
        "game": draft.game,
        "name": file.name,
        "text": file.text,
        "digest": file.digest,
        "size": len(file.text.encode()),
        "changed_at": clock(),
    }


MOST: Final = 20
"""Maximum number of own versions offered as opponents."""


@dataclass(frozen=True, slots=True)
class OwnVersion:
    """One of the user's own versions that a draft can play against."""

    bot: str
    number: int
    bot_id: str
    sha256: str

    @property
    def key(self) -> str:
        """The value that pages send; no strategy has such a name."""
        return f"{self.bot}/{self.number}"

    @property
    def name(self) -> str:
        """The version's name in a match."""
        return f"{self.bot}-{self.number}"


def own_versions(session: Session, draft: Draft) -> list[OwnVersion]:
    """Return the versions that a user's draft can play against, latest first."""
    columns = (Bot.name, BotVersion.number, Bot.bot_id, BotVersion.sha256)
    mine = (Bot.user_id == draft.user, Bot.game == draft.game, BotVersion.state == "ready")
    rows = select(*columns).join(BotVersion, BotVersion.bot_id == Bot.id).where(*mine)
    latest = rows.order_by(BotVersion.created_at.desc(), BotVersion.id.desc())
    return [OwnVersion(*row) for row in session.execute(latest.limit(MOST))]
