"""Competitions of any format: creating, finding, describing, starting, pausing and ending them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from textwrap import shorten
from typing import Any, Final

from markdown_it.token import Token
from markupsafe import Markup
from sqlalchemy import Row, bindparam, delete, select, update
from sqlalchemy.exc import IntegrityError

from cw.errors import UsageError, short
from cw.web.documents import MARKDOWN, begin_headings_at, link_to, rendered
from cw_hub.accounts import audit
from cw_hub.matches import planning
from cw_hub.pages.forms import UNKNOWN_ZONE, clean_name, moment_in, zone_named
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, CompetitionState, Event, Match

LONGEST: Final = 4000
"""Maximum length of a description, in characters."""

LONGEST_SENTENCE: Final = 200
"""Maximum length of a description's first sentence in link previews, in characters."""

HEADINGS: Final = 2
"""Level of a description's top headings, below the page's own heading."""

UNSEEN: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, lone surrogates, and characters that change the writing direction."""

PLACES: Final = re.compile("https?://|/(?!/)")
"""Allowed prefixes of link targets: URLs of other sites, and paths of this one."""

NEXT_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])")


def checked(text: str) -> str:
    """Normalize a description for storage; raise UsageError if it is invalid."""
    text = re.sub("\r\n?", "\n", text).strip()
    if len(text) > LONGEST:
        raise UsageError(f"the description has {len(text):,} characters, more than {LONGEST:,}")
    if UNSEEN.search(text):
        raise UsageError("the description contains invisible characters")
    return text


@lru_cache(maxsize=256)
def as_html(text: str) -> Markup:
    """Render a description as HTML; raw tags become text, and links lead only to web pages."""
    tokens = MARKDOWN.parse(text)
    link_to(tokens, place_of)
    begin_headings_at(tokens, HEADINGS)
    return rendered(tokens)


def place_of(target: str) -> str | None:
    """Return a link target if it is allowed, or None."""
    return target if PLACES.match(target) else None


@lru_cache(maxsize=256)
def first_sentence(text: str) -> str:
    """Return the first sentence of the first paragraph as plain text, shortened if it is long.

    Returns "" if there is no paragraph.
    """
    tokens = MARKDOWN.parse(text)
    paragraphs = (
        after.children or []
        for before, after in pairwise(tokens)
        if before.type == "paragraph_open"
    )
    words = " ".join(plain(next(paragraphs, [])).split())
    return shorten(NEXT_SENTENCE.split(words, 1)[0], LONGEST_SENTENCE, placeholder=" ...")


def plain(tokens: Sequence[Token]) -> str:
    """Return the text of tokens without markup."""
    return "".join(token.content or " " * (token.type in BREAKS) for token in tokens)


BREAKS: Final = ("softbreak", "hardbreak")


START: Final = "start"
END: Final = "end"
TITLES: Final = {START: "It begins", END: "It ends"}

OCCURRED: Final[Mapping[CompetitionState, tuple[str, ...]]] = {
    "running": (START,),
    "over": (START, END),
}
"""The events that have occurred in each state, automatically or not."""

PROBLEM: Final = "problem"
"""Key in the data of a start event: the reason why the competition could not start."""

NO_TIME: Final = "{} is not a time (try 2027-01-31T18:00)"
PAST: Final = "the {} is in the past"
TURNED: Final = "it must end after its start"


@dataclass(frozen=True, slots=True)
class Dates:
    """When a competition starts and ends automatically; None: only manually."""

    starts: datetime | None = None
    ends: datetime | None = None
    zone: str = "UTC"
    """The time zone in which the dates were entered."""

    def check(self, now: datetime) -> None:
        """Raise UsageError if a date is in the past, or the end is not after the start."""
        for name, at in ((START, self.starts), (END, self.ends)):
            if at is not None and at <= now:
                raise UsageError(PAST.format(name))
        if self.starts is not None and self.ends is not None and self.ends <= self.starts:
            raise UsageError(TURNED)


def read_dates(starts: str, ends: str, zone: str) -> Dates:
    """Parse dates entered in a time zone; "" means no date.

    Raises UsageError for an invalid time or an unknown zone.
    """
    if zone_named(zone) is None:
        raise UsageError(UNKNOWN_ZONE)
    return Dates(read_date(starts, zone), read_date(ends, zone), zone or "UTC")


def read_date(text: str, zone: str) -> datetime | None:
    """Parse a date entered in a time zone; None for "". Raises UsageError if it is invalid."""
    if not text:
        return None
    at = moment_in(text, zone)
    if at is None:
        raise UsageError(NO_TIME.format(short(text)))
    return at


def field_text(at: datetime | None, zone: str) -> str:
    """Return a date as the value of a form field in a time zone; "" for None."""
    return "" if at is None else f"{at.astimezone(zone_named(zone)):%Y-%m-%dT%H:%M}"


def dates_of(session: Session, competition: int) -> Dates:
    """Return a competition's pending dates: its automatic start and end that are yet to occur."""
    return dates_of_all(session, [competition])[competition]


