"""A tournament as files: to be made again from, to be read by programs, and to be looked at."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from io import StringIO
from typing import IO, Any, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.services import ladder_standings, tournament_views
from cw.hub.services.competitions import SINCE
from cw.hub.services.ladder_standings import Standings
from cw.hub.services.tournaments import BUILTIN, groups_of
from cw.hub.store.objects import ObjectStore
from cw.hub.store.tables import (
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

CONFIG: Final = "tournament.toml"

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would calculate."""


def write_zip(session: Session, clock: Clock, competition: int, file: IO[bytes]) -> None:
    """Write all that a tournament is and was into a zip, without tokens, addresses and keys."""
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, text in files_of(session, clock, competition):
            archive.writestr(name, text)


def add_replays(session: Session, objects: ObjectStore, competition: int, file: IO[bytes]) -> None:
    """Add the replays of all battles to such a zip; those that are not kept any more are not."""
    rows = session.execute(
        select(Match.match_id, Battle.number, Battle.replay_key)
        .join(Battle, Battle.match_id == Match.id)
        .where(Match.competition_id == competition, Match.round_id.is_not(None))
        .where(Battle.replay_key.is_not(None), Battle.pruned_at.is_(None))
        .order_by(Match.id, Battle.number)
    )
    with ZipFile(file, "a", ZIP_STORED) as archive:
        for match, number, key in rows:
            ending = str(key).rpartition("/")[2].partition(".")[2]
            data = objects.get(str(key))
            if data is not None:
                archive.writestr(f"replays/{match}-{number}.{ending}", data)


def all_standings(session: Session, clock: Clock, row: Competition) -> Iterator[Standings]:
    """Give the ladder of each group, as its page shows it."""
    found = tournament_views.find(session, row.slug)
    events = tournament_views.events(session, row.id)
    if found is None:
        return
    for group in found.groups:
        phase = tournament_views.phase_of(group, events, clock())
        yield ladder_standings.of_group(session, found, group, phase)


def files_of(session: Session, clock: Clock, competition: int) -> Iterator[tuple[str, str]]:
    """Give the files of an export, each by its name."""
    row = session.get_one(Competition, competition)
    groups = groups_of(session, competition)
    ladders = {one.group.id: ladder(one) for one in all_standings(session, clock, row)}
    yield CONFIG, config(session, row, groups)
    for group in groups:
        yield f"ladder-{group.slug}.csv", table(LADDER, ladders[group.id])
    yield "rounds.csv", table(ROUNDS, rounds(session, competition))
    yield "matches.csv", table(MATCHES, matches(session, competition))
    yield "battles.jsonl", battles(session, competition)
    yield "index.html", page(row, [(group.name, ladders[group.id]) for group in groups])


# As a file to be made again from


def config(session: Session, row: Competition, groups: Sequence[Group]) -> str:
    """Return what makes the same tournament: groups, teams, events; of bots the built-in ones."""
    settings = {name: value for name, value in row.settings.items() if name != SINCE}
    head = {"title": row.title, "game": row.game, "seed": row.seed}
    parts = [lines(head), section("[settings]", settings)]
    for group in groups:
        about = {"name": group.name, "slug": group.slug, "kind": group.kind}
        parts.append(section("[[groups]]", about))
    parts += [section("[[teams]]", one) for one in said_teams(session, row.id)]
    parts += [section("[[events]]", one) for one in said_events(session, row.id)]
    return "\n".join(parts)


def said_teams(session: Session, competition: int) -> Iterator[dict[str, Any]]:
    """Give the teams of a tournament as its file says them."""
    rows = session.execute(
        select(Team, Bot, Group.name)
        .join(Bot, Bot.team_id == Team.id)
        .join(Entry, Entry.team_id == Team.id)
        .join(Group, Group.id == Entry.group_id)
        .where(Team.competition_id == competition, Entry.from_group_id.is_(None))
        .order_by(Team.id, Group.id)
    )
    seen: set[int] = set()
    for team, bot, group in rows:
        if team.id in seen:
            continue
        seen.add(team.id)
        said: dict[str, Any] = {"name": team.name, "slug": team.slug}
        if team.out_of_competition:
            said["out_of_competition"] = True
        else:
            said["group"] = group
        if bot.kind == "builtin":
            said["bot"] = f"{BUILTIN}{bot.endpoint}"
        yield said


def said_events(session: Session, competition: int) -> Iterator[dict[str, Any]]:
    """Give the events of a tournament as its file says them."""
    rows = session.execute(
        select(Event, Group.name)
        .outerjoin(Group, Group.id == Event.group_id)
        .where(Event.competition_id == competition)
        .order_by(Event.at, Event.id)
    )
    for event, group in rows:
        said = {"kind": event.kind, "at": event.at, "title": event.title}
        more = {"text": event.text, "group": group, "announced": event.announced, **event.data}
        yield {**said, **{name: value for name, value in more.items() if value}}


