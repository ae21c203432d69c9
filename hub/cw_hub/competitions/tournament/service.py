"""Creates, configures and schedules tournaments; reads their configuration files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import and_, delete, func, select

from cw import documents
from cw.errors import ProtocolError, UsageError, short
from cw.games.wire import read_json
from cw.league.ladder import EventKind, Mode
from cw_hub.accounts import audit
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import IS_PLANNED, CompetitionFacts, Dates, lock
from cw_hub.competitions.tournament.settings import (
    CHANGEABLE,
    FORMAT,
    clean_name,
    name_key,
    read_boards,
    settings_of,
    stored_settings,
)
from cw_hub.competitions.tournament.teams import (
    UNDONE_FOR,
    ListedTeam,
    NewGroup,
    NewTeam,
    add_group,
    add_teams,
    groups_of,
    mark_changed,
    named_group,
    renew_ends,
)
from cw_hub.pages.forms import is_slug
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, CompetitionState, Event

MOST_EVENTS: Final = 200
LONGEST_TITLE: Final = 120
LONGEST_TEXT: Final = 2000

DATES: Final[Mapping[EventKind, str]] = {"start": "Start", "end": "End"}
"""The titles of a tournament's start and end."""

BUTTONS: Final[Mapping[EventKind, tuple[CompetitionState, ...]]] = {
    "start": ("draft",),
    "pause": ("running",),
    "resume": ("paused",),
    "end": ("running", "paused"),
}
"""Events with a button, each with the tournament states in which it is shown."""

TAKEN_BACK: Final = "The end was undone"
"""The new title of an end that a host has undone."""

NO_TIME: Final = "Please enter a time"
PAST: Final = "The time is in the past"
NO_TITLE: Final = "Please enter a title"
NO_BOARD: Final = "Please enter a board"


class NewEvent(Struct, frozen=True, forbid_unknown_fields=True):
    """An event to plan; an entry of `[[events]]` in a configuration file."""

    kind: EventKind
    at: datetime
    title: str
    text: str = ""
    group: str = ""
    """The name of its group; "": all groups."""
    boards: Sequence[Mapping[str, Any]] = ()
    mode: Mode = "add"
    announced: bool = False
    """Whether pages show the title before the event takes effect."""


def add_event(
    session: Session,
    competition: int,
    event: NewEvent,
    *,
    is_late: bool = False,
) -> int:
    """Plan an event; return its id. `progress.advance` applies it when it is due.

    A start with `is_late` replaces a planned one. Raises UsageError for an event in the past,
    unless `is_late`, and for invalid boards.
    """
    row = lock(session, competition)
    if event.at < session.now() and not is_late:
        raise UsageError(PAST)
    title, text = clean_texts(event)
    groups = groups_of(session, competition)
    group = named_group(groups, event.group) if event.group else None
    if event.kind == "final" and all(other.kind != "final" for other in groups):
        raise UsageError("there is no final sandbox: add one first")
    planned = session.scalar(select(func.count()).where(Event.competition_id == competition)) or 0
    if planned >= MOST_EVENTS:
        raise UsageError(f"a tournament has at most {MOST_EVENTS} events")
    new = Event(
        competition_id=competition,
        group_id=None if group is None else group.id,
        at=event.at,
        kind=event.kind,
        title=title,
        text=text,
        data=event_data(row, event),
        announced=event.announced,
    )
    session.add(new)
    session.flush()
    if is_late and event.kind == "start":
        call_off_starts(session, row.id, new.id)
    if event.kind == "end":
        renew_ends(session, competition)
    mark_changed(row, *groups)
    subject = f"event:{row.slug}/{new.id}"
    detail = {"kind": new.kind, "at": new.at.isoformat(), "title": title}
    audit.record(session, "add event", subject, detail=detail, competition_id=row.id)
    return new.id


def add_now(
    session: Session,
    competition: int,
    *,
    kind: EventKind,
    text: str,
) -> int:
    """Add a start, pause, resumption or end with immediate effect; return its id.

    Raises UsageError if the tournament is in a state without a button for it.
    """
    row = lock(session, competition)
    if row.state not in BUTTONS[kind]:
        raise UsageError("The tournament has changed since you loaded the page.")
    event = NewEvent(kind, session.now(), kind.capitalize(), text, announced=True)
    # `is_late`, because the event's time is already in the past when it is checked.
    return add_event(session, competition, event, is_late=True)


def call_off_starts(session: Session, competition: int, but: int) -> None:
    """Call off the planned starts of a tournament, except the start with the id `but`."""
    starts = (Event.competition_id == competition, Event.kind == "start", *IS_PLANNED)
    for event in session.scalars(select(Event.id).where(*starts, Event.id != but)).all():
        remove_event(session, competition, event)


