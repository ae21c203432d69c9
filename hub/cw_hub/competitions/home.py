"""Queries behind the competitions on the home page: running and next matches, leaders, winners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select

from cw_hub.competitions.format import Format, Leader
from cw_hub.competitions.service import CompetitionFacts, dates_of, facts_of
from cw_hub.pages.layout import address_of
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, Match

OPEN_STATES: Final = ("planned", "running", "paused")
"""The states of the competitions shown."""

ENDED_FOR: Final = timedelta(days=14)
"""How long the winners of a finished competition are shown."""

MOST_OF_A_FORMAT: Final = 6
"""Maximum number of competitions shown per format, latest first."""

MOST_ENDED: Final = 5
"""Number of the latest finished competitions to consider."""


@dataclass(frozen=True, slots=True)
class Top:
    """A competition on the home page."""

    competition: CompetitionFacts
    format: Format
    playing: int
    """Number of running matches."""
    match_id: str | None
    """The id of the match that started most recently."""
    next_at: datetime | None
    """When the next match is planned or the competition starts; None if unknown."""
    places: tuple[Leader, ...]

    @property
    def address(self) -> str:
        """The URL of its page, or of its game's page."""
        own = self.format.address(self.competition)
        return own or address_of("games.about", game=self.competition.game)


def tops(session: Session, formats: Sequence[Format], game: str | None = None) -> list[Top]:
    """Return each format's latest open competitions (of one game), in order of creation."""
    by_name = {format_.name: format_ for format_ in formats}
    newest_first = func.row_number().over(
        partition_by=Competition.format, order_by=Competition.id.desc()
    )
    ranked = select(Competition.id, newest_first.label("place")).where(
        Competition.state.in_(OPEN_STATES), Competition.format.in_(by_name)
    )
    if game is not None:
        ranked = ranked.where(Competition.game == game)
    latest = ranked.subquery()
    query = (
        select(Competition)
        .join(latest, latest.c.id == Competition.id)
        .where(latest.c.place <= MOST_OF_A_FORMAT)
        .order_by(Competition.id)
    )
    facts = [facts_of(row) for row in session.scalars(query)]
    return [top_of(session, fact, by_name[fact.format]) for fact in facts]


@dataclass(frozen=True, slots=True)
class Ended:
    """A recently finished competition."""

    competition: CompetitionFacts
    address: str
    at: datetime
    places: tuple[Leader, ...]


def ended(session: Session, formats: Sequence[Format]) -> list[Ended]:
    """Return recently finished competitions that have winners, latest first."""
    by_name = {format_.name: format_ for format_ in formats}
    latest = (
        select(Competition)
        .where(Competition.state == "over", Competition.format.in_(by_name))
        .order_by(Competition.id.desc())
        .limit(MOST_ENDED)
    )
    facts = [facts_of(row) for row in session.scalars(latest)]
    over = [ended_of(session, fact, by_name[fact.format]) for fact in facts]
    since = session.now() - ENDED_FOR
    return [one for one in over if one is not None and one.at > since and one.places]


def ended_of(session: Session, competition: CompetitionFacts, format_: Format) -> Ended | None:
    """Convert a finished competition to an Ended; None if it has no end time or no page."""
    at, address = format_.ended_at(session, competition.id), format_.address(competition)
    if at is None or address is None:
        return None
    return Ended(competition, address, at, tuple(format_.leaders(session, competition.id)))


def top_of(session: Session, competition: CompetitionFacts, format_: Format) -> Top:
    """Return the home page data of a competition."""
    playing = session.scalars(
        select(Match.match_id)
        .where(Match.competition_id == competition.id, Match.state == "in_progress")
        .order_by(Match.started_at.desc())
    ).all()
    return Top(
        competition,
        format_,
        len(playing),
        playing[0] if playing else None,
        next_of(session, competition, format_),
        tuple(format_.leaders(session, competition.id)),
    )


def next_of(session: Session, competition: CompetitionFacts, format_: Format) -> datetime | None:
    """Return when the next match of a competition is planned or due, or None if unknown.

    For a planned competition, this is its start.
    """
    if competition.state == "planned":
        return dates_of(session, competition.id).starts
    waiting = session.scalar(
        select(func.min(Match.at)).where(
            Match.competition_id == competition.id, Match.state == "queued"
        )
    )
    return waiting or format_.next_at(session, competition)


PERIODS: Final[Mapping[str, tuple[str, timedelta | None]]] = {
    "10d": ("Last 10 days", timedelta(days=10)),
    "1m": ("Last month", timedelta(days=30)),
    "6m": ("Last 6 months", timedelta(days=182)),
    "1y": ("Last year", timedelta(days=365)),
    "all": ("All time", None),
}
"""Label and length of each period, by its name in URLs."""
