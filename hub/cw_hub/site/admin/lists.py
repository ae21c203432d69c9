"""The lists of the admin area: what narrows each of them, and the queries of its rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

from sqlalchemy import ColumnElement, Select, case, func, or_, select, true

from cw_hub.accounts import mail, personal_limits
from cw_hub.accounts.service import HOUSE, username_key
from cw_hub.bots.health import WORDS, conditions
from cw_hub.bots.service import name_key
from cw_hub.competitions.format import format_named
from cw_hub.matches import friendly
from cw_hub.matches.results import OPEN
from cw_hub.operation import heartbeats
from cw_hub.site import figures
from cw_hub.site.formats import site_formats
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Audit,
    Bot,
    Competition,
    CompetitionHost,
    Mail,
    Match,
    MatchState,
    Rating,
    Round,
    Team,
    Ticket,
    User,
    Worker,
)

PER_PAGE: Final = 50
"""Number of rows per page."""

Row: TypeAlias = SimpleNamespace
"""A row of a list: the columns of its query, and what is looked up for them."""

Wanted: TypeAlias = Mapping[str, str]
"""What is typed or chosen in the fields above a list, by their names; "" matches all."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list, numbered from 1."""

    rows: Sequence[Row]
    number: int
    has_more: bool


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form: a text, or a choice."""

    name: str
    label: str
    longest: int = 60
    """Maximum length of its text, in characters; the rest is dropped."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """Words by value, without "All"; empty for a text."""
    is_required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list of the admin area; its name is the last part of its URL, and that of its template."""

    title: str
    find: Callable[[Session, Wanted, int], Page]
    """Returns a page by its number; the number of statements does not depend on that of rows."""
    filters: Sequence[Field] = ()
    key: Sequence[str] = ()
    """The columns that identify a row in URLs; a search for the last one finds the row."""
    one: str = ""
    """What a row is."""
    more: Callable[[Session], Mapping[str, Any]] = lambda _session: {}
    """Returns what else its template shows."""


def page_of(
    session: Session, query: Select[*tuple[Any, ...]], number: int, size: int = PER_PAGE
) -> Page:
    """Return a page of a query's results, in one statement."""
    found = session.execute(query.limit(size + 1).offset((number - 1) * size)).all()
    return Page([Row(**row._asdict()) for row in found[:size]], number, len(found) > size)


def contains(key: str, *columns: Any) -> ColumnElement[bool]:
    """Return the SQL condition for rows with a lower-case text in one of the columns."""
    if not key:
        return true()
    return or_(*(func.lower(column).contains(key, autoescape=True) for column in columns))


def hosts_by(session: Session, key: Any, name: Any, ids: Sequence[int]) -> dict[int, list[str]]:
    """Return names by id, of hosts or their competitions, in the order in which hosts were added.

    `key` is a column of CompetitionHost with the ids, `name` that of the names.
    """
    pairs = (
        select(key, name)
        .join(Competition, Competition.id == CompetitionHost.competition_id)
        .join(User, User.id == CompetitionHost.user_id)
        .where(key.in_(ids))
        .order_by(CompetitionHost.added_at)
    )
    names: dict[int, list[str]] = defaultdict(list)
    for host, text in session.execute(pairs):
        names[host].append(text or "deleted")
    return names


def people(session: Session, wanted: Wanted, number: int) -> Page:
    """Return accounts by part of the username, the newest first, without private data."""
    sessions = select(func.count()).where(Ticket.user_id == User.id, Ticket.kind == "session")
    bots = select(func.count()).where(Bot.user_id == User.id, Bot.status != "RETIRED")
    query = (
        select(User.id, User.username, User.role, User.created_at, User.locked_at)
        .add_columns(User.email.is_not(None).label("has_email"))
        .add_columns(User.email_verified_at.is_not(None).label("is_confirmed"))
        .add_columns(sessions.correlate(User).scalar_subquery().label("sessions"))
        .add_columns(bots.correlate(User).scalar_subquery().label("bots"))
        .where(User.deleted_at.is_(None), User.username_key != HOUSE)
        .where(contains(wanted["q"].casefold(), User.username_key))
        .order_by(User.id.desc())
    )
    page = page_of(session, query, number)
    ids = [row.id for row in page.rows]
    leads = hosts_by(session, CompetitionHost.user_id, Competition.title, ids)
    own_limits = personal_limits.of_users(session, ids)
    for row in page.rows:
        row.leads, row.limits = leads.get(row.id, ()), own_limits.get(row.id, {})
    return page