def dates_of_all(session: Session, competitions: Collection[int]) -> Mapping[int, Dates]:
    """Return the pending dates of several competitions by id; only announced events count."""
    query = (
        select(Event.competition_id, Event.kind, Event.at)
        .where(Event.competition_id.in_(competitions), *IS_PLANNED, Event.announced)
        .order_by(Event.at.desc())
    )
    planned: dict[int, dict[str, datetime]] = defaultdict(dict)
    for competition, kind, at in session.execute(query):
        planned[competition][kind] = at
    return {
        competition: Dates(planned[competition].get(START), planned[competition].get(END))
        for competition in competitions
    }


IS_PLANNED: Final = (
    Event.kind.in_((START, END)),
    Event.group_id.is_(None),
    Event.applied_at.is_(None),
)
"""Conditions for a pending start or end of a whole competition."""


def put(session: Session, competition: int, dates: Dates) -> None:
    """Replace the pending dates of a competition."""
    session.execute(delete(Event).where(Event.competition_id == competition, *IS_PLANNED))
    for kind, at in ((START, dates.starts), (END, dates.ends)):
        if at is not None:
            about = {"competition_id": competition, "kind": kind, "at": at}
            session.add(Event(**about, title=TITLES[kind], text="", announced=True))
    session.flush()


def settle(session: Session, competition: int, state: CompetitionState) -> None:
    """Mark pending dates as applied when a competition has reached their state in another way."""
    of_it = (Event.competition_id == competition, *IS_PLANNED)
    settled = Event.kind.in_(OCCURRED.get(state, ()))
    session.execute(update(Event).where(*of_it, settled).values(applied_at=session.now()))


def problem_of(session: Session, competition: int) -> str:
    """Return why a competition could not start at its last start event, or ""."""
    occurred = (Event.kind == START, Event.applied_at.is_not(None))
    data = session.scalar(
        select(Event.data)
        .where(Event.competition_id == competition, *occurred)
        .order_by(Event.applied_at.desc(), Event.id.desc())
        .limit(1)
    )
    return str((data or {}).get(PROBLEM, ""))


LONGEST_SLUG: Final = 32
STEERED: Final[Mapping[str, CompetitionState]] = {
    "planned": "planned",
    "running": "running",
    "paused": "paused",
    "over": "over",
}
"""The states that a form may set."""

LONGEST_TITLE: Final = 80
SINCE: Final = "since"
"""Name of the setting with the ISO 8601 time since when a competition has been running."""


class NoSuchCompetition(UsageError):
    """There is no competition with this name."""


class CompetitionTaken(UsageError):
    """There is already a competition with this format and slug."""


@dataclass(frozen=True, slots=True)
class CompetitionFacts:
    """The data of a competition."""

    id: int
    slug: str
    game: str
    format: str
    title: str
    state: CompetitionState
    settings: Mapping[str, Any]
    created_at: datetime
    seed: int
    revision: int = 0
    """Increases with every change to its pages."""
    last_seq: int = 0
    """The number of rated results."""
    description: str = ""
    """Markdown."""
    zone: str = "UTC"
    """The time zone in which its hosts enter times."""
    picture: str | None = None
    """The SHA-256 of its preview image in lists and links."""

    @property
    def since(self) -> datetime | None:
        """Since when it has been running, or None before its first start."""
        moment = self.settings.get(SINCE)
        return None if moment is None else datetime.fromisoformat(moment)


