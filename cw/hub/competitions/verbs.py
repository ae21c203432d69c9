"""Competitions: a game and a format each; made, set, paused and resumed by the operator."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, bindparam, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.hub.accounts import audit
from cw.hub.clock import Clock
from cw.hub.competitions import dates as planned_dates
from cw.hub.competitions import description as descriptions
from cw.hub.competitions.dates import Dates
from cw.hub.matches import planning
from cw.hub.pages.names import clean_name
from cw.hub.store.tables import Competition, CompetitionState, Match

OPERATOR: Final = "operator"
LONGEST_SLUG: Final = 32
STEERED: Final[Mapping[str, CompetitionState]] = {
    "planned": "planned",
    "running": "running",
    "paused": "paused",
    "over": "over",
}
"""The states to which somebody may bring a competition, as forms send them."""

LONGEST_TITLE: Final = 80
SINCE: Final = "since"
"""The setting that says since when a competition has been running, as ISO 8601."""


class NoSuchCompetition(UsageError):
    """There is no competition of that name."""


class CompetitionTaken(UsageError):
    """There is a competition of this format and name already."""


@dataclass(frozen=True, slots=True)
class CompetitionFacts:
    """A competition as it is."""

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
    """Rises with every change that its pages show."""
    last_seq: int = 0
    """How many results were rated."""
    description: str = ""
    """Markdown."""
    zone: str = "UTC"
    """The time zone in which its hosts enter times."""
    picture: str | None = None
    """The SHA-256 of what stands for it in lists and links."""

    @property
    def since(self) -> datetime | None:
        """Since when it has been running; None before its first start."""
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
"""A competition by its format and slug: made once, as many pages ask it."""


def facts_of(row: Competition | Row[*tuple[Any, ...]]) -> CompetitionFacts:
    """Return a row as a value."""
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
    """Return all competitions, by format and slug."""
    rows = session.scalars(select(Competition).order_by(Competition.format, Competition.slug))
    return [facts_of(row) for row in rows]


def of_format(session: Session, name: str) -> list[CompetitionFacts]:
    """Return the competitions of a format, those that were made last first."""
    query = select(Competition).where(Competition.format == name).order_by(Competition.id.desc())
    return [facts_of(row) for row in session.scalars(query)]


def match_with_key(session: Session, competition: int, key: str) -> str | None:
    """Return the name of the match of a competition that has a key, None if there is none."""
    wanted = (Match.competition_id == competition, Match.key == key)
    return session.scalar(select(Match.match_id).where(*wanted))


def named(session: Session, name: str) -> CompetitionFacts:
    """Return the competition `slug`, or `format/slug` where several share the slug.

    Raises NoSuchCompetition, also where it takes the format to tell which one is meant.
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
    """Return the names of competitions with their formats, as commands take them."""
    return ", ".join(f"{row.format}/{row.slug}" for row in rows)


def games_played(session: Session, formats: Collection[str]) -> set[str]:
    """Return the games of which a competition of one of these formats runs, or is planned."""
    going_on = (Competition.format.in_(formats), Competition.state.in_(("planned", "running")))
    return set(session.scalars(select(Competition.game).where(*going_on)))


def find(session: Session, kind: str, slug: str) -> CompetitionFacts | None:
    """Return a competition by its format and slug, None if there is none."""
    row = session.execute(BY_SLUG, {"format": kind, "slug": slug}).one_or_none()
    return None if row is None else facts_of(row)


def new(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    kind: str,
    game: str,
    *,
    slug: str = "",
    title: str = "",
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    description: str = "",
    actor: str = OPERATOR,
) -> CompetitionFacts:
    """Make a competition, a `draft`; without a slug it is named after its game.

    Its seed is drawn, unless one is given. Raises UsageError for a title that cannot be a name, and
    for a description that cannot be one.

    Twice, or by two at once: the unique key decides, and the others are told CompetitionTaken.
    """
    row = Competition(
        slug=slug or game,
        game=game,
        format=kind,
        title=clean_name(title or f"{game} {kind}", LONGEST_TITLE),
        settings=dict(settings or {}),
        seed=planning.draw_seed(game) if seed is None else seed,
        description=descriptions.checked(description),
        created_at=clock(),
    )
    try:
        with session.begin_nested():
            session.add(row)
            session.flush()
    except IntegrityError:
        raise CompetitionTaken(f"there is a competition {kind}/{row.slug} already") from None
    name = f"competition:{kind}/{row.slug}"
    audit.note(session, clock, actor, "new", name, competition_id=row.id)
    return facts_of(row)