def clean_texts(event: NewEvent) -> tuple[str, str]:
    """Return the cleaned title and text of an event, or raise UsageError."""
    title = event.title.strip()
    if not title:
        raise UsageError(NO_TITLE)
    title = clean_name(title, LONGEST_TITLE)
    if len(event.text) > LONGEST_TEXT:
        raise UsageError(f"longer than {LONGEST_TEXT} characters")
    if "\0" in event.text:
        raise UsageError("the text contains invisible characters")
    return title, event.text.strip()


def event_data(competition: Competition, event: NewEvent) -> dict[str, Any]:
    """Return the stored data of an event: the boards it adds."""
    if not event.boards:
        if event.kind == "boards":
            raise UsageError(NO_BOARD)
        return {}
    if event.kind not in ("boards", "final"):
        raise UsageError(f"an event {event.kind} has no boards")
    boards = read_boards(competition.game, event.boards)
    return {"boards": [board.to_json() for board in boards], "mode": event.mode}


def remove_event(session: Session, competition: int, event: int) -> None:
    """Call off an event that has not been applied yet; raise UsageError for any other."""
    row = lock(session, competition)
    planned = (Event.id == event, Event.competition_id == competition, Event.applied_at.is_(None))
    title = session.scalar(delete(Event).where(*planned).returning(Event.title))
    if title is None:
        raise UsageError("this event is no longer planned")
    renew_ends(session, competition)
    mark_changed(row, *groups_of(session, competition))
    subject, detail = f"event:{row.slug}/{event}", {"title": title}
    audit.record(session, "remove event", subject, detail=detail, competition_id=row.id)


def schedule(session: Session, facts: CompetitionFacts, dates: Dates) -> None:
    """Plan the start and end of a tournament, replacing earlier plans.

    Both are announced. Idempotent. Raises UsageError for dates in the past or in the wrong order.
    """
    dates.check(session.now())
    row = lock(session, facts.id)
    row.zone = dates.zone
    planned = session.scalars(select(Event).where(Event.competition_id == row.id, *IS_PLANNED))
    wanted = {("start", dates.starts), ("end", dates.ends)}
    for event in planned.all():
        if (event.kind, event.at) in wanted:
            wanted.remove((event.kind, event.at))
        else:
            remove_event(session, row.id, event.id)
    for kind, title in DATES.items():
        at = next((at for one, at in wanted if one == kind), None)
        if at is not None:
            add_event(session, row.id, NewEvent(kind, at, title, announced=True))


MAIN: Final = "MAIN"
"""The group that a tournament gets if its configuration defines none."""


class TournamentConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """The full specification of a new tournament; all but its slug may come from a file."""

    slug: str
    game: str
    title: str = ""
    """"": the slug."""
    seed: int | None = None
    """None: generate one."""
    settings: Mapping[str, Any] = msgspec.field(default_factory=dict)
    groups: Sequence[NewGroup] = ()
    teams: Sequence[NewTeam] = ()
    events: Sequence[NewEvent] = ()
    description: str = ""
    """Markdown."""


@dataclass(frozen=True, slots=True)
class NewTournament:
    """A newly created tournament."""

    id: int
    slug: str
    title: str
    teams: tuple[int, ...]
    """The ids of its teams, in configuration order."""


def create(session: Session, config: TournamentConfig) -> NewTournament:
    """Create a tournament with its groups, teams and events; it is a `draft` until it starts.

    Past events are applied immediately. Raises UsageError if the configuration is invalid, and
    CompetitionTaken if there is already a tournament with this slug.
    """
    if not is_slug(config.slug):
        raise UsageError(
            f"{short(config.slug)} is not a valid slug: use 1 to 32 lower-case letters, digits "
            "and hyphens"
        )
    settings_of(config.game, config.settings)
    row = competitions_service.new(
        session,
        FORMAT,
        config.game,
        slug=config.slug,
        title=config.title or config.slug,
        settings=config.settings,
        seed=config.seed,
        description=config.description,
    )
    for group in config.groups or (NewGroup(MAIN),):
        add_group(session, row.id, group)
    teams = add_teams(session, row.id, config.teams) if config.teams else []
    for event in config.events:
        add_event(session, row.id, event, is_late=True)
    return NewTournament(row.id, row.slug, row.title, tuple(teams))


