"""Exports a tournament: its configuration, machine-readable tables, and an HTML page."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from io import StringIO
from itertools import groupby
from typing import IO, Any, Final, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from sqlalchemy import select

from cw.documents import harmless
from cw.errors import ProtocolError
from cw.games.registry import games_with_hidden_information
from cw_hub.competitions.service import SINCE
from cw_hub.competitions.tournament import standings, views
from cw_hub.competitions.tournament.standings import GroupStandings
from cw_hub.competitions.tournament.team_bots import BUILTIN
from cw_hub.competitions.tournament.teams import groups_of
from cw_hub.competitions.tournament.views import TournamentView
from cw_hub.matches.stored_replays import own_key
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Battle,
    Bot,
    Competition,
    Entry,
    Event,
    Group,
    Match,
    MatchParticipant,
    Round,
    RoundScore,
    Team,
)
from cw_hub.store.objects import OWN_FORMAT, ObjectStore, file_at

CONFIG: Final = "tournament.toml"


def write_zip(session: Session, competition: int, file: IO[bytes]) -> None:
    """Write a tournament to a zip, without tokens, bot URLs, machine addresses and keys."""
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, text in files_of(session, competition):
            archive.writestr(name, text)


def add_replays(session: Session, objects: ObjectStore, competition: int, file: IO[bytes]) -> None:
    """Append the replays of all games to such a zip, except those that can no longer be read."""
    rows = session.execute(
        select(Match.match_id, Battle.number, Battle.replay_key)
        .join(Battle, Battle.match_id == Match.id)
        .where(Match.competition_id == competition, Match.round_id.is_not(None))
        .where(Battle.replay_key.is_not(None), Battle.pruned_at.is_(None))
        .order_by(Match.id, Battle.number)
    )
    with ZipFile(file, "a", ZIP_STORED) as archive:
        for match, number, key in rows:
            try:
                data = file_at(objects, own_key(str(key)))
            except ProtocolError:
                # The rules have changed since, so the replay cannot be written in the game's own
                # format.
                continue
            if data is not None:
                archive.writestr(f"replays/{match}-{number}{OWN_FORMAT}", data)


def all_standings(session: Session, row: Competition) -> Iterator[GroupStandings]:
    """Yield each group's standings as its page shows them."""
    tournament = views.find(session, row.slug)
    events = views.events_of(session, row.id)
    for group in tournament.groups if tournament else ():
        phase = views.phase_of(group, events, session.now())
        yield standings.of_group(session, cast(TournamentView, tournament), group, phase)


def files_of(session: Session, competition: int) -> Iterator[tuple[str, str]]:
    """Yield the name and content of each file."""
    row = session.get_one(Competition, competition)
    groups = groups_of(session, competition)
    ladders = {table.group.id: ladder(table) for table in all_standings(session, row)}
    yield CONFIG, config(session, row, groups)
    for group in groups:
        yield f"ladder-{group.slug}.csv", csv_text(LADDER, ladders[group.id])
    yield "rounds.csv", csv_text(ROUNDS, rounds(session, competition))
    yield "matches.csv", csv_text(MATCHES, matches(session, competition))
    yield "battles.jsonl", games(session, competition)
    yield "index.html", page(row, [(group.name, ladders[group.id]) for group in groups])


# Configuration


def config(session: Session, row: Competition, groups: Sequence[Group]) -> str:
    """Return a configuration that recreates the tournament, with only its built-in bots.

    For a game with hidden information it omits the seed until the tournament is over.
    """
    settings = {name: value for name, value in row.settings.items() if name != SINCE}
    head: dict[str, Any] = {"title": row.title, "game": row.game}
    if row.description:
        head["description"] = row.description
    # All match seeds derive from this one, including those of future matches.
    if row.state == "over" or row.game not in games_with_hidden_information():
        head["seed"] = row.seed
    parts = [lines(head), section("[settings]", settings)]
    for group in groups:
        values = {"name": group.name, "slug": group.slug, "kind": group.kind}
        parts.append(section("[[groups]]", values))
    parts += [section("[[teams]]", values) for values in team_tables(session, row.id)]
    parts += [section("[[events]]", values) for values in event_tables(session, row.id)]
    return "\n".join(parts)


def team_tables(session: Session, competition: int) -> Iterator[dict[str, Any]]:
    """Yield the entries of `[[teams]]`."""
    rows = session.execute(
        select(Team, Bot, Group.name)
        .join(Bot, Bot.team_id == Team.id)
        .join(Entry, Entry.team_id == Team.id)
        .join(Group, Group.id == Entry.group_id)
        .where(Team.competition_id == competition, Entry.from_group_id.is_(None))
        .order_by(Team.id, Group.id)
    )
    for _, (first, *_) in groupby(rows, lambda row: row.Team.id):
        team, bot, group = first
        values: dict[str, Any] = {"name": team.name, "slug": team.slug}
        if team.out_of_competition:
            values["out_of_competition"] = True
        else:
            values["group"] = group
        if bot.kind == "builtin":
            values["bot"] = f"{BUILTIN}{bot.endpoint}"
        yield values