_COLUMNS = Competition.__table__.c

BY_SLUG: Final = select(
    _COLUMNS.id,
    _COLUMNS.slug,
    _COLUMNS.game,
    _COLUMNS.format,
    _COLUMNS.title,
    _COLUMNS.state,
    _COLUMNS.settings,
    _COLUMNS.created_at,
    _COLUMNS.seed,
    _COLUMNS.revision,
    _COLUMNS.last_seq,
    _COLUMNS.description,
    _COLUMNS.zone,
    _COLUMNS.picture,
).where(_COLUMNS.format == bindparam("format"), _COLUMNS.slug == bindparam("slug"))
"""Selects a competition by format and slug. Built once, because many pages run it."""


def facts_of(row: Competition | Row[*tuple[Any, ...]]) -> CompetitionFacts:
    """Convert a row to CompetitionFacts."""
    return CompetitionFacts(
        row.id,
        row.slug,
        row.game,
        row.format,
        row.title,
        row.state,
        row.settings,
        row.created_at,
        row.seed,
        row.revision,
        row.last_seq,
        row.description,
        row.zone,
        row.picture,
    )


def everything(session: Session) -> list[CompetitionFacts]:
    """Return all competitions, ordered by format and slug."""
    rows = session.scalars(select(Competition).order_by(Competition.format, Competition.slug))
    return [facts_of(row) for row in rows]


def of_format(session: Session, name: str) -> list[CompetitionFacts]:
    """Return the competitions of a format, newest first."""
    query = select(Competition).where(Competition.format == name).order_by(Competition.id.desc())
    return [facts_of(row) for row in session.scalars(query)]


def match_with_key(session: Session, competition: int, key: str) -> str | None:
    """Return the match id of a competition's match with a key, or None."""
    wanted = (Match.competition_id == competition, Match.key == key)
    return session.scalar(select(Match.match_id).where(*wanted))


