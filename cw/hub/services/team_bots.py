"""The bots of teams: where they are or what was uploaded, how they did, and their practice."""

from __future__ import annotations

import re
import secrets
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw.arena.transports.http import check_base
from cw.errors import UsageError
from cw.games.registry import load_protocol
from cw.hub.clock import Clock
from cw.hub.services import audit, bots, matches
from cw.hub.services.bots import Busy
from cw.hub.services.matches import ClaimedSeat, Hosting, Plan, Seat
from cw.hub.services.tournament_settings import ladder_of, settings_of
from cw.hub.store.objects import ObjectStore
from cw.hub.store.sealing import Sealer
from cw.hub.store.tables import (
    Bot,
    BotKind,
    BotStatus,
    BotVersion,
    Competition,
    Match,
    MatchParticipant,
    MatchState,
    Team,
    VersionState,
)

NO_URL: Final = "Please enter your bot URL"
INVALID_URL: Final = "Please enter a valid HTTP URL"
NO_SSH_KEY: Final = "This is not a public SSH key"
PRIVATE_KEY: Final = "This is a private key: never paste it anywhere"
NO_VERSION: Final = "There is no such version, or it cannot play"
NO_PROGRAMS: Final = "This tournament runs no uploaded programs"
NO_URLS: Final = "Bots of this tournament are programs: upload one"
NO_SECRET: Final = "Your bot has no secret."  # noqa: S105
WHERE_SECRET: Final = "Each team is shown its secret when it saves its bot on MY TEAM."  # noqa: S105
NO_BOT: Final = "You have not set up your bot yet."

LONGEST_URL: Final = 500
LONGEST_KEY: Final = 4096
MOST_VERSIONS: Final = 50
"""Versions of a bot that are listed."""

MOST_FAULTS: Final = 20
LOOKED_AT: Final = 500
"""Matches of a bot among which its last faults are looked for."""

WITH_OWN_KEY: Final = ("end-of-codes",)
"""Games whose web services are told a key of their own by every request."""

VERSION: Final = "version"
"""The setting of a bot that names the version which plays."""

KEY_KINDS: Final = (
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)

Health: TypeAlias = Literal["none", "waiting", "fine", "wrong"]


@dataclass(frozen=True, slots=True)
class Version:
    """A program that was uploaded."""

    number: int
    sha256: str
    size: int
    state: VersionState
    log: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class TeamFault:
    """A fault of a bot in a match, with all that is known of it: for its team alone."""

    match_id: str
    at: datetime
    battle: int
    turn: int
    kind: str
    detail: str
    expected: str
    actual: str
    answer: str
    """What came, as it came; "" where nothing did, or it was not kept."""
    is_practice: bool


@dataclass(frozen=True, slots=True)
class TeamBot:
    """The bot of a team as the team sees it."""

    id: int
    bot_id: str
    team_id: int
    competition_id: int
    tournament: str
    """The slug."""
    game: str
    team: str
    slug: str
    kind: BotKind
    endpoint: str
    version: int | None
    status: BotStatus
    checks: Sequence[Mapping[str, Any]]
    checked_at: datetime | None
    kinds: tuple[BotKind, ...]
    """Those that the tournament lets it have."""
    hosting: Hosting
    training: str
    machine: str | None
    ssh_key: str | None
    stores: bool
    lacks_secret: bool
    """Whether the team has yet to be shown a secret, which it is when it saves the address."""
    has_secret: bool
    """Whether it is a web service that knows a secret."""
    secret_version: int
    """How many secrets it has had."""
    versions: Sequence[Version] = ()

    @property
    def is_set(self) -> bool:
        """Whether there is something that plays."""
        return self.version is not None if self.kind == "program" else bool(self.endpoint)

    @property
    def failed(self) -> Mapping[str, Any] | None:
        """The first step of the last check that was not fine."""
        wrong = (step for step in self.checks if not step["ok"] and not step.get("warning"))
        return next(wrong, None)

    @property
    def health(self) -> Health:
        """How the bot stands: not set up, not checked yet, or by its last check."""
        if not self.is_set:
            return "none"
        if not self.checks:
            return "fine" if self.kind == "builtin" else "waiting"
        return "fine" if self.failed is None else "wrong"


def find(session: Session, team_id: int) -> TeamBot | None:
    """Return the bot of a team, with its versions, the latest first."""
    found = session.execute(
        select(Bot, Team, Competition)
        .join(Team, Team.id == Bot.team_id)
        .join(Competition, Competition.id == Team.competition_id)
        .where(Team.id == team_id)
    ).one_or_none()
    if found is None:
        return None
    bot, team, competition = found
    settings = settings_of(competition.game, competition.settings)
    own = ladder_of(competition.game)
    kinds = [kind for kind in own.kinds if kind != "program" or settings.hosting != "off"]
    rows = session.scalars(
        select(BotVersion)
        .where(BotVersion.bot_id == bot.id)
        .order_by(BotVersion.number.desc())
        .limit(MOST_VERSIONS)
    )
    versions = tuple(
        Version(row.number, row.sha256, row.size, row.state, row.log, row.created_at)
        for row in rows
    )
    return TeamBot(
        bot.id,
        bot.bot_id,
        team.id,
        competition.id,
        competition.slug,
        competition.game,
        team.name,
        team.slug,
        bot.kind,
        bot.endpoint,
        bot.settings.get(VERSION),
        bot.status,
        bot.checks,
        bot.checked_at,
        tuple(kinds),
        settings.hosting,
        settings.training,
        team.machine,
        team.ssh_key,
        settings.stores,
        lacks_secret(bot),
        bot.kind == "url" and bot.secret is not None,
        bot.secret_version,
        versions,
    )


