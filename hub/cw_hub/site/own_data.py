"""Exports a player's own data for download: rows as JSON, the avatar and uploads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Final, NamedTuple, TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec
from sqlalchemy import Executable, select

from cw_hub.accounts import avatars
from cw_hub.bots.programs import object_key
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Audit,
    Bot,
    BotActivation,
    BotVersion,
    Comparison,
    Competition,
    CompetitionHost,
    DraftFile,
    Friend,
    Guest,
    KnownPlace,
    Mail,
    Match,
    MatchParticipant,
    PersonalLimit,
    Rating,
    Team,
    TeamMember,
    Ticket,
    User,
    WorkshopTask,
)
from cw_hub.store.objects import ObjectStore

AT_ONCE: Final = 500
"""Number of rows in memory at a time."""

Rows: TypeAlias = Callable[[int], Executable]
"""Returns the statement for the rows about a user id; its columns contain no secrets."""


class OwnFile(NamedTuple):
    """A stored object that belongs to a player."""

    name: str
    """The name in the zip."""
    key: str


Files: TypeAlias = Callable[[Session, int], Iterator[OwnFile]]
"""Yields the objects of a user id."""


def account(user_id: int) -> Executable:
    """Return the account, without the hash of its password."""
    columns = [column for column in User.__table__.columns if column.name != "password_hash"]
    return select(*columns).where(User.id == user_id)


def friends(user_id: int) -> Executable:
    """Return the player's friends."""
    named = select(User.username, Friend.created_at).join(User, User.id == Friend.friend_id)
    return named.where(Friend.user_id == user_id).order_by(Friend.created_at)


def tickets(user_id: int) -> Executable:
    """Return sessions, links and access tokens, without their secrets."""
    columns = (Ticket.kind, Ticket.label, Ticket.scopes)
    moments = (Ticket.created_at, Ticket.expires_at, Ticket.last_used_at)
    return select(*columns, *moments).where(Ticket.user_id == user_id).order_by(Ticket.created_at)


def limits(user_id: int) -> Executable:
    """Return the limits set for the player by admins."""
    columns = (PersonalLimit.name, PersonalLimit.most)
    return select(*columns).where(PersonalLimit.user_id == user_id).order_by(PersonalLimit.name)


def places(user_id: int) -> Executable:
    """Return when the account was last entered from known browsers and networks."""
    return (
        select(KnownPlace.seen_at).where(KnownPlace.user_id == user_id).order_by(KnownPlace.seen_at)
    )


def mails(user_id: int) -> Executable:
    """Return the emails sent to the player, and when."""
    columns = (Mail.kind, Mail.state, Mail.created_at, Mail.ended_at)
    return select(*columns).where(Mail.user_id == user_id).order_by(Mail.id)


def bots(user_id: int) -> Executable:
    """Return the player's bots, without their secrets."""
    hidden = {"secret", "key_id", "user_id", "team_id", "name_key"}
    columns = [column for column in Bot.__table__.columns if column.name not in hidden]
    return select(*columns).where(Bot.user_id == user_id).order_by(Bot.id)


def programs(user_id: int) -> Executable:
    """Return the uploads for the player's bots."""
    hidden = {"id", "bot_id"}
    columns = [column for column in BotVersion.__table__.columns if column.name not in hidden]
    uploads = select(Bot.bot_id, *columns).join(BotVersion, BotVersion.bot_id == Bot.id)
    return uploads.where(Bot.user_id == user_id).order_by(BotVersion.id)


def activations(user_id: int) -> Executable:
    """Return the activations of program versions."""
    columns = (Bot.bot_id, BotActivation.number, BotActivation.at)
    chosen = select(*columns).join(BotActivation, BotActivation.bot_id == Bot.id)
    return chosen.where(Bot.user_id == user_id).order_by(BotActivation.id)


def comparisons(user_id: int) -> Executable:
    """Return the comparisons of program versions, with their results."""
    hidden = {"id", "user_id", "bot_id"}
    columns = [column for column in Comparison.__table__.columns if column.name not in hidden]
    compared = select(Bot.bot_id, *columns).select_from(Comparison)
    joined = compared.join(Bot, Bot.id == Comparison.bot_id)
    return joined.where(Comparison.user_id == user_id).order_by(Comparison.id)


def drafts(user_id: int) -> Executable:
    """Return the player's files in the workshop."""
    columns = (DraftFile.game, DraftFile.name, DraftFile.text, DraftFile.changed_at)
    mine = select(*columns).where(DraftFile.user_id == user_id)
    return mine.order_by(DraftFile.game, DraftFile.name)


def workshop(user_id: int) -> Executable:
    """Return the last tasks on drafts: runs, questions, series and checks."""
    columns = (WorkshopTask.game, WorkshopTask.kind, WorkshopTask.state, WorkshopTask.request)
    came = (WorkshopTask.report, WorkshopTask.cause, WorkshopTask.created_at, WorkshopTask.ended_at)
    mine = select(*columns, *came).where(WorkshopTask.user_id == user_id)
    return mine.order_by(WorkshopTask.id)


