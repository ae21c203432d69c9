"""What the host of a tournament sees of it, and does to its teams and settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, delete, func, select, update
from sqlalchemy.orm import Session

from cw.errors import UsageError, short
from cw.hub.clock import Clock
from cw.hub.services import audit, ladder_decisions, team_bots
from cw.hub.services.competitions import OPERATOR, held
from cw.hub.services.tournament_settings import CHANGEABLE, FORMAT, settings_of
from cw.hub.services.tournaments import (
    changed,
    check_bot,
    check_machine,
    check_room,
    give_bot,
    groups_of,
    named_group,
    sizes_of,
)
from cw.hub.store.tables import (
    Audit,
    Bot,
    BotKind,
    BotStatus,
    BotVersion,
    Competition,
    Entry,
    EntryStatus,
    Event,
    Group,
    GroupKind,
    Match,
    MatchParticipant,
    MatchState,
    Round,
    RoundScore,
    Team,
    Ticket,
)

MOST_OF_LOG: Final = 500
MOST_OF_ROUND: Final = 200
LONGEST_MATCH_REASON: Final = 40
NO_REASON: Final = "Please give a reason"


@dataclass(frozen=True, slots=True)
class HostTeam:
    """A team as its host sees it."""

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
    """Tokens that are out."""
    bot_kind: BotKind
    bot_status: BotStatus
    has_bot: bool
    address: str
    """Of the bot, or the name of its strategy."""


@dataclass(frozen=True, slots=True)
class HostGroup:
    """A group as its host sees it."""

    id: int
    slug: str
    name: str
    kind: GroupKind
    teams: int
    round: int | None
    """The number of the last round, and how much of it is over."""
    played: int
    matches: int


@dataclass(frozen=True, slots=True)
class HostEvent:
    """An event as its host sees it."""

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
    """A match of an open round that is not over, or could not be played."""

    match_id: str
    group: str
    round_id: int
    round: int
    state: MatchState
    reason: str
    teams: tuple[str, ...]


def teams(session: Session, competition: int) -> list[HostTeam]:
    """Return the teams of a tournament by sandbox and name. Two statements."""
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
    seen: dict[int, HostTeam] = {}
    for team, bot, entry, _ in rows:
        if team.id not in seen:
            names = tuple(groups[team.id])
            seen[team.id] = host_team(team, bot, entry, names, cards.get(team.id, 0))
    return list(seen.values())


def host_team(team: Team, bot: Bot, entry: Entry, groups: tuple[str, ...], cards: int) -> HostTeam:
    """Return a team as its host sees it."""
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


def groups(session: Session, competition: int) -> list[HostGroup]:
    """Return the groups of a tournament, each with its last round. Four statements."""
    found, sizes = groups_of(session, competition), sizes_of(session, competition)
    ids = [group.id for group in found]
    last = select(func.max(Round.id)).where(Round.group_id.in_(ids)).group_by(Round.group_id)
    rounds = {one.group_id: one for one in session.scalars(select(Round).where(Round.id.in_(last)))}
    over = Match.state.in_(("done", "void", "failed"))
    counted = session.execute(
        select(Match.round_id, func.count(), func.count().filter(over))
        .where(Match.round_id.in_([one.id for one in rounds.values()]))
        .group_by(Match.round_id)
    )
    counts = {number: (every, done) for number, every, done in counted}
    made = []
    for group in found:
        opened = rounds.get(group.id)
        matches, played = counts.get(opened.id, (0, 0)) if opened else (0, 0)
        about = (group.id, group.slug, group.name, group.kind, sizes.get(group.id, 0))
        made.append(HostGroup(*about, opened.number if opened else None, played, matches))
    return made


def events(session: Session, competition: int) -> list[HostEvent]:
    """Return the events of a tournament, the first first."""
    rows = session.execute(
        select(Event, Group.name)
        .outerjoin(Group, Group.id == Event.group_id)
        .where(Event.competition_id == competition)
        .order_by(Event.at, Event.id)
    )
    return [
        HostEvent(
            one.id,
            one.kind,
            one.at,
            one.title,
            one.text,
            group or "",
            one.announced,
            one.applied_at,
            tuple(board["name"] for board in one.data.get("boards", ())),
        )
        for one, group in rows
    ]


def matches(session: Session, competition: int) -> list[HostMatch]:
    """Return what is played, waits or has failed in the open rounds, what failed first."""
    rows = session.execute(
        select(Match, Round, Group.name)
        .join(Round, Round.id == Match.round_id)
        .join(Group, Group.id == Round.group_id)
        .where(Group.competition_id == competition, Round.closed_at.is_(None))
        .where(Match.state.in_(("failed", "in_progress", "queued", "interrupted")))
        .order_by(Match.state != "failed", Match.state != "in_progress", Match.sequence, Match.id)
        .limit(MOST_OF_ROUND)
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
            one.match_id,
            group,
            opened.id,
            opened.number,
            one.state,
            one.reason or "",
            tuple(names[one.id]),
        )
        for one, opened, group in rows
    ]


def ssh_keys(session: Session, competition: int) -> list[tuple[str, str, str]]:
    """Return the slug, the machine and the public key of the teams that have one."""
    having = (Team.competition_id == competition, Team.ssh_key.is_not(None))
    rows = session.execute(select(Team.slug, Team.machine, Team.ssh_key).where(*having))
    return [(slug, machine or "", key or "") for slug, machine, key in rows]


def log(session: Session, competition: int) -> list[Audit]:
    """Return what was done to a tournament, the latest first."""
    of_this = select(Audit).where(Audit.competition_id == competition)
    rows = of_this.order_by(Audit.at.desc(), Audit.id.desc()).limit(MOST_OF_LOG)
    return list(session.scalars(rows))


# Verbs


def team_named(session: Session, competition: int, name: str) -> Team:
    """Return a team by its slug or its name; raise UsageError where there is none."""
    of_this = Team.competition_id == competition
    found = select(Team).where(of_this, (Team.slug == name) | (Team.name == name))
    rows = session.scalars(found.order_by(Team.slug != name)).all()
    if not rows:
        raise UsageError(f"there is no team {short(name)}")
    return rows[0]


def chosen(session: Session, competition: int, ids: Sequence[int]) -> list[Team]:
    """Return teams of a tournament; raise UsageError unless there is one."""
    of_this = select(Team).where(Team.competition_id == competition, Team.id.in_(ids))
    found = list(session.scalars(of_this.order_by(Team.id)))
    if not found:
        raise UsageError("Please choose a team")
    return found


def note(  # noqa: PLR0913, PLR0917 - what is noted of it
    session: Session, clock: Clock, of: Competition, team: Team, verb: str, actor: str, **more: Any
) -> None:
    """Note what was done to a team."""
    what = f"team:{of.slug}/{team.slug}"[:60]
    audit.note(session, clock, actor, verb, what, detail=more, competition_id=of.id)


def has_played(session: Session, team: int, group: int | None = None) -> bool:
    """Return whether a round was planned with a team, in a group or anywhere."""
    rounds = select(Round.id)
    if group is not None:
        rounds = rounds.where(Round.group_id == group)
    planned = (
        select(MatchParticipant.match_id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(Bot.team_id == team, Match.round_id.in_(rounds))
        .limit(1)
    )
    scored = (
        select(RoundScore.team_id)
        .where(RoundScore.team_id == team, RoundScore.round_id.in_(rounds))
        .limit(1)
    )
    return session.scalar(planned) is not None or session.scalar(scored) is not None


def move(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    competition: int,
    ids: Sequence[int],
    sandbox: str,
    *,
    actor: str = OPERATOR,
) -> None:
    """Let teams play in another sandbox: before their first round. Twice: the same."""
    row = held(session, competition)
    group = named_group(groups_of(session, competition), sandbox)
    found = chosen(session, competition, ids)
    for team in found:
        if team.out_of_competition:
            raise UsageError(f"{team.name} plays in every sandbox")
        if has_played(session, team.id):
            raise UsageError(f"{team.name} has played: it stays in its sandbox")
    there = set(session.scalars(select(Entry.team_id).where(Entry.group_id == group.id)))
    for team in found:
        if team.id not in there:
            session.execute(delete(Entry).where(Entry.team_id == team.id))
            session.add(Entry(group_id=group.id, team_id=team.id, joined_at=clock()))
            note(session, clock, row, team, "move", actor, to=group.slug)
    check_room(session, row)
    changed(row, *groups_of(session, competition))


def set_out_of_competition(
    session: Session, clock: Clock, competition: int, ids: Sequence[int], *, actor: str = OPERATOR
) -> None:
    """Let teams play in every sandbox, without place and prize. Twice: the same.

    Those that were taken out stay so in all of them.
    """
    row = held(session, competition)
    all_groups = groups_of(session, competition)
    for team in chosen(session, competition, ids):
        team.out_of_competition = True
        known = entries_of(session, team.id)
        own = next((one for one in known.values() if one.status == "playing"), None)
        own = own or next(iter(known.values()))
        for group in all_groups:
            if group.id not in known:
                entry = Entry(group_id=group.id, team_id=team.id, joined_at=clock())
                known[group.id] = entry
                session.add(entry)
            known[group.id].status, known[group.id].reason = own.status, own.reason
        note(session, clock, row, team, "out of competition", actor)
    check_room(session, row)
    changed(row, *all_groups)


def compete(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    competition: int,
    ids: Sequence[int],
    sandbox: str,
    *,
    actor: str = OPERATOR,
) -> None:
    """Let teams that play in every sandbox compete in one, with the points that they have there.

    They leave the others: where they have played, they are withdrawn. Twice: the same.
    """
    row = held(session, competition)
    group = named_group(groups_of(session, competition), sandbox)
    for team in chosen(session, competition, ids):
        if not team.out_of_competition:
            continue
        team.out_of_competition = False
        for entry in entries_of(session, team.id).values():
            if entry.group_id == group.id:
                continue
            if has_played(session, team.id, entry.group_id):
                entry.status = "withdrawn"
            else:
                session.delete(entry)
        note(session, clock, row, team, "compete", actor, to=group.slug)
    changed(row, *groups_of(session, competition))


def entries_of(session: Session, team: int) -> dict[int, Entry]:
    """Return the entries of a team by their groups."""
    found = select(Entry).where(Entry.team_id == team).order_by(Entry.group_id)
    return {one.group_id: one for one in session.scalars(found)}


def set_bot(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    competition: int,
    ids: Sequence[int],
    bot: str,
    *,
    actor: str = OPERATOR,
) -> bool:
    """Let the bot of teams be at an address, or be a built-in strategy; it is checked soon.

    Returns whether a team has yet to be shown the secret of its bot. Twice: the same.
    """
    row = held(session, competition)
    if not bot:
        raise UsageError("Please enter a bot URL or builtin:NAME")
    check_bot(row.game, bot)
    given = []
    for team in chosen(session, competition, ids):
        found = session.scalars(select(Bot).where(Bot.team_id == team.id).with_for_update()).one()
        give_bot(clock, found, bot)
        given.append(found)
        note(session, clock, row, team, "set bot", actor, kind=found.kind)
    changed(row)
    return any(map(team_bots.lacks_secret, given))


def set_machine(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    competition: int,
    ids: Sequence[int],
    machine: str,
    *,
    actor: str = OPERATOR,
) -> None:
    """Say where the machine of teams is; "" takes it away. Twice: the same."""
    row = held(session, competition)
    check_machine(machine)
    for team in chosen(session, competition, ids):
        team.machine = machine or None
        note(session, clock, row, team, "machine", actor)
    changed(row)


def remove(
    session: Session, clock: Clock, competition: int, ids: Sequence[int], *, actor: str = OPERATOR
) -> None:
    """Take teams out: they are deleted, or withdrawn if they have played. Twice: the same."""
    row = held(session, competition)
    for team in chosen(session, competition, ids):
        theirs = and_(Entry.team_id == team.id, Entry.status == "playing")
        note(session, clock, row, team, "remove", actor)
        session.execute(delete(Ticket).where(Ticket.team_id == team.id))
        bot = session.scalars(select(Bot).where(Bot.team_id == team.id)).one()
        used = select(MatchParticipant.match_id).where(MatchParticipant.bot_id == bot.id).limit(1)
        if has_played(session, team.id) or session.scalar(used) is not None:
            session.execute(update(Entry).where(theirs).values(status="withdrawn"))
            continue
        session.execute(delete(BotVersion).where(BotVersion.bot_id == bot.id))
        session.delete(bot)
        session.flush()
        session.delete(team)
    changed(row, *groups_of(session, competition))


def revoke_tokens(
    session: Session, clock: Clock, competition: int, ids: Sequence[int], *, actor: str = OPERATOR
) -> None:
    """End the tokens of teams, and the sessions made from them. Twice: the same."""
    row = held(session, competition)
    for team in chosen(session, competition, ids):
        theirs = (Ticket.team_id == team.id, Ticket.kind.in_(("card", "team")))
        session.execute(delete(Ticket).where(*theirs))
        note(session, clock, row, team, "revoke tokens", actor)


def void(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    competition: int,
    match_id: str,
    reason: str,
    *,
    actor: str = OPERATOR,
) -> None:
    """Call a match of an open round off; see ladder_decisions.py."""
    check_match(session, competition, match_id)
    ladder_decisions.void(session, clock, match_id, said_reason(reason), actor)


def play_again(
    session: Session, clock: Clock, competition: int, match_id: str, *, actor: str = OPERATOR
) -> str:
    """Plan a match of an open round anew; return its new name. See ladder_decisions.py."""
    check_match(session, competition, match_id)
    return ladder_decisions.play_again(session, clock, match_id, actor)


def void_round(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    competition: int,
    round_id: int,
    reason: str,
    *,
    actor: str = OPERATOR,
) -> int:
    """Call an open round off; return how many matches that were. See ladder_decisions.py."""
    of_this = select(Round.id).join(Group, Group.id == Round.group_id)
    found = of_this.where(Group.competition_id == competition, Round.id == round_id)
    if session.scalar(found) is None:
        raise UsageError("this tournament has no such round")
    return ladder_decisions.void_round(session, clock, round_id, said_reason(reason), actor)


def open_round(session: Session, competition: int, sandbox: str) -> int:
    """Return the open round of a sandbox; raise UsageError where none is."""
    group = named_group(groups_of(session, competition), sandbox)
    opened = select(Round.id).where(Round.group_id == group.id, Round.closed_at.is_(None))
    found = session.scalar(opened)
    if found is None:
        raise UsageError(f"no round of {group.name} is open")
    return found


def check_match(session: Session, competition: int, match_id: str) -> None:
    """Raise UsageError unless a match of a round is one of a tournament."""
    of_this = (Match.competition_id == competition, Match.round_id.is_not(None))
    found = select(Match.id).where(*of_this, Match.match_id == match_id)
    if session.scalar(found) is None:
        raise UsageError("this tournament has no such match")


def said_reason(reason: str) -> str:
    """Return why a match is called off, as its page says it; raise UsageError for no reason."""
    if not reason.strip():
        raise UsageError(NO_REASON)
    return reason.strip()[:LONGEST_MATCH_REASON]


def change_settings(
    session: Session,
    clock: Clock,
    competition: int,
    given: Mapping[str, Any],
    *,
    actor: str = OPERATOR,
) -> None:
    """Set how a tournament is played; after its start only what no result depends on.

    Twice: the same. Raises UsageError for a setting that cannot be.
    """
    row = held(session, competition)
    now, new = settings_of(row.game, row.settings), settings_of(row.game, {**row.settings, **given})
    fixed = [name for name in given if name not in CHANGEABLE]
    if row.state != "draft" and any(getattr(now, name) != getattr(new, name) for name in fixed):
        raise UsageError(f"after the start only {', '.join(CHANGEABLE)} may change")
    row.settings = {**row.settings, **given}
    changed(row, *groups_of(session, competition))
    what = f"competition:{FORMAT}/{row.slug}"
    audit.note(session, clock, actor, "set", what, detail=given, competition_id=row.id)