def section(head: str, values: Mapping[str, Any]) -> str:
    """Return a table of TOML."""
    return f"{head}\n{lines(values)}"


def lines(values: Mapping[str, Any]) -> str:
    """Return the lines of a table."""
    return "".join(f"{key(name)} = {toml(value)}\n" for name, value in values.items())


def key(name: str) -> str:
    """Return a key of TOML; in quotes, so that any may be one, unless it is plain."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else toml(name)


def toml(value: Any) -> str:
    """Return a value of TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case datetime():
            return value.isoformat()
        case dict():
            inner = ", ".join(f"{key(name)} = {toml(one)}" for name, one in value.items())
            return f"{{{inner}}}"
        case list() | tuple():
            return f"[{', '.join(map(toml, value))}]"
        case _:
            # A text of JSON is one of TOML, but for one sign that only TOML counts as control.
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


# As tables


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


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV; no text is one that a spreadsheet calculates."""
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow(head)
    writer.writerows([cell(value) for value in row] for row in rows)
    return text.getvalue()


def cell(value: Any) -> Any:
    """Return the value of a cell."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    is_formula = isinstance(value, str) and value.startswith(FORMULA)
    return f"'{value}" if is_formula else value


def ladder(standings: Standings) -> list[tuple[Any, ...]]:
    """Return the ladder of a group by its closed rounds; who does not compete stands last."""
    return [
        (
            "" if one.place is None else one.place,
            one.name,
            one.slug,
            one.points,
            *(one.won, one.drawn, one.lost),
            one.prize,
            "out of competition" if one.is_out and one.status == "playing" else one.status,
            one.reason,
        )
        for one in sorted(standings.entries, key=lambda one: not one.competes)
    ]


def rounds(session: Session, competition: int) -> Iterator[tuple[Any, ...]]:
    """Give what each team made of each closed round."""
    rows = session.execute(
        select(Group.name, Round, Team.slug, RoundScore)
        .join(Round, Round.group_id == Group.id)
        .join(RoundScore, RoundScore.round_id == Round.id)
        .join(Team, Team.id == RoundScore.team_id)
        .where(Group.competition_id == competition)
        .order_by(Group.id, Round.number, Team.id)
    )
    for group, one, team, score in rows:
        when = (one.opened_at, one.closed_at)
        yield (
            *(group, one.number, one.board.get("name"), one.board.get("factor"), *when),
            *(team, score.points, score.won, score.drawn, score.lost, score.total, score.position),
        )


def matches(session: Session, competition: int) -> Iterator[tuple[Any, ...]]:
    """Give the slots of all matches of rounds."""
    rows = session.execute(
        select(Match, Group.name, Round.number, MatchParticipant)
        .join(Round, Round.id == Match.round_id)
        .join(Group, Group.id == Round.group_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(Match.competition_id == competition)
        .order_by(Match.id, MatchParticipant.slot)
    )
    for match, group, number, one in rows:
        faults = ", ".join(str(fault.get("kind")) for fault in one.faults)
        yield (
            *(match.match_id, group, number, match.sequence, match.state, match.reason or ""),
            *(one.slot, one.name, one.rank, one.score, one.points, faults),
        )


def battles(session: Session, competition: int) -> str:
    """Return the battles of all rounds, a line of JSON each."""
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
                "battle": one.number,
                "options": one.options,
                "first_slot": one.first_slot,
                "reason": one.reason,
                "ranks": one.ranks,
                "scores": one.scores,
                "turns": one.turns,
            },
            ensure_ascii=False,
        )
        + "\n"
        for match, one in rows
    )


# As a page


def page(row: Competition, ladders: Sequence[tuple[str, list[tuple[Any, ...]]]]) -> str:
    """Return the ladders of all groups as a page that needs nothing beside it."""
    parts = []
    for name, rows in ladders:
        head = "".join(f'<th scope="col">{word.capitalize()}</th>' for word in LADDER)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(cell(value)))}</td>" for value in one) + "</tr>"
            for one in rows
        )
        shown = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        parts.append(f"<h2>{escape(name)}</h2>{shown if rows else '<p>No team yet.</p>'}")
    style = "body{font-family:system-ui;margin:2rem}td,th{padding:.3rem .8rem;text-align:left}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(row.title)}</title><style>{style}</style></head>"
        f"<body><h1>{escape(row.title)}</h1>{''.join(parts)}</body></html>\n"
    )