def locked(session: Session, bot: int) -> Bot:
    """Return the row of a bot, locked."""
    return session.scalars(select(Bot).where(Bot.id == bot).with_for_update(key_share=True)).one()


def seated(session: Session, of: TeamBot) -> ClaimedSeat:
    """Return a team's bot as it would be seated in a match now."""
    return matches.seat_of(session, session.get_one(Bot, of.id))


# Web services


def read_url(text: str) -> str:
    """Return the address of a bot; raise UsageError for what is none."""
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


def set_url(session: Session, clock: Clock, sealer: Sealer, of: TeamBot, url: str) -> str | None:
    """Let a team's bot be a web service; return its secret if it has got one, for this once.

    Twice: the same, and no secret. Raises UsageError where bots are programs.
    """
    if "url" not in of.kinds:
        raise UsageError(NO_URLS)
    bot = locked(session, of.id)
    bot.kind, bot.endpoint = "url", url
    begin_again(session, clock, bot, of)
    audit.note(session, clock, actor_of(of), "set bot", f"bot:{of.bot_id}",
               competition_id=of.competition_id)  # fmt: skip
    return bots.give_secret(bot, sealer) if lacks_secret(bot) else None


def rotate(session: Session, clock: Clock, sealer: Sealer, of: TeamBot) -> str:
    """Give a team's bot a new secret, which nobody is told again, and return it.

    By two at once: one wins, and the other is told UsageError, as are bots without a secret.
    """
    bot = locked(session, of.id)
    if not of.has_secret:
        raise UsageError(NO_SECRET)
    if bot.secret_version != of.secret_version:
        raise UsageError(bots.ROTATED)
    begin_again(session, clock, bot, of)
    audit.note(session, clock, actor_of(of), "rotate", f"bot:{of.bot_id}",
               competition_id=of.competition_id)  # fmt: skip
    return bots.give_secret(bot, sealer)


def lacks_secret(bot: Bot) -> bool:
    """Return whether a bot is a web service that must know a secret, and has none yet."""
    must_know = load_protocol(bot.game).signed_with is not None or bot.game in WITH_OWN_KEY
    return bot.kind == "url" and bot.secret is None and must_know


def begin_again(session: Session, clock: Clock, bot: Bot, of: TeamBot) -> None:
    """Forget what was known of a bot that is another one now; it is checked by the next sweep."""
    bot.failures, bot.protocol_ok, bot.checks, bot.checked_at = 0, False, [], None
    bot.check_due_at = clock() if bot.kind == "url" else None
    bots.change_status(session, clock, bot, "PENDING", "", actor_of(of))


def actor_of(of: TeamBot) -> str:
    """Return how the audit names a team."""
    return f"team:{of.slug}"


# Programs


def object_key(bot_id: str, sha256: str) -> str:
    """Return where an upload is kept."""
    return f"bots/{bot_id}/{sha256}"


@dataclass(frozen=True, slots=True)
class Upload:
    """A program that was read and is in the object store."""

    sha256: str
    size: int
    log: str


def keep(objects: ObjectStore, of: TeamBot, data: bytes, sha256: str) -> None:
    """Put an upload into the object store. Twice: once, as the same bytes have the same key."""
    objects.put_new(object_key(of.bot_id, sha256), data)


def add_version(session: Session, clock: Clock, of: TeamBot, upload: Upload) -> int:
    """Let a team's bot be a program, in a new version that plays from the next match.

    Twice: two versions of the same bytes. By two at once: one after the other. Raises UsageError
    where no programs are run.
    """
    if "program" not in of.kinds:
        raise UsageError(NO_PROGRAMS)
    bot = locked(session, of.id)
    last = select(func.max(BotVersion.number)).where(BotVersion.bot_id == bot.id)
    number = (session.scalar(last) or 0) + 1
    session.add(
        BotVersion(
            bot_id=bot.id,
            number=number,
            sha256=upload.sha256,
            size=upload.size,
            state="ready",
            log=upload.log,
            created_at=clock(),
        )
    )
    play_version(session, clock, bot, of, number)
    return number


def use_version(session: Session, clock: Clock, of: TeamBot, number: int) -> None:
    """Let an earlier version play. Twice: the same. Raises UsageError for one that cannot."""
    if "program" not in of.kinds:
        raise UsageError(NO_PROGRAMS)
    bot = locked(session, of.id)
    wanted = select(BotVersion.id).where(
        BotVersion.bot_id == bot.id, BotVersion.number == number, BotVersion.state == "ready"
    )
    if session.scalar(wanted) is None:
        raise UsageError(NO_VERSION)
    play_version(session, clock, bot, of, number)