def typed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the typed settings of a tournament; values that are valid JSON are parsed as JSON."""
    read: dict[str, Any] = {}
    for name, value in values.items():
        try:
            read[name] = read_json(value) if isinstance(value, str) else value
        except ProtocolError:
            read[name] = value
    return read


def settings_and_groups(
    fields: Mapping[str, Any],
) -> tuple[dict[str, Any], Sequence[NewGroup]]:
    """Return the settings and groups of a new tournament from the fields of a form."""
    settings = dict(fields)
    names = [name.strip() for name in settings.pop("groups", "").split(",") if name.strip()]
    return typed(settings), [NewGroup(name) for name in names]


LARGEST_FILE: Final = 1024 * 1024
"""Maximum size of a file, in bytes."""

LONGEST_LINE: Final = 1000
"""Maximum length of a line in a list of teams, in characters; the rest is cut off."""


def read_config(document: Mapping[str, Any], slug: str, game: str = "") -> TournamentConfig:
    """Return the configuration of a tournament; raise a one-sentence UsageError if it is invalid.

    Times without a zone are UTC.
    """
    if "slug" in document:
        raise UsageError("this is not a tournament: Object contains unknown field `slug`")
    own = {"game": game, **document, "slug": slug}
    try:
        config = documents.convert(own, TournamentConfig)
    except (msgspec.ValidationError, RecursionError) as error:
        raise UsageError(f"this is not a tournament: {error}") from None
    if game and config.game not in ("", game):
        raise UsageError(f"the file is for {short(config.game)}, not for {game}")
    if not game and not config.game:
        raise UsageError("which game? say --game, or game in the file")
    if config.seed is not None and not 0 <= config.seed < 2**53:
        raise UsageError(f"seed must be a whole number from 0 to {2**53 - 1}")
    events = [in_utc(event) for event in config.events]
    return replace(config, game=game or config.game, events=events)


def read_event(document: Mapping[str, Any]) -> NewEvent:
    """Return an event to plan; raise a one-sentence UsageError if it is invalid."""
    try:
        return in_utc(documents.convert(document, NewEvent))
    except (msgspec.ValidationError, RecursionError) as error:
        raise UsageError(f"this is not an event: {error}") from None


def in_utc(event: NewEvent) -> NewEvent:
    """Return an event whose time is in UTC if it has no zone."""
    return event if event.at.tzinfo else replace(event, at=event.at.replace(tzinfo=UTC))


def team_lines(text: str) -> Iterator[NewTeam]:
    """Yield the teams of a list with one team per line: `NAME` or `NAME, SANDBOX`."""
    for number, line in enumerate(re.split("\r\n|\n|\r", text.removeprefix("\ufeff")), 1):
        if not line.strip():
            continue
        name, comma, group = line[:LONGEST_LINE].rpartition(",")
        if comma:
            yield ListedTeam(name.strip(), group.strip(), line=number)
        else:
            yield ListedTeam(line[:LONGEST_LINE].strip(), line=number)


def add_listed_teams(session: Session, competition: int, lines: str) -> list[int]:
    """Add the teams of a list, as `add_teams` does; return their ids."""
    return add_teams(session, competition, list(team_lines(lines)))


def with_teams(config: TournamentConfig, listed: Sequence[NewTeam]) -> TournamentConfig:
    """Return a configuration extended by listed teams, and by their groups if it has none."""
    teams = [*config.teams, *listed]
    if config.groups:
        return replace(config, teams=teams)
    names: dict[str, str] = {}
    for team in teams:
        if team.group:
            names.setdefault(name_key(team.group), team.group)
    return replace(config, groups=[NewGroup(name) for name in names.values()], teams=teams)


TOO_LATE: Final = "The tournament has not ended within the last hour: nothing can be undone."


def end_to_undo(session: Session, competition: int) -> Event | None:
    """Return the event that ended a tournament; None if it has not ended or cannot be resumed."""
    is_end = and_(Event.competition_id == competition, Event.kind == "end")
    recent = Event.applied_at > session.now() - UNDONE_FOR
    query = select(Event).where(is_end, recent, Event.group_id.is_(None))
    return session.scalars(query.order_by(Event.id.desc()).limit(1)).one_or_none()


def undo_end(session: Session, competition: int) -> None:
    """Resume an ended tournament; its end becomes a note among the events.

    Raises UsageError if it has not ended within the last hour. Of concurrent callers, exactly one
    succeeds.
    """
    row = lock(session, competition)
    end = end_to_undo(session, competition)
    if end is None:
        raise UsageError(TOO_LATE)
    end.kind, end.title = "note", TAKEN_BACK
    row.state = "running"
    renew_ends(session, competition)
    mark_changed(row, *groups_of(session, competition))
    subject = f"event:{row.slug}/{end.id}"
    audit.record(session, "undo end", subject, competition_id=row.id)


def change_settings(
    session: Session,
    competition: int,
    values: Mapping[str, Any],
) -> None:
    """Change settings of a tournament; after its start, only those in CHANGEABLE.

    Raises UsageError if a setting is invalid.
    """
    row = lock(session, competition)
    before = stored_settings(row.game, row.settings)
    after = settings_of(row.game, {**row.settings, **values})
    fixed = [name for name in values if name not in CHANGEABLE]
    if row.state != "draft" and any(
        getattr(before, name) != getattr(after, name) for name in fixed
    ):
        raise UsageError(f"after the start only {', '.join(CHANGEABLE)} may change")
    row.settings = {**row.settings, **values}
    mark_changed(row, *groups_of(session, competition))
    subject = f"competition:{FORMAT}/{row.slug}"
    audit.record(session, "set", subject, detail=values, competition_id=row.id)