FAILING: Final = "failing"
"""The filter for bots that did not respond the last time; the others are by status."""


def bots(session: Session, wanted: Wanted, number: int) -> Page:
    """Return bots with their owners and conditions, the newest first."""
    columns = (Bot.name_key, Bot.bot_id, User.username_key, Team.name_key, Bot.endpoint, Bot.status)
    query = (
        select(Bot.id, Bot.bot_id, Bot.name, Bot.game, Bot.kind, Bot.endpoint, Bot.status)
        .add_columns(Bot.reason, User.username.label("owner"), Team.name.label("team"))
        .add_columns(Competition.slug.label("tournament"))
        .outerjoin(User, User.id == Bot.user_id)
        .outerjoin(Team, Team.id == Bot.team_id)
        .outerjoin(Competition, Competition.id == Team.competition_id)
        .where(contains(wanted["q"].casefold(), *columns))
        .order_by(Bot.id.desc())
    )
    if wanted["state"] == FAILING:
        query = query.where(Bot.status.in_(("ACTIVE", "INACTIVE")), Bot.failures > 0)
    elif wanted["state"]:
        query = query.where(Bot.status == wanted["state"].upper())
    page = page_of(session, query, number)
    found = conditions(session, [row.id for row in page.rows])
    for row in page.rows:
        row.condition = found[row.id]
    return page


def why_no_check(bot: Bot | Row) -> str:
    """Return why a bot cannot be checked; "" if it can."""
    if bot.kind == "builtin":
        return "It is a strategy of the site itself: there is nothing to check."
    if bot.status in ("SUSPENDED", "RETIRED"):
        return f"The bot is {bot.status}: it is not checked."
    if bot.kind == "url" and not bot.endpoint:
        return "The bot has no address yet."
    return ""


DAY: Final = timedelta(days=1)

ORDER: Final = {"running": 0, "paused": 1, "planned": 2, "draft": 3, "over": 4}
"""Sort order of competitions by state."""


def competitions(session: Session, wanted: Wanted, number: int) -> Page:
    """Return competitions with their hosts and recent matches, running ones first.

    A row's `matches_a_bot` is the number of seats within a day per rated bot, None without bots.
    """
    columns = (Competition.title, Competition.slug, Competition.game, Competition.state)
    query = (
        select(Competition.id, Competition.format.label("format_name"), *columns)
        .where(contains(wanted["q"].lower(), Competition.format, *columns))
        .order_by(case(ORDER, value=Competition.state, else_=len(ORDER)), Competition.id.desc())
    )
    page = page_of(session, query, number)
    ids = [row.id for row in page.rows]
    hosts = hosts_by(session, CompetitionHost.competition_id, User.username, ids)
    rated = (
        select(Rating.competition_id, func.count())
        .join(Bot, Bot.id == Rating.bot_id)
        .where(Rating.competition_id.in_(ids), Bot.status == "ACTIVE")
        .group_by(Rating.competition_id)
    )
    its = select(Match.competition_id).where(Match.competition_id.in_(ids))
    its = its.group_by(Match.competition_id)
    is_recent = (Match.state == "done", Match.finished_at > session.now() - DAY)
    recent = its.add_columns(func.count(), func.sum(Match.players)).where(*is_recent)
    is_open = Match.state.in_(OPEN)
    troubled = its.add_columns(
        func.count().filter(is_open), func.count().filter(Match.state == "failed")
    ).where(Match.state.in_((*OPEN, "failed")))
    bots_of = dict(session.execute(rated).all())
    recent_of = {key: counts for key, *counts in session.execute(recent)}
    troubled_of = {key: counts for key, *counts in session.execute(troubled)}
    formats = site_formats()
    for row in page.rows:
        row.format = format_named(formats, row.format_name)
        row.hosts, its_bots = hosts.get(row.id, ()), bots_of.get(row.id, 0)
        row.matches, seats = recent_of.get(row.id, (0, 0))
        row.matches_a_bot = int(seats) / its_bots if its_bots else None
        row.open, row.failed = troubled_of.get(row.id, (0, 0))
    return page