def play_version(session: Session, clock: Clock, bot: Bot, of: TeamBot, number: int) -> None:
    """Let a version be the one that plays."""
    bot.kind, bot.endpoint = "program", ""
    bot.settings = {**bot.settings, VERSION: number}
    begin_again(session, clock, bot, of)
    detail = {VERSION: number}
    audit.note(session, clock, actor_of(of), "version", f"bot:{of.bot_id}", detail=detail,
               competition_id=of.competition_id)  # fmt: skip


def read_version(text: str) -> int:
    """Return the number of a version; raise UsageError for what is none."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise UsageError(NO_VERSION)
    return int(text)


# Machines


def read_ssh_key(text: str) -> str:
    """Return a public key in one line; raise UsageError for anything else.

    "": the key is taken away.
    """
    key = " ".join(text.split())
    if "PRIVATE KEY" in key.upper() or key.startswith("PuTTY-User-Key-File"):
        raise UsageError(PRIVATE_KEY)
    if not key:
        return ""
    kind, _, rest = key.partition(" ")
    body, _, comment = rest.partition(" ")
    if len(key) > LONGEST_KEY or not key.isprintable() or kind not in KEY_KINDS:
        raise UsageError(NO_SSH_KEY)
    try:
        said = b64decode(body, validate=True)
    except ValueError:
        raise UsageError(NO_SSH_KEY) from None
    # The key itself begins with its kind, and how long that is.
    named = len(kind).to_bytes(4, "big") + kind.encode()
    if not said.startswith(named) or len(said) < len(named) + 32 or not comment.isascii():
        raise UsageError(NO_SSH_KEY)
    return key


def set_ssh_key(session: Session, clock: Clock, of: TeamBot, key: str) -> None:
    """Keep the public key of a team. Twice: the same."""
    row = session.scalars(select(Team).where(Team.id == of.team_id).with_for_update()).one()
    row.ssh_key = key or None
    audit.note(session, clock, actor_of(of), "ssh key", f"team:{of.team_id}",
               competition_id=of.competition_id)  # fmt: skip


# How it did


def last_faults(session: Session, bot: int) -> list[TeamFault]:
    """Return the last faults of a bot, the latest first, with what was told of each."""
    rows = session.execute(
        select(MatchParticipant.faults, Match.match_id, Match.finished_at, Match.at, Match.kind)
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(MatchParticipant.bot_id == bot, Match.state == "done")
        .order_by(Match.finished_at.desc(), Match.id.desc())
        .limit(LOOKED_AT)
    )
    found = (
        TeamFault(
            match_id,
            finished_at or at,
            fault.get("battle", 1),
            fault.get("turn", 0),
            fault["kind"],
            fault.get("detail", ""),
            fault.get("expected", ""),
            fault.get("actual", ""),
            fault.get("answer", ""),
            kind == "practice",
        )
        for faults, match_id, finished_at, at, kind in rows
        for fault in reversed(faults)
    )
    return list(islice(found, MOST_FAULTS))


@dataclass(frozen=True, slots=True)
class Practice:
    """A practice match of a team."""

    match_id: str
    state: MatchState
    at: datetime
    won: bool | None
    """None if it is not over, or drawn."""


def practice_matches(session: Session, bot: int) -> list[Practice]:
    """Return the last practice matches of a bot, the latest first."""
    rows = session.execute(
        select(Match.match_id, Match.state, Match.at, MatchParticipant.rank)
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(MatchParticipant.bot_id == bot, Match.kind == "practice")
        .order_by(Match.id.desc())
        .limit(5)
    )
    return [Practice(name, state, at, None if rank is None else rank == 1)
            for name, state, at, rank in rows]  # fmt: skip


def practise(session: Session, clock: Clock, of: TeamBot) -> tuple[int, str]:
    """Plan a match of a team's bot with the training bot; return its id, and its name for people.

    Twice, or by two at once: the second is told Busy until the match is over. Raises UsageError for
    a team without a bot.
    """
    row = locked(session, of.id)
    if not of.is_set:
        raise UsageError(NO_BOT)
    if bots.is_playing(session, row.id):
        raise Busy("Your bot is playing a practice match. Try again when it is over.")
    competition = session.get_one(Competition, of.competition_id)
    settings = settings_of(of.game, competition.settings)
    opponent = settings.training if settings.training != of.slug else f"{settings.training}-builtin"
    seats = (Seat(row.name, bot_id=row.id), Seat(opponent, spec=f"builtin:{settings.training}"))
    board = secrets.choice(settings.boards)
    key = f"{row.bot_id} {secrets.token_hex(8)}"
    plan = Plan("practice", key, of.game, seats, board.options, of.competition_id)
    match = matches.plan(session, clock, plan)
    return match, session.scalars(select(Match.match_id).where(Match.id == match)).one()
