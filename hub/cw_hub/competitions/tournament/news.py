"""Past events of tournaments, for the site's feed."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.competitions.news import MOST_NEWS, NewsItem
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.pages.parts import address_of
from cw_hub.store.tables import Competition, Event


def news(session: Session) -> Iterator[NewsItem]:
    """Yield the latest events: starts, ends, finals, and what hosts have announced."""
    events = (
        select(Event.id, Event.applied_at, Event.title, Event.text)
        .add_columns(Competition.title.label("tournament"), Competition.slug)
        .join(Competition, Competition.id == Event.competition_id)
        .where(Competition.format == FORMAT, Event.applied_at.is_not(None))
        .order_by(Event.applied_at.desc(), Event.id.desc())
        .limit(MOST_NEWS)
    )
    for event in session.execute(events):
        yield NewsItem(
            id=f"event/{event.id}",
            at=event.applied_at,
            title=f"{event.tournament}: {event.title}",
            text=event.text,
            address=address_of("tournaments.events", slug=event.slug),
        )