def event_tables(session: Session, competition: int) -> Iterator[dict[str, Any]]:
    """Yield the entries of `[[events]]`."""
    rows = session.execute(
        select(Event, Group.name)
        .outerjoin(Group, Group.id == Event.group_id)
        .where(Event.competition_id == competition)
        .order_by(Event.at, Event.id)
    )
    for event, group in rows:
        required = {"kind": event.kind, "at": event.at, "title": event.title}
        more = {"text": event.text, "group": group, "announced": event.announced, **event.data}
        yield {**required, **{name: value for name, value in more.items() if value}}


def section(head: str, values: Mapping[str, Any]) -> str:
    """Return a TOML table."""
    return f"{head}\n{lines(values)}"


def lines(values: Mapping[str, Any]) -> str:
    """Return the lines of a TOML table."""
    return "".join(f"{key(name)} = {toml(value)}\n" for name, value in values.items())


def key(name: str) -> str:
    """Return a TOML key, quoted unless it is bare."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else toml(name)


def toml(value: Any) -> str:
    """Return a TOML value."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case datetime():
            return value.isoformat()
        case dict():
            inner = ", ".join(f"{key(name)} = {toml(item)}" for name, item in value.items())
            return f"{{{inner}}}"
        case list() | tuple():
            return f"[{', '.join(map(toml, value))}]"
        case _:
            # JSON strings are TOML strings, except for DEL, which only TOML treats as a control
            # character.
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


# Tables


LADDER: Final = (
    *("place", "team", "slug", "points", "won", "drawn", "lost"),
    *("prize", "status", "reason"),
)
ROUNDS: Final = (
    *("sandbox", "round", "board", "factor", "opened_at", "closed_at"),
    *("team", "points", "won", "drawn", "lost", "total", "position"),
)
MATCHES: Final = (
    *("match", "sandbox", "round", "sequence", "state", "reason", "slot"),
    *("team", "rank", "score", "points", "faults"),
)


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV, neutralizing cells that a spreadsheet would evaluate."""
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow(head)
    writer.writerows([cell(value) for value in row] for row in rows)
    return text.getvalue()


def cell(value: Any) -> Any:
    """Return a value as a CSV cell."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return harmless(value)


def ladder(table: GroupStandings) -> list[tuple[Any, ...]]:
    """Return the ladder rows of a group; non-competing teams come last."""
    return [
        (
            "" if row.place is None else row.place,
            row.name,
            row.slug,
            row.points,
            *(row.won, row.drawn, row.lost),
            row.prize,
            "out of competition" if row.is_out and row.status == "playing" else row.status,
            row.reason,
        )
        for row in sorted(table.rows, key=lambda row: not row.competes)
    ]


def rounds(session: Session, competition: int) -> Iterator[tuple[Any, ...]]:
    """Yield each team's record in each closed round."""
    rows = session.execute(
        select(Group.name, Round, Team.slug, RoundScore)
        .join(Round, Round.group_id == Group.id)
        .join(RoundScore, RoundScore.round_id == Round.id)
        .join(Team, Team.id == RoundScore.team_id)
        .where(Group.competition_id == competition)
        .order_by(Group.id, Round.number, Team.id)
    )
    for group, row, team, score in rows:
        times = (row.opened_at, row.closed_at)
        yield (
            *(group, row.number, row.board.get("name"), row.board.get("factor"), *times),
            *(team, score.points, score.won, score.drawn, score.lost, score.total, score.position),
        )


def matches(session: Session, competition: int) -> Iterator[tuple[Any, ...]]:
    """Yield the seats of all round matches."""
    rows = session.execute(
        select(Match, Group.name, Round.number, MatchParticipant)
        .join(Round, Round.id == Match.round_id)
        .join(Group, Group.id == Round.group_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(Match.competition_id == competition)
        .order_by(Match.id, MatchParticipant.slot)
    )
    for match, group, number, seat in rows:
        faults = ", ".join(str(fault.get("kind")) for fault in seat.faults)
        yield (
            *(match.match_id, group, number, match.sequence, match.state, match.reason or ""),
            *(seat.slot, seat.name, seat.rank, seat.score, seat.points, faults),
        )


def games(session: Session, competition: int) -> str:
    """Return the games of all rounds as JSON lines."""
    rows = session.execute(
        select(Match.match_id, Battle)
        .join(Battle, Battle.match_id == Match.id)
        .where(Match.competition_id == competition, Match.round_id.is_not(None))
        .order_by(Match.id, Battle.number)
    )
    return "".join(
        json.dumps(
            {
                "match": match,
                "battle": game.number,
                "options": game.options,
                "first_slot": game.first_slot,
                "reason": game.reason,
                "ranks": game.ranks,
                "scores": game.scores,
                "turns": game.turns,
            },
            ensure_ascii=False,
        )
        + "\n"
        for match, game in rows
    )


# Page


def page(competition: Competition, ladders: Sequence[tuple[str, list[tuple[Any, ...]]]]) -> str:
    """Return the ladders of all groups as a single HTML file."""
    parts = []
    for name, rows in ladders:
        head = "".join(f'<th scope="col">{word.capitalize()}</th>' for word in LADDER)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(cell(value)))}</td>" for value in row) + "</tr>"
            for row in rows
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        parts.append(f"<h2>{escape(name)}</h2>{table if rows else '<p>No team yet.</p>'}")
    style = "body{font-family:system-ui;margin:2rem}td,th{padding:.3rem .8rem;text-align:left}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(competition.title)}</title><style>{style}</style></head>"
        f"<body><h1>{escape(competition.title)}</h1>{''.join(parts)}</body></html>\n"
    )
