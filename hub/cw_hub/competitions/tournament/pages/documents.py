"""The JSON documents of a tournament that its pages poll."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

from flask import json

from cw.league.ladder.phases import Phase
from cw_hub.competitions.tournament.pages.header import iso_time
from cw_hub.competitions.tournament.rounds.matches import RoundMatch
from cw_hub.competitions.tournament.standings import GroupStandings, TableRow
from cw_hub.competitions.tournament.timeline import Countdown
from cw_hub.competitions.tournament.words import game_words, plain
from cw_hub.pages.polls import Polled


def tag_of(value: Any) -> str:
    """Return a tag that changes with a value."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:24]


def polled(value: Any) -> Polled:
    """Return a document with its tag."""
    return Polled(tag_of(value), value)


def with_time(now: datetime, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with the server's time."""
    return {"now": iso_time(now), **value}


def ladder(standings: GroupStandings, phase: Phase, next_at: datetime | None) -> dict[str, Any]:
    """Return the document of a ladder."""
    group = standings.group
    current = round_of(standings)
    return {
        "group": group.slug,
        "phase": phase,
        "round": current
        and {**current, "played": standings.played, "matches": len(standings.matches)},
        "next_round_at": None if next_at is None else iso_time(next_at),
        "entries": [table_row(row, group.last_closed) for row in standings.rows],
    }


def round_of(standings: GroupStandings) -> dict[str, Any] | None:
    """Return the document of the round, or None."""
    current = standings.group.round
    if current is None:
        return None
    return {
        "number": current.number,
        "board": current.board.name,
        "factor": current.board.factor,
    }


def table_row(row: TableRow, last: int) -> dict[str, Any]:
    """Return the document of a ladder row; `last` is the last closed round."""
    return {
        "place": row.place,
        "team": row.name,
        "slug": row.slug,
        "points": plain(row.points),
        "last_round": plain(row.points_of(last)),
        "change": row.change or 0,
        "won": row.won,
        "drawn": row.drawn,
        "lost": row.lost,
        "status": row.status,
    }


def team(standings: GroupStandings, slug: str) -> dict[str, Any]:
    """Return the document of a team."""
    row = standings.by_slug[slug]
    return {
        "team": row.name,
        "place": row.place,
        "points": plain(row.points),
        "history": [
            {
                "round": record.number,
                "points": plain(record.points),
                "total": plain(record.total),
                "place": record.position,
            }
            for record in row.history
        ],
        "round": round_of(standings),
        "results": [
            match_result(standings, match, seat)
            for match, seat in standings.matches_of_team(row.team_id)
        ],
    }


def match_result(standings: GroupStandings, match: RoundMatch, seat: int) -> dict[str, Any]:
    """Return the document of a match from the perspective of a seat."""
    slugs = [standings.by_id[team].slug for team in match.teams if team in standings.by_id]
    common: dict[str, Any] = {
        "match": match.match_id,
        "state": match.state,
        "points": dict(zip(slugs, standings.points(match), strict=False)),
    }
    if len(match.teams) != 2:
        ranks = match.games[-1].ranks if match.counts and match.games else ()
        nobody = {"first": None, "second": None, "position": None, "outcome": None}
        by_slug = dict(zip(slugs, ranks, strict=False))
        return common | nobody | {"result": None, "ranks": by_slug, "games": []}
    return common | {
        "first": slugs[0],
        "second": slugs[-1],
        "position": standings.position(match.teams[1 - seat]),
        "outcome": standings.outcome(match, seat),
        "result": str(standings.result(match)) if match.counts else None,
        "games": [game_words(standings, match, game) for game in match.games]
        if match.counts
        else [],
    }


def events(countdown: Countdown) -> dict[str, Any]:
    """Return the document of the events; unannounced events have no title."""
    coming = countdown.next
    return {
        "next": coming
        and {"at": iso_time(coming.at), "title": coming.title if coming.announced else None},
        "past": [
            {"at": iso_time(event.applied_at or event.at), "title": event.title, "text": event.text}
            for event in countdown.past
        ],
        "over": countdown.is_over,
        "preparing": countdown.is_preparing,
    }
