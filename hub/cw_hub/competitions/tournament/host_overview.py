"""Queries behind the host pages: teams, groups, events, matches and the audit log."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select

from cw_hub.competitions.tournament.groups import group_sizes, groups_of
from cw_hub.matches.match_types import title_of
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Audit,
    Bot,
    BotKind,
    BotStatus,
    Entry,
    EntryStatus,
    Event,
    Group,
    GroupKind,
    Match,
    MatchParticipant,
    MatchState,
    Round,
    Team,
    Ticket,
)

MOST_OF_LOG: Final = 500
MOST_MATCHES: Final = 200


@dataclass(frozen=True, slots=True)
class HostTeam:
    """A team as shown to its host."""

    id: int
    slug: str
    name: str
    groups: tuple[str, ...]
    status: EntryStatus
    reason: str
    out_of_competition: bool
    machine: str
    has_key: bool
    cards: int
    """The number of its valid tokens."""
    bot_kind: BotKind
    bot_status: BotStatus
    has_bot: bool
    address: str
    """The URL of its bot, or the name of its built-in strategy."""


@dataclass(frozen=True, slots=True)
class HostGroup:
    """A group as shown to its host."""

    id: int
    slug: str
    name: str
    kind: GroupKind
    teams: int
    round: int | None
    """The number of its last round."""
    played: int
    matches: int
    """The number of matches in the last round; `played` counts the finished ones."""


@dataclass(frozen=True, slots=True)
class HostEvent:
    """An event as shown to its host."""

    id: int
    kind: str
    at: datetime
    title: str
    text: str
    group: str
    announced: bool
    applied_at: datetime | None
    boards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostMatch:
    """A match of an open round that is unfinished or failed."""

    match_id: str
    group: str
    round_id: int
    round: int
    state: MatchState
    reason: str
    teams: tuple[str, ...]

    @property
    def title(self) -> str:
        """The players' names, or the match's name if no players are left."""
        return title_of(self.teams, " : ") or self.match_id


def teams_overview(session: Session, competition: int) -> list[HostTeam]:
    """Return a tournament's teams, sorted by group and then by id. Two statements."""
    cards = dict(
        session.execute(
            select(Ticket.team_id, func.count())
            .where(Ticket.competition_id == competition, Ticket.kind == "card")
            .group_by(Ticket.team_id)
        ).all()
    )
    rows = session.execute(
        select(Team, Bot, Entry, Group.name)
        .join(Entry, Entry.team_id == Team.id)
        .join(Group, Group.id == Entry.group_id)
        .join(Bot, Bot.team_id == Team.id)
        .where(Team.competition_id == competition)
        .order_by(Team.out_of_competition, Group.id, Team.id)
    ).all()
    groups: dict[int, list[str]] = defaultdict(list)
    for team, _, _, group in rows:
        groups[team.id].append(group)
    # The first entry of a team, in group order, represents all its entries.
    firsts = {team.id: (team, bot, entry) for team, bot, entry, _ in reversed(rows)}
    return [
        host_team(*firsts[team], tuple(names), cards.get(team, 0)) for team, names in groups.items()
    ]


def host_team(team: Team, bot: Bot, entry: Entry, groups: tuple[str, ...], cards: int) -> HostTeam:
    """Return a team as shown to its host."""
    return HostTeam(
        team.id,
        team.slug,
        team.name,
        groups,
        entry.status,
        entry.reason,
        team.out_of_competition,
        team.machine or "",
        team.ssh_key is not None,
        cards,
        bot.kind,
        bot.status,
        bool(bot.endpoint) or "version" in bot.settings,
        bot.endpoint,
    )


def groups_overview(session: Session, competition: int) -> list[HostGroup]:
    """Return the groups of a tournament, each with its last round. Four statements."""
    rows, sizes = groups_of(session, competition), group_sizes(session, competition)
    ids = [group.id for group in rows]
    last = select(func.max(Round.id)).where(Round.group_id.in_(ids)).group_by(Round.group_id)
    rounds = {row.group_id: row for row in session.scalars(select(Round).where(Round.id.in_(last)))}
    is_over = Match.state.in_(("done", "void", "failed"))
    counts = session.execute(
        select(Match.round_id, func.count(), func.count().filter(is_over))
        .where(Match.round_id.in_([row.id for row in rounds.values()]))
        .group_by(Match.round_id)
    )
    by_round = {round_id: (played, matches) for round_id, matches, played in counts}
    return [
        HostGroup(
            group.id,
            group.slug,
            group.name,
            group.kind,
            sizes.get(group.id, 0),
            rounds[group.id].number if group.id in rounds else None,
            *(by_round.get(rounds[group.id].id, (0, 0)) if group.id in rounds else (0, 0)),
        )
        for group in rows
    ]


def events_overview(session: Session, competition: int) -> list[HostEvent]:
    """Return the events of a tournament, earliest first."""
    rows = session.execute(
        select(Event, Group.name)
        .outerjoin(Group, Group.id == Event.group_id)
        .where(Event.competition_id == competition)
        .order_by(Event.at, Event.id)
    )
    return [
        HostEvent(
            event.id,
            event.kind,
            event.at,
            event.title,
            event.text,
            group or "",
            event.announced,
            event.applied_at,
            tuple(board["name"] for board in event.data.get("boards", ())),
        )
        for event, group in rows
    ]


def matches_overview(session: Session, competition: int) -> list[HostMatch]:
    """Return failed, running and queued matches of open rounds, in this order."""
    rows = session.execute(
        select(Match, Round, Group.name)
        .join(Round, Round.id == Match.round_id)
        .join(Group, Group.id == Round.group_id)
        .where(Group.competition_id == competition, Round.closed_at.is_(None))
        .where(Match.state.in_(("failed", "in_progress", "queued", "interrupted")))
        .order_by(Match.state != "failed", Match.state != "in_progress", Match.sequence, Match.id)
        .limit(MOST_MATCHES)
    ).all()
    ids = [match.id for match, _, _ in rows]
    names: dict[int, list[str]] = defaultdict(list)
    for match, name in session.execute(
        select(MatchParticipant.match_id, Team.name)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .join(Team, Team.id == Bot.team_id)
        .where(MatchParticipant.match_id.in_(ids))
        .order_by(MatchParticipant.match_id, MatchParticipant.slot)
    ):
        names[match].append(name)
    return [
        HostMatch(
            match.match_id,
            group,
            row.id,
            row.number,
            match.state,
            match.reason or "",
            tuple(names[match.id]),
        )
        for match, row, group in rows
    ]


def ssh_keys(session: Session, competition: int) -> list[tuple[str, str, str]]:
    """Return slug, machine and public key of each team that has a key."""
    with_key = (Team.competition_id == competition, Team.ssh_key.is_not(None))
    rows = session.execute(select(Team.slug, Team.machine, Team.ssh_key).where(*with_key))
    return [(slug, machine or "", key or "") for slug, machine, key in rows]


def log_overview(session: Session, competition: int) -> list[Audit]:
    """Return a tournament's audit log, latest first."""
    query = select(Audit).where(Audit.competition_id == competition)
    return list(
        session.scalars(query.order_by(Audit.at.desc(), Audit.id.desc()).limit(MOST_OF_LOG))
    )
