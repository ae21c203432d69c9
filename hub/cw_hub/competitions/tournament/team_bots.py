"""A team's bot: its URL and secret, its uploaded or assigned program, and practice matches."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import select

from cw.arena.transports.base_address import check_base
from cw.errors import UsageError
from cw.games.registry import load_protocol, load_strategy
from cw_hub.accounts import audit
from cw_hub.bots import programs, versions
from cw_hub.bots import service as bots_service
from cw_hub.bots.addresses import ClaimedSeat, Hosting, is_version_played, seat_of, version_played
from cw_hub.bots.health import BotHosting, Condition, condition_of
from cw_hub.bots.programs import NO_PROGRAMS, object_key
from cw_hub.bots.service import ASKED
from cw_hub.bots.versions import Upload, Version, failed_step, locked, versions_of, view_of
from cw_hub.competitions.tournament.settings import TournamentSettings, defaults_of, stored_settings
from cw_hub.context import Clock
from cw_hub.matches import friendly
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Bot,
    BotKind,
    BotStatus,
    BotVersion,
    Competition,
    Match,
    MatchParticipant,
    Team,
)
from cw_hub.store.objects import ObjectStore
from cw_hub.store.sealing import Sealer

NO_BOT: Final = "You have not set up your bot yet."

WITH_API_KEY: Final = ("end-of-codes",)
"""Games whose requests carry an API key specific to the bot."""

Health: TypeAlias = Literal["none", "waiting", "fine", "faulty", "wrong"]


@dataclass(frozen=True, slots=True)
class TeamBot:
    """A bot as its team sees it."""

    id: int
    bot_id: str
    team_id: int
    competition_id: int
    tournament: str
    """The tournament's slug."""
    game: str
    team: str
    """The team's name."""
    slug: str
    """The team's slug."""
    kind: BotKind
    endpoint: str
    version: int | None
    status: BotStatus
    checks: Sequence[Mapping[str, Any]]
    """The steps of the last check."""
    checked_at: datetime | None
    kinds: tuple[BotKind, ...]
    """The kinds that the tournament allows."""
    settings: TournamentSettings
    machine: str | None
    ssh_key: str | None
    lacks_secret: bool
    """Whether the team has yet to be shown a secret, which happens when it saves the URL."""
    has_secret: bool
    """Whether it is a web service with a secret."""
    secret_version: int
    """The number of secrets issued so far."""
    condition: Condition
    versions: Sequence[Version] = ()
    """Latest first."""

    @property
    def hosting(self) -> Hosting:
        """How its program is run."""
        return self.settings.hosting

    @property
    def training(self) -> str:
        """The training bot's strategy."""
        return self.settings.training

    @property
    def stores(self) -> bool:
        """Whether its machine has databases."""
        return self.settings.stores

    @property
    def is_set(self) -> bool:
        """Whether a bot is set up."""
        return self.version is not None if self.kind == "program" else bool(self.endpoint)

    @property
    def failed(self) -> Mapping[str, Any] | None:
        """The first failed step of the last check."""
        return failed_step(self.checks)

    @property
    def health(self) -> Health:
        """The bot's health by its last check and its last match; `none` if it is not set up."""
        if not self.is_set:
            return "none"
        if self.failed is not None:
            return "wrong"
        if self.condition.last is not None:
            return "fine" if self.condition.is_well else "faulty"
        return "fine" if self.checks or self.kind == "builtin" else "waiting"


def find(session: Session, team_id: int) -> TeamBot | None:
    """Return the bot of a team with its versions, or None if the team is unknown."""
    row = session.execute(
        select(Bot, Team, Competition)
        .join(Team, Team.id == Bot.team_id)
        .join(Competition, Competition.id == Team.competition_id)
        .where(Team.id == team_id)
    ).one_or_none()
    if row is None:
        return None
    bot, team, competition = row
    settings = stored_settings(competition.game, competition.settings)
    kinds = defaults_of(competition.game).kinds
    return TeamBot(
        id=bot.id,
        bot_id=bot.bot_id,
        team_id=team.id,
        competition_id=competition.id,
        tournament=competition.slug,
        game=competition.game,
        team=team.name,
        slug=team.slug,
        kind=bot.kind,
        endpoint=bot.endpoint,
        version=version_played(bot),
        status=bot.status,
        checks=bot.checks,
        checked_at=bot.checked_at,
        kinds=tuple(kind for kind in kinds if kind != "program" or settings.hosting != "off"),
        settings=settings,
        machine=team.machine,
        ssh_key=team.ssh_key,
        lacks_secret=lacks_secret(bot),
        has_secret=bot.kind == "url" and bot.secret is not None,
        secret_version=bot.secret_version,
        condition=condition_of(session, bot.id),
        versions=versions_of(session, bot.id),
    )