def lock(session: Session, competition: int) -> Competition:
    """Lock the row of a competition until this transaction ends, and return it."""
    query = select(Competition).where(Competition.id == competition).with_for_update()
    return session.scalars(query).one()


def set_state(
    session: Session,
    clock: Clock,
    competition: int,
    state: CompetitionState,
    actor: str = OPERATOR,
) -> None:
    """Let a competition be planned, run, pause or be over; one that runs notes since when.

    Twice: the same, and `since` stays. Raises UsageError for one that has begun, or has no start,
    and should be planned.
    """
    row = lock(session, competition)
    if row.state == state:
        return
    if state == "planned":
        check_plan(session, clock, row)
    planned_dates.settle(session, clock, competition, state)
    row.state = state
    row.revision += 1
    if state == "running":
        row.settings = {**row.settings, SINCE: clock().isoformat()}
    name = f"competition:{row.format}/{row.slug}"
    audit.note(session, clock, actor, state, name, competition_id=row.id)


def check_plan(session: Session, clock: Clock, row: Competition) -> None:
    """Raise UsageError unless a competition is a draft that begins by itself."""
    dates = planned_dates.dates_of(session, row.id)
    if row.state != "draft":
        raise UsageError(f"{row.format}/{row.slug} has begun already")
    if dates.starts is None:
        raise UsageError(f"{row.format}/{row.slug} has no start: set one first")
    dates.check(clock())


def set_dates(
    session: Session, clock: Clock, facts: CompetitionFacts, dates: Dates, actor: str = OPERATOR
) -> None:
    """Set when a competition begins and ends by itself, and the zone in which that was typed.

    One that is planned and loses its start is a draft again. Twice: the same. Raises UsageError for
    dates in the past, or the wrong way round, and for the start of one that has begun.
    """
    dates.check(clock())
    row = lock(session, facts.id)
    if dates.starts is not None and row.state not in ("draft", "planned"):
        raise UsageError(f"{row.format}/{row.slug} has begun already")
    planned_dates.put(session, row.id, dates)
    row.zone = dates.zone
    if row.state == "planned" and dates.starts is None:
        row.state = "draft"
    row.revision += 1
    note_dates(session, clock, row, dates, actor)


def note_dates(session: Session, clock: Clock, row: Competition, dates: Dates, actor: str) -> None:
    """Write dates into the audit."""
    name = f"competition:{row.format}/{row.slug}"
    moments = {"starts": dates.starts, "ends": dates.ends}
    detail = {what: at and at.isoformat() for what, at in moments.items()} | {"zone": row.zone}
    audit.note(session, clock, actor, "set dates", name, detail=detail, competition_id=row.id)


def set_paused(
    session: Session, clock: Clock, competition: int, actor: str, *, paused: bool
) -> bool:
    """Pause a competition that runs, or let a paused one go on; False for one in another state.

    Twice, or by two at once: False for the second.
    """
    before: CompetitionState = "running" if paused else "paused"
    if lock(session, competition).state != before:
        return False
    set_state(session, clock, competition, "paused" if paused else "running", actor)
    return True


def set_values(
    session: Session,
    clock: Clock,
    competition: int,
    values: Mapping[str, Any],
    actor: str = OPERATOR,
) -> None:
    """Keep settings, which their format has checked; others stay as they are. Twice: the same."""
    row = lock(session, competition)
    row.settings = {**row.settings, **values}
    row.revision += 1
    name = f"competition:{row.format}/{row.slug}"
    audit.note(session, clock, actor, "set", name, detail=values, competition_id=row.id)


def describe(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    competition: int,
    *,
    title: str | None = None,
    description: str | None = None,
    actor: str = OPERATOR,
) -> None:
    """Give a competition another title or description; None: it stays. Twice: the same.

    Raises UsageError for a title that cannot be a name, and a description that cannot be one.
    """
    row = lock(session, competition)
    if title is not None:
        row.title = clean_name(title, LONGEST_TITLE)
    if description is not None:
        row.description = descriptions.checked(description)
    row.revision += 1
    name = f"competition:{row.format}/{row.slug}"
    detail = {"title": row.title, "characters": len(row.description)}
    audit.note(session, clock, actor, "describe", name, detail=detail, competition_id=row.id)


def set_picture(
    session: Session,
    clock: Clock,
    competition: int,
    picture: str | None,
    *,
    actor: str = OPERATOR,
) -> None:
    """Let a stored picture, by its SHA-256, stand for a competition; None: none. Twice: once."""
    row = lock(session, competition)
    row.picture = picture
    row.revision += 1
    name = f"competition:{row.format}/{row.slug}"
    verb = "set picture" if picture else "remove picture"
    audit.note(session, clock, actor, verb, name, competition_id=row.id)