SHOWN: Final[tuple[MatchState, ...]] = ("failed", "interrupted", "in_progress", "queued")
"""States of the listed matches, those that need attention first."""


def matches(session: Session, wanted: Wanted, number: int) -> Page:
    """Return unfinished and failed matches, the latest first within a state.

    A row's `request_id` is the id under which it appears in the logs of the processes; it
    `is_settled` if its round is over, so that it will not be played again.
    """
    query = (
        select(Match.match_id, Match.kind, Match.game, Match.state, Match.reason, Match.troubles)
        .add_columns(Match.worker, Match.at, Match.started_at, Match.finished_at, Match.request_id)
        .add_columns(Competition.title.label("competition"))
        .add_columns(func.coalesce(Round.closed_at.is_not(None), False).label("is_settled"))
        .outerjoin(Competition, Competition.id == Match.competition_id)
        .outerjoin(Round, Round.id == Match.round_id)
        .where(Match.state.in_([wanted["state"]] if wanted["state"] else SHOWN))
        .order_by(case({state: at for at, state in enumerate(SHOWN)}, value=Match.state))
        .order_by(Match.id.desc())
    )
    return page_of(session, query, number)


def machines(session: Session) -> Mapping[str, Any]:
    """Return the workers, the processes, the running comparisons, and the size of replays.

    The daily upkeep sums up the replays: their size is None before its first run.
    """
    live = (
        select(Worker).where(Worker.seen_at > session.now() - heartbeats.LIVE).order_by(Worker.id)
    )
    marks = heartbeats.moments(session)
    return {
        "counts": figures.troubled(session),
        "comparisons": friendly.running_comparisons(session, PER_PAGE),
        "marks": marks,
        "is_ticking": heartbeats.is_ticking(marks, session.clock),
        "workers": session.scalars(live).all(),
        "processes": heartbeats.live(session),
        "silent": heartbeats.silent(session),
        "replay_bytes": heartbeats.value_of(session, heartbeats.REPLAY_BYTES),
    }


KINDS: Final = {
    "reset": "new password",
    "verify": "confirm the address",
    "email": "confirm another address",
    "moving": "the address is changed",
    "github": "GitHub was connected or disconnected",
    "inactive": "a bot does not answer",
    "announce": "announcement of a host",
}
"""The subjects of emails, by kind."""

MAIL_STATES: Final[Mapping[str, str]] = {
    "dead": "could not be sent",
    "waiting": "waits",
    "sent": "sent",
    "dropped": "not to be sent",
}


def mails(session: Session, wanted: Wanted, number: int) -> Page:
    """Return emails, failed ones first, then the latest, without address, text and link.

    `to` is part of a username, or a complete email address: parts of addresses do not match.
    """
    key = wanted["to"].lower()
    is_address = or_(func.lower(User.email) == key, func.lower(Mail.email) == key)
    query = (
        select(Mail.id.label("mail_id"), Mail.kind, Mail.state, Mail.attempt, Mail.reason)
        .add_columns(Mail.created_at, Mail.due_at, Mail.ended_at, User.username)
        .join(User, User.id == Mail.user_id)
        .where(is_address if "@" in key else contains(key, User.username_key))
        .order_by(Mail.state != "dead", Mail.id.desc())
    )
    if wanted["state"]:
        query = query.where(Mail.state == wanted["state"])
    page = page_of(session, query, number)
    for row in page.rows:
        row.about, row.stands = KINDS.get(row.kind, row.kind), MAIL_STATES[row.state]
        if row.state == "waiting" and row.attempt:
            row.stands = f"waits after {row.attempt} of {mail.ATTEMPTS} attempts"
    return page


LAST: Final = 8
"""Number of log lines on the first page of the admin area."""

MOST_NAMED: Final = 100
"""Maximum number of bots of one name whose log lines are found: teams may share a name."""

LONGEST_DETAIL: Final = 300
"""Maximum length of an action's details, in characters."""