def lacks_secret(bot: Bot) -> bool:
    """Return whether a bot is a web service that needs a secret but has none."""
    needs_secret = load_protocol(bot.game).signed_with is not None or bot.game in WITH_API_KEY
    return bot.kind == "url" and bot.secret is None and needs_secret


def seated(session: Session, bot: TeamBot) -> ClaimedSeat:
    """Return a team's bot as it would be seated in a match now."""
    return seat_of(session, session.get_one(Bot, bot.id))


def hosting_of(session: Session, bot: Bot) -> BotHosting | None:
    """Return how a team's tournament runs its bot's program, or None for a bot without a team."""
    if bot.team_id is None:
        return None
    row = session.execute(
        select(Competition.settings, Competition.game, Competition.slug)
        .join(Team, Team.competition_id == Competition.id)
        .where(Team.id == bot.team_id)
    ).one()
    settings = stored_settings(row.game, row.settings)
    return BotHosting(settings.hosting, row.slug, settings.boards[0].options)


NO_URLS: Final = "Bots of this tournament are programs: upload one"
NO_SECRET: Final = "Your bot has no secret."  # noqa: S105
WHERE_SECRET: Final = "Each team is shown its secret when it saves its bot on MY TEAM."  # noqa: S105


def note(session: Session, bot: TeamBot, verb: str, **more: Any) -> None:
    """Add an audit entry about a bot, in the name of its team."""
    session.actor = f"team:{bot.slug}"
    competition, subject = bot.competition_id, f"bot:{bot.bot_id}"
    audit.record(session, verb, subject, detail=more, competition_id=competition)


def begin_again(session: Session, row: Bot, bot: TeamBot) -> None:
    """Reset the health of a bot that was replaced; the next sweep checks it."""
    row.failures, row.protocol_ok, row.checks, row.checked_at = 0, False, [], None
    row.check_due_at = session.now() if row.kind == "url" else None
    session.actor = f"team:{bot.slug}"
    bots_service.change_status(session, row, "PENDING", "")


# Web services


def set_url(session: Session, sealer: Sealer, bot: TeamBot, url: str) -> str | None:
    """Set the URL of a team's bot; return its new secret if it just got one, or None.

    Raises UsageError if bots must be programs.
    """
    if "url" not in bot.kinds:
        raise UsageError(NO_URLS)
    row = versions.locked(session, bot.id)
    row.kind, row.endpoint = "url", url
    begin_again(session, row, bot)
    note(session, bot, "set bot")
    return bots_service.give_secret(row, sealer) if lacks_secret(row) else None


def rotate(session: Session, sealer: Sealer, bot: TeamBot) -> str:
    """Give a team's bot a new secret, and return it; it cannot be read again.

    Raises UsageError for a bot without a secret. Of concurrent callers, exactly one succeeds.
    """
    row = versions.locked(session, bot.id)
    if not bot.has_secret:
        raise UsageError(NO_SECRET)
    if row.secret_version != bot.secret_version:
        raise UsageError(bots_service.ROTATED)
    begin_again(session, row, bot)
    note(session, bot, "rotate")
    return bots_service.give_secret(row, sealer)


# Programs


def add_version(session: Session, bot: TeamBot, upload: Upload) -> int:
    """Add a version of a team's bot, which plays from the next match; return its number.

    Raises UsageError if programs are not allowed, and CapacityError as `versions.add` does.
    """
    if "program" not in bot.kinds:
        raise UsageError(NO_PROGRAMS)
    row = versions.locked(session, bot.id)
    number = versions.add(session, row, upload, "ready")
    play_version(session, row, bot, number)
    return number


def use_version(session: Session, bot: TeamBot, number: int) -> None:
    """Switch to an earlier version; raise UsageError if it cannot play."""
    if "program" not in bot.kinds:
        raise UsageError(NO_PROGRAMS)
    row = versions.locked(session, bot.id)
    versions.ready(session, row.id, number)
    play_version(session, row, bot, number)


def play_version(session: Session, row: Bot, bot: TeamBot, number: int) -> None:
    """Activate a version."""
    versions.activate(session, row, number)
    begin_again(session, row, bot)
    note(session, bot, "version", version=number)


# Machines


def set_ssh_key(session: Session, bot: TeamBot, key: str) -> None:
    """Set a team's public key; "" for none."""
    row = session.scalars(select(Team).where(Team.id == bot.team_id).with_for_update()).one()
    row.ssh_key = key or None
    session.actor = f"team:{bot.slug}"
    competition, subject = bot.competition_id, f"team:{bot.team_id}"
    audit.record(session, "ssh key", subject, competition_id=competition)