def ratings(user_id: int) -> Executable:
    """Return the ratings of the player's bots."""
    columns = (Rating.mu, Rating.phi, Rating.sigma, Rating.crash_streak, Rating.last_match_at)
    rated = select(Competition.game, Competition.slug, Bot.bot_id, *columns)
    joined = rated.join(Rating, Rating.competition_id == Competition.id)
    mine = joined.join(Bot, Bot.id == Rating.bot_id).where(Bot.user_id == user_id)
    return mine.order_by(Rating.competition_id, Rating.bot_id)


def matches(user_id: int) -> Executable:
    """Return the matches of the player's bots, with results and faults."""
    seat = MatchParticipant
    about = (Match.match_id, Match.game, Match.kind, Match.state, Match.at, Match.finished_at)
    result = (seat.slot, seat.name, seat.rank, seat.score, seat.points, seat.crashed, seat.faults)
    joined = select(*about, Bot.bot_id, seat.version, *result).join(seat, seat.match_id == Match.id)
    mine = joined.join(Bot, Bot.id == seat.bot_id).where(Bot.user_id == user_id)
    return mine.order_by(Match.id)


def hosted(user_id: int) -> Executable:
    """Return the competitions that the player hosts."""
    columns = (Competition.format, Competition.slug, CompetitionHost.added_at)
    led = select(*columns).join(Competition, Competition.id == CompetitionHost.competition_id)
    return led.where(CompetitionHost.user_id == user_id).order_by(CompetitionHost.added_at)


def teams(user_id: int) -> Executable:
    """Return the player's teams."""
    columns = (Competition.slug, Team.name, TeamMember.is_captain, TeamMember.joined_at)
    joined = select(*columns).join(Team, Team.id == TeamMember.team_id)
    mine = joined.join(Competition, Competition.id == TeamMember.competition_id)
    return mine.where(TeamMember.user_id == user_id).order_by(TeamMember.joined_at)


def invitations(user_id: int) -> Executable:
    """Return the host lists that contain the player's email address."""
    columns = (Competition.slug, Guest.team, Guest.added_at)
    listed = select(*columns).join(Competition, Competition.id == Guest.competition_id)
    address = select(User.email).where(User.id == user_id).scalar_subquery()
    return listed.where(Guest.email == address).order_by(Guest.added_at)


def operators(user_id: int) -> Executable:
    """Return the operators' actions on the account."""
    columns = (Audit.at, Audit.actor, Audit.verb, Audit.detail)
    return select(*columns).where(Audit.object == f"user:{user_id}").order_by(Audit.id)


ROWS: Final[Mapping[str, Rows]] = {
    "account": account,
    "friends": friends,
    "sessions-and-tokens": tickets,
    "places": places,
    "limits": limits,
    "mails": mails,
    "bots": bots,
    "programs": programs,
    "activations": activations,
    "drafts": drafts,
    "workshop": workshop,
    "comparisons": comparisons,
    "ratings": ratings,
    "matches": matches,
    "hosted": hosted,
    "teams": teams,
    "invitations": invitations,
    "operators": operators,
}
"""Statements by file name; each file is a list of objects."""


def picture(session: Session, user_id: int) -> Iterator[OwnFile]:
    """Yield the avatar, if there is one."""
    digest = session.scalar(select(User.avatar).where(User.id == user_id))
    if digest:
        yield OwnFile("picture.webp", avatars.key_of(digest))


def uploads(session: Session, user_id: int) -> Iterator[OwnFile]:
    """Yield the versions of the player's programs."""
    columns = (Bot.bot_id, Bot.name, Bot.game, BotVersion.number, BotVersion.sha256)
    stored = select(*columns).join(BotVersion, BotVersion.bot_id == Bot.id)
    rows = session.execute(stored.where(Bot.user_id == user_id).order_by(BotVersion.id))
    for bot_id, name, game, number, sha256 in rows.all():
        yield OwnFile(f"programs/{game}/{name}-{number}.zip", object_key(bot_id, sha256))


FILES: Final[tuple[Files, ...]] = (picture, uploads)


def write_zip(session: Session, objects: ObjectStore, user_id: int, to: IO[bytes]) -> None:
    """Write all data of a user id as a zip; raise StoreAway if the store cannot be reached."""
    with ZipFile(to, "w", ZIP_DEFLATED) as packed:
        for name, rows in ROWS.items():
            with packed.open(f"{name}.json", "w", force_zip64=True) as file:
                write_rows(session, rows(user_id), file)
        for files in FILES:
            for one in files(session, user_id):
                if (data := objects.get(one.key)) is not None:
                    packed.writestr(one.name, data)


def write_rows(session: Session, statement: Executable, to: IO[bytes]) -> None:
    """Write rows as a list of objects, one per line, without loading them all at once."""
    encoder = msgspec.json.Encoder()
    between = b"[\n"
    for row in session.execute(statement.execution_options(yield_per=AT_ONCE)).mappings():
        to.write(between + encoder.encode(dict(row)))
        between = b",\n"
    to.write(b"[]\n" if between == b"[\n" else b"\n]\n")