def log(session: Session, wanted: Wanted, number: int, size: int = PER_PAGE) -> Page:
    """Return audited actions by parts of their texts, the latest first.

    `of` is part of the object, such as `user:7`, or the name of a user or a bot.
    """
    query = (
        select(Audit.at, Audit.actor, Audit.verb, Audit.object, Audit.detail)
        .where(contains(wanted["who"].lower(), Audit.actor))
        .where(contains(wanted["verb"].lower(), Audit.verb))
        .order_by(Audit.id.desc())
    )
    if of := wanted["of"]:
        named = Audit.object.in_(objects_named(session, of))
        query = query.where(or_(contains(of.lower(), Audit.object), named))
    page = page_of(session, query, number, size)
    names = names_of(session, [row.object for row in page.rows])
    for row in page.rows:
        row.name, row.words = names.get(row.object, ""), words_of(row.detail)
    return page


def latest(session: Session) -> Sequence[Row]:
    """Return the latest actions."""
    return log(session, {"who": "", "verb": "", "of": ""}, 1, LAST).rows


def objects_named(session: Session, name: str) -> list[str]:
    """Return the log objects with a name: a user, and bots of any game."""
    users = select(User.id).where(User.username_key == username_key(name), User.username_key != "")
    named = select(Bot.bot_id).where(Bot.name_key == name_key(name)).limit(MOST_NAMED)
    return [
        *(f"user:{row}" for row in session.scalars(users)),
        *(f"bot:{row}" for row in session.scalars(named)),
    ]


def names_of(session: Session, objects: Sequence[str]) -> dict[str, str]:
    """Return the names of users and bots by their log objects, without those of deleted ones."""
    parts = [one.partition(":")[::2] for one in objects]
    user_ids = {int(key) for kind, key in parts if kind == "user" and key.isdecimal()}
    bot_ids = {key for kind, key in parts if kind == "bot"}
    users = select(User.id, User.username).where(User.id.in_(user_ids))
    programs = select(Bot.bot_id, Bot.name).where(Bot.bot_id.in_(bot_ids))
    names = {f"user:{key}": name or "" for key, name in session.execute(users)}
    return names | {f"bot:{key}": name for key, name in session.execute(programs)}


def words_of(detail: Mapping[str, Any]) -> str:
    """Return the details of an action in a line: `SUSPENDED to PENDING, reason: floods us`."""
    others = {key: value for key, value in detail.items() if value not in ("", None)}
    change = ""
    if {"from", "to"} <= others.keys():
        change = f"{others.pop('from')} to {others.pop('to')}"
    words = [change, *(f"{key}: {plain(value)}" for key, value in others.items())]
    return ", ".join(filter(None, words))[:LONGEST_DETAIL]


def plain(value: Any) -> str:
    """Return a JSON value in readable form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(plain, value)) if isinstance(value, list) else str(value)


LISTS: Final[Mapping[str, Listing]] = {
    "people": Listing(
        title="People",
        find=people,
        filters=[Field("q", "Username")],
        key=["username"],
        one="account",
    ),
    "bots": Listing(
        title="Bots",
        find=bots,
        filters=[
            Field("q", "Name, owner, team, host or id"),
            Field("state", "State", choices={word: word for word in (*WORDS.values(), FAILING)}),
        ],
        key=["bot_id"],
        one="bot",
    ),
    "competitions": Listing(
        title="Competitions",
        find=competitions,
        filters=[Field("q", "Title, format, game or state")],
        key=["format_name", "slug"],
        one="competition",
    ),
    "matches": Listing(
        title="Matches & workers",
        find=matches,
        filters=[Field("state", "State", choices={state: state for state in SHOWN})],
        key=["match_id"],
        one="match",
        more=machines,
    ),
    "mails": Listing(
        title="Mails",
        find=mails,
        filters=[
            Field("to", "Username, or a whole address", 254),
            Field("state", "State", choices=MAIL_STATES),
        ],
        key=["mail_id"],
        one="mail",
        more=lambda session: {"numbers": mail.numbers(session)},
    ),
    "log": Listing(
        title="Log",
        find=log,
        filters=[Field("who", "Who"), Field("verb", "What"), Field("of", "Of")],
    ),
}
"""The lists by name, in the order in which pages link to them."""