def named(session: Session, name: str) -> CompetitionFacts:
    """Return the competition `slug`, or `format/slug` if several share the slug.

    Raises NoSuchCompetition if there is none, or if the slug alone is ambiguous.
    """
    wanted, slash, slug = name.rpartition("/")
    known = everything(session)
    meant = [row for row in known if row.slug == slug and (not slash or row.format == wanted)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise NoSuchCompetition(f"{name} is ambiguous: choose one of {paths_of(meant)}")
    raise NoSuchCompetition(
        f"there is no competition {name}; there are: {paths_of(known) or 'none yet'}"
    )


def paths_of(rows: Iterable[CompetitionFacts]) -> str:
    """Return competitions as `format/slug`, the form that commands take."""
    return ", ".join(f"{row.format}/{row.slug}" for row in rows)


def games_played(session: Session, formats: Collection[str]) -> set[str]:
    """Return the games with a running or planned competition of these formats."""
    going_on = (Competition.format.in_(formats), Competition.state.in_(("planned", "running")))
    return set(session.scalars(select(Competition.game).where(*going_on)))


def find(session: Session, kind: str, slug: str) -> CompetitionFacts | None:
    """Return a competition by format and slug, or None."""
    row = session.execute(BY_SLUG, {"format": kind, "slug": slug}).one_or_none()
    return None if row is None else facts_of(row)


def new(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    kind: str,
    game: str,
    *,
    slug: str = "",
    title: str = "",
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    description: str = "",
) -> CompetitionFacts:
    """Create a competition as a `draft`; its slug defaults to the game.

    The seed is drawn unless given. Raises UsageError if title or description are invalid, and
    CompetitionTaken if format and slug exist; of concurrent callers, exactly one succeeds.
    """
    row = Competition(
        slug=slug or game,
        game=game,
        format=kind,
        title=clean_name(title or f"{game} {kind}", LONGEST_TITLE),
        settings=dict(settings or {}),
        seed=planning.draw_seed(game) if seed is None else seed,
        description=checked(description),
        created_at=session.now(),
    )
    try:
        with session.begin_nested():
            session.add(row)
            session.flush()
    except IntegrityError:
        raise CompetitionTaken(f"there is a competition {kind}/{row.slug} already") from None
    name = f"competition:{kind}/{row.slug}"
    audit.record(session, "new", name, competition_id=row.id)
    return facts_of(row)


def lock(session: Session, competition: int) -> Competition:
    """Lock the row of a competition until this transaction ends, and return it."""
    query = select(Competition).where(Competition.id == competition).with_for_update()
    return session.scalars(query).one()


def set_state(
    session: Session,
    competition: int,
    state: CompetitionState,
) -> None:
    """Set a competition's state; when it starts running, store the time as `since`.

    Idempotent: a repeated call keeps `since`. Raises UsageError when planning a competition that
    has already started or has no start.
    """
    row = lock(session, competition)
    if row.state == state:
        return
    if state == "planned":
        check_plan(session, row)
    settle(session, competition, state)
    row.state = state
    row.revision += 1
    if state == "running":
        row.settings = {**row.settings, SINCE: session.now().isoformat()}
    name = f"competition:{row.format}/{row.slug}"
    audit.record(session, state, name, competition_id=row.id)


def check_plan(session: Session, row: Competition) -> None:
    """Raise UsageError unless a competition is a draft with an automatic start."""
    dates = dates_of(session, row.id)
    if row.state != "draft":
        raise UsageError(f"{row.format}/{row.slug} has already begun")
    if dates.starts is None:
        raise UsageError(f"{row.format}/{row.slug} has no start: set one first")
    dates.check(session.now())


def set_dates(session: Session, facts: CompetitionFacts, dates: Dates) -> None:
    """Set when a competition starts and ends automatically, and the time zone of the input.

    A planned competition without a start becomes a draft again. Idempotent. Raises UsageError for
    dates in the past or in the wrong order, and for the start of a competition that has already
    started.
    """
    dates.check(session.now())
    row = lock(session, facts.id)
    if dates.starts is not None and row.state not in ("draft", "planned"):
        raise UsageError(f"{row.format}/{row.slug} has already begun")
    put(session, row.id, dates)
    row.zone = dates.zone
    if row.state == "planned" and dates.starts is None:
        row.state = "draft"
    row.revision += 1
    note_dates(session, row, dates)


def note_dates(session: Session, row: Competition, dates: Dates) -> None:
    """Record dates in the audit log."""
    name = f"competition:{row.format}/{row.slug}"
    moments = {"starts": dates.starts, "ends": dates.ends}
    detail = {what: at and at.isoformat() for what, at in moments.items()} | {"zone": row.zone}
    audit.record(session, "set dates", name, detail=detail, competition_id=row.id)


def set_paused(session: Session, competition: int, *, paused: bool) -> bool:
    """Pause or resume a competition; return False if it is in another state.

    Of concurrent callers, exactly one succeeds; a repeated call returns False.
    """
    before: CompetitionState = "running" if paused else "paused"
    if lock(session, competition).state != before:
        return False
    set_state(session, competition, "paused" if paused else "running")
    return True


def set_values(
    session: Session,
    competition: int,
    values: Mapping[str, Any],
) -> None:
    """Update settings that their format has checked; others stay. Idempotent."""
    row = lock(session, competition)
    row.settings = {**row.settings, **values}
    row.revision += 1
    name = f"competition:{row.format}/{row.slug}"
    audit.record(session, "set", name, detail=values, competition_id=row.id)


def describe(
    session: Session,
    competition: int,
    *,
    title: str | None = None,
    description: str | None = None,
) -> None:
    """Change title and description of a competition; None: keep. Idempotent.

    Raises UsageError if title or description are invalid.
    """
    row = lock(session, competition)
    if title is not None:
        row.title = clean_name(title, LONGEST_TITLE)
    if description is not None:
        row.description = checked(description)
    row.revision += 1
    name = f"competition:{row.format}/{row.slug}"
    detail = {"title": row.title, "characters": len(row.description)}
    audit.record(session, "describe", name, detail=detail, competition_id=row.id)


def set_picture(
    session: Session,
    competition: int,
    picture: str | None,
) -> None:
    """Set a competition's image to a stored one, by its SHA-256; None: remove it. Idempotent."""
    row = lock(session, competition)
    row.picture = picture
    row.revision += 1
    name = f"competition:{row.format}/{row.slug}"
    verb = "set picture" if picture else "remove picture"
    audit.record(session, verb, name, competition_id=row.id)