BUILTIN: Final = "builtin:"
LONGEST_URL: Final = 500
NO_URL: Final = "Please enter your bot URL"
INVALID_URL: Final = "Please enter a valid HTTP URL"


def read_url(text: str) -> str:
    """Return a bot's URL; raise UsageError if the text is not a valid one."""
    url = text.strip()
    if not url:
        raise UsageError(NO_URL)
    if len(url) > LONGEST_URL or "@" in url:
        raise UsageError(INVALID_URL)
    try:
        check_base(url)
    except UsageError:
        raise UsageError(INVALID_URL) from None
    return url


def check_bot(game: str, bot: str) -> None:
    """Raise UsageError unless a bot is a URL, or `builtin:NAME`."""
    if bot.startswith(BUILTIN):
        load_strategy(game, bot.removeprefix(BUILTIN))
        return
    if "url" not in defaults_of(game).kinds:
        raise UsageError(f"bots of {game} are programs, which teams upload, or {BUILTIN}NAME")
    read_url(bot)


def assign_bot(clock: Clock, row: Bot, bot: str) -> None:
    """Assign a bot that passed `check_bot` to a row.

    Built-in strategies become ACTIVE immediately; web services are checked by the next sweep.
    """
    is_builtin = bot.startswith(BUILTIN)
    row.kind = "builtin" if is_builtin else "url"
    row.endpoint = bot.removeprefix(BUILTIN) if is_builtin else read_url(bot)
    row.status = "ACTIVE" if is_builtin else "PENDING"
    row.reason, row.failures, row.protocol_ok = "", 0, False
    row.checks, row.checked_at = [], None
    row.check_due_at = None if is_builtin else clock()


NO_PROGRAM: Final = "Choose one of your own bots that is a program and has a version that plays."
"""Also used for other users' bots, to reveal nothing about them."""

LOG_IN: Final = "Log in with your own account to choose one of your bots."


@dataclass(frozen=True, slots=True)
class OwnProgram:
    """A user's program bot, with its playing version."""

    bot_id: str
    name: str
    version: Version

    @property
    def upload(self) -> Upload:
        """Return the version as an upload of the team; its note names the origin."""
        of = self.version
        note = f"{self.name}, version {of.number}"
        return Upload(of.sha256, of.size, of.log, of.language, note)


def own_programs(session: Session, user_id: int, game: str) -> Sequence[OwnProgram]:
    """Return a user's playable programs for a game, sorted by name."""
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
    Failure if the stored files do not match the upload, and StoreAway.
    """
    sha256 = program.version.sha256
    source, target = object_key(program.bot_id, sha256), object_key(bot_id, sha256)
    objects.put_new(target, programs.fetched(objects, program.bot_id, sha256))
    for suffix in (programs.WARNINGS, programs.SUFFIX):
        data = objects.get(source + suffix)
        if data is not None:
            objects.put_new(target + suffix, data)
    return program.upload


MOST_FAULTS: Final = 20
"""Maximum number of faults listed."""

MOST_SEARCHED: Final = 500
"""Maximum number of a bot's matches searched for faults."""


def plan_practice(session: Session, bot: TeamBot) -> tuple[int, str]:
    """Plan a match of a team's bot with the training bot; return its id and its name.

    Raises UsageError for a team without a bot, and Busy while its last practice match is running.
    """
    row = locked(session, bot.id)
    if not bot.is_set:
        raise UsageError(NO_BOT)
    options = secrets.choice(bot.settings.boards).options
    return friendly.plan_practice(session, row, bot.training, options, bot.competition_id)


@dataclass(frozen=True, slots=True)
class TeamFault:
    """A bot's fault in a match, with details only for its team."""

    match_id: str
    at: datetime
    game: int
    """The game's number within its match."""
    turn: int
    kind: str
    detail: str
    expected: str
    actual: str
    answer: str
    """The reply as sent; "" if there was none, or it was not stored."""
    is_practice: bool


def last_faults(session: Session, bot: int) -> list[TeamFault]:
    """Return the last faults of a bot, latest first."""
    rows = session.execute(
        select(MatchParticipant.faults, Match.match_id, Match.finished_at, Match.at, Match.kind)
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(MatchParticipant.bot_id == bot, Match.state == "done")
        .order_by(Match.finished_at.desc(), Match.id.desc())
        .limit(MOST_SEARCHED)
    )
    team_faults = (
        TeamFault(
            match_id=match_id,
            at=finished_at or at,
            game=fault.get("battle", 1),
            turn=fault.get("turn", 0),
            kind=fault["kind"],
            **{name: fault.get(name, "") for name in ("detail", "expected", "actual", "answer")},
            is_practice=kind == "practice",
        )
        for faults, match_id, finished_at, at, kind in rows
        for fault in reversed(faults)
    )
    return list(islice(team_faults, MOST_FAULTS))
