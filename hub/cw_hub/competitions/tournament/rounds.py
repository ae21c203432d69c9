"""Opens and closes a tournament's rounds, computes results, and seats the final.

Also what hosts do to rounds: calling off matches, playing them again, starting the final. Each of
these functions locks the competition, as `progress` describes, and adds an audit entry;
`actions.perform` then does what is due.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias, cast

from sqlalchemy import and_, func, insert, or_, select, update

from cw.errors import UsageError
from cw.games.registry import game_entry, games_with_hidden_information, load_game
from cw.league import ladder
from cw.league.ladder import (
    STOPS,
    BoardSpec,
    EntryTotals,
    EventKind,
    GameResult,
    GroupEvent,
    Mode,
    Phase,
    PlayedMatch,
    Ranked,
    Scoring,
    Tally,
    active_boards,
    derived_seed,
    due_now,
    final_table,
    next_board,
    pairs,
    phase,
    seats,
    summed,
)
from cw_hub.accounts import audit
from cw_hub.competitions.service import lock
from cw_hub.competitions.tournament.settings import FORMAT, TournamentSettings, stored_settings
from cw_hub.competitions.tournament.teams import (
    check_room,
    groups_of,
    mark_all_changed,
    mark_round_changed,
    most_entries,
    named_group,
    note,
    set_status,
    teams_by_id,
)
from cw_hub.matches import planning
from cw_hub.matches.planning import EXACT
from cw_hub.matches.results import LONGEST_REASON as LONGEST_STORED
from cw_hub.matches.results import OPEN
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Battle,
    Bot,
    Competition,
    CompetitionState,
    Entry,
    EntryStatus,
    Event,
    Group,
    Match,
    MatchParticipant,
    MatchState,
    Round,
    RoundScore,
    Team,
)


@dataclass(slots=True)
class TournamentState:
    """A tournament's state, read under a lock; code that changes the tournament updates it."""

    now: datetime
    row: Competition
    settings: TournamentSettings
    events: list[Event]
    """The applied or due events, in order."""
    groups: list[Group]
    last_rounds: dict[int, Round]
    """The last round by group id."""

    def waiting_events(self) -> list[Event]:
        """Return the events that are due but not applied."""
        return [event for event in self.events if event.applied_at is None]

    def next_event(self) -> Event | None:
        """Return the next event to apply, or None."""
        waiting = self.waiting_events()
        is_ready = all(self.open_round(group) is None for group in self.groups)
        index = due_now([kind_of(event) for event in waiting], is_final_ready=is_ready)
        return None if index is None else waiting[index]

    def events_of(self, group: Group) -> Iterator[Event]:
        """Yield a group's applied events, and a final that is due but waiting."""
        for event in self.events:
            counts = event.applied_at is not None or event.kind == "final"
            if counts and event.group_id in (None, group.id):
                yield event

    def phase(self, group: Group) -> Phase:
        """Return the phase of a group."""
        events = [
            GroupEvent(kind_of(event), event.applied_at is not None)
            for event in self.events_of(group)
        ]
        is_open = self.open_round(group) is not None
        return phase(events, is_final=group.kind == "final", is_open=is_open)

    def open_round(self, group: Group) -> Round | None:
        """Return the open round of a group, or None."""
        last = self.last_rounds.get(group.id)
        return last if last is not None and last.closed_at is None else None

    def boards(self, group: Group) -> list[BoardSpec]:
        """Return the active board types of a group."""
        lists: list[tuple[Mode, Sequence[BoardSpec]]] = []
        for event in self.events_of(group):
            if event.applied_at is None:
                continue
            if event.kind == "start":
                lists.append(("add", self.settings.boards))
            boards = [BoardSpec.from_json(document) for document in event.data.get("boards", ())]
            if boards and (event.kind == "boards" or group.kind == "final"):
                lists.append((event.data.get("mode", "add"), boards))
        return active_boards(lists) or list(self.settings.boards)

    def competition_state(self) -> CompetitionState:
        """Return the state of the whole tournament, from its events and groups."""
        applied = [event for event in self.events if event.applied_at is not None]
        is_over = all(self.phase(group) == "over" for group in self.groups)
        if is_over and any(event.kind == "end" for event in applied):
            return "over"
        if not any(event.kind == "start" for event in applied):
            return "draft"
        stops = [e.kind for e in applied if e.group_id is None and kind_of(e) in STOPS]
        return "paused" if stops and stops[-1] == "pause" else "running"


def kind_of(event: Event) -> EventKind:
    """Return the kind of an event."""
    return cast(EventKind, event.kind)


def read_state(session: Session, row: Competition) -> TournamentState:
    """Return the state of a tournament whose row is locked."""
    now = session.now()
    is_due = or_(Event.applied_at.is_not(None), Event.at <= now)
    events = select(Event).where(Event.competition_id == row.id, is_due)
    last = (
        select(Round.group_id, func.max(Round.number).label("number"))
        .group_by(Round.group_id)
        .subquery()
    )
    groups = session.execute(
        select(Group, Round)
        .outerjoin(last, last.c.group_id == Group.id)
        .outerjoin(Round, and_(Round.group_id == Group.id, Round.number == last.c.number))
        .where(Group.competition_id == row.id)
        .order_by(Group.id)
    ).all()
    return TournamentState(
        now,
        row,
        stored_settings(row.game, row.settings),
        list(session.scalars(events.order_by(Event.at, Event.id))),
        [group for group, _ in groups],
        {group.id: last_round for group, last_round in groups if last_round is not None},
    )


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A team's current entry in a group."""

    team_id: int
    slug: str
    bot_id: int | None
    """Its bot's row id."""
    status: EntryStatus
    out_of_competition: bool
    total: int
    """Its points from all closed rounds."""

    @property
    def competes(self) -> bool:
        """Whether it is ranked."""
        return self.status == "playing" and not self.out_of_competition


def entries_of(session: Session, group_id: int) -> list[GroupEntry]:
    """Return all entries of a group, by team id."""
    totals = (
        select(RoundScore.team_id, func.sum(RoundScore.points).label("total"))
        .join(Round, Round.id == RoundScore.round_id)
        .where(Round.group_id == group_id)
        .group_by(RoundScore.team_id)
        .subquery()
    )
    rows = session.execute(
        select(Team.id, Team.slug, Bot.id, Entry.status, Team.out_of_competition, totals.c.total)
        .select_from(Entry)
        .join(Team, Team.id == Entry.team_id)
        .outerjoin(Bot, Bot.team_id == Team.id)
        .outerjoin(totals, totals.c.team_id == Team.id)
        .where(Entry.group_id == group_id)
        .order_by(Team.id)
    )
    return [
        GroupEntry(team, slug, bot, status, is_out, int(total or 0))
        for team, slug, bot, status, is_out, total in rows
    ]


def positions(entries: Sequence[GroupEntry]) -> dict[int, int]:
    """Return the position of each entry, by team id."""
    totals = {entry.team_id: entry.total for entry in entries}
    return ladder.positions(totals, [entry.team_id for entry in entries if entry.competes])


def playing_somewhere(competition_id: int) -> Any:
    """Return a query for the ids of a tournament's teams that play in any group."""
    return (
        select(Entry.team_id)
        .join(Group, Group.id == Entry.group_id)
        .where(Group.competition_id == competition_id, Entry.status == "playing")
    )


NUMBERED: Final = "end-of-codes"
"""The game whose bots are sent player and game numbers."""

ROWS_AT_ONCE: Final = 4000
"""Maximum number of rows per statement, as databases limit its parameters."""

Seating: TypeAlias = tuple[GroupEntry, ...]
"""The entries of a match by seat; the first one moves first."""


def open_if_due(session: Session, tournament: TournamentState, group: Group) -> int:
    """Open the next round of a group if it is due and has enough entries; return 1 or 0."""
    if tournament.phase(group) != "running" or tournament.open_round(group) is not None:
        return 0
    due = next_round_at(tournament.last_rounds.get(group.id), tournament.settings)
    if due is not None and tournament.now < due:
        return 0
    entries = entries_of(session, group.id)
    playing = [entry for entry in entries if entry.status == "playing"]
    if len(playing) < fewest_entries(tournament.row.game, tournament.settings):
        return 0
    new = add_round(session, tournament, group, entries)
    seatings = plan_matches(new, playing, tournament.settings)
    add_matches(session, tournament.now, tournament.row, new, seatings)
    group.revision += 1
    return 1


def next_round_at(last: Round | None, settings: TournamentSettings) -> datetime | None:
    """Return when the next round of a group may open; None: now."""
    if last is None or not settings.round_every:
        return None
    return last.opened_at + timedelta(seconds=settings.round_every)


def fewest_entries(game: str, settings: TournamentSettings) -> int:
    """Return the minimum number of entries for a round."""
    return 2 if settings.plan == "pairs" else max(2, load_game(game).rules.seats.start)


def add_round(
    session: Session, tournament: TournamentState, group: Group, entries: Sequence[GroupEntry]
) -> Round:
    """Add the row of the next round of a group: its board type, seed and positions."""
    last = tournament.last_rounds.get(group.id)
    number = 1 if last is None else last.number + 1
    boards = select(Round.board).where(Round.group_id == group.id).order_by(Round.number)
    history = [BoardSpec.from_json(document) for document in session.scalars(boards)]
    board = next_board(tournament.boards(group), history)
    new = insert(Round).values(
        group_id=group.id,
        number=number,
        board=board.to_json(),
        seed=derived_seed(EXACT, tournament.row.seed, group.slug, number),
        positions={str(team): position for team, position in positions(entries).items()},
        opened_at=tournament.now,
        closed_at=None,
    )
    row = session.scalars(new.returning(Round)).one()
    tournament.last_rounds[group.id] = row
    return row


def plan_matches(
    row: Round, playing: Sequence[GroupEntry], settings: TournamentSettings
) -> list[Seating]:
    """Return the seatings of a round's matches, in order of play."""
    by_team = {entry.team_id: entry for entry in playing}
    if settings.plan == "all":
        return [tuple(by_team[team] for team in seats(by_team, row.seed))]
    return [(by_team[a], by_team[b]) for a, b in pairs(by_team, row.seed)]


def add_matches(
    session: Session,
    now: datetime,
    competition: Competition,
    row: Round,
    seatings: Sequence[Seating],
) -> None:
    """Add the rows of a round's matches and of their seats, in few statements."""
    names = new_match_ids(session, len(seatings))
    bits = min(game_entry(competition.game).seed_bits, EXACT)
    matches = [
        {
            "match_id": name,
            "competition_id": competition.id,
            "kind": FORMAT,
            "key": f"{row.id}/{pair}",
            "game": competition.game,
            "players": len(seating),
            "options": row.board["options"],
            # Derived rather than drawn, so that a match that is played again gets the same board.
            "seed": derived_seed(bits, row.seed, pair),
            "round_id": row.id,
            "sequence": pair,
            "at": now,
        }
        for pair, (name, seating) in enumerate(zip(names, seatings, strict=True), 1)
    ]
    inserted = session.execute(
        insert(Match).returning(Match.id, Match.sequence),
        matches,
        execution_options={"insertmanyvalues_page_size": ROWS_AT_ONCE},
    )
    ids = {pair: match for match, pair in inserted}
    seats = [
        {
            "match_id": ids[pair],
            "slot": seat,
            "bot_id": entry.bot_id,
            "name": player_name(competition.game, entry.slug),
        }
        for pair, seating in enumerate(seatings, 1)
        for seat, entry in enumerate(seating)
    ]
    session.execute(insert(MatchParticipant), seats)


def new_match_ids(session: Session, number: int) -> list[str]:
    """Return a number of unused random match names."""
    names: set[str] = set()
    while len(names) < number:
        candidates = {f"m_{secrets.token_hex(4)}" for _ in range(number - len(names))}
        used = session.scalars(select(Match.match_id).where(Match.match_id.in_(candidates)))
        names |= candidates - set(used)
    return sorted(names)


def player_name(game: str, slug: str) -> str:
    """Return the name under which a team's bot plays."""
    return slug.replace("-", "_") if game == NUMBERED else slug


def scoring_of(row: Round, settings: TournamentSettings) -> Scoring:
    """Return how a round's results turn into points."""
    return Scoring(settings.points, row.board["factor"], settings.tiebreak)


def newest_matches(rounds: Sequence[int]) -> Any:
    """Return a query for the match ids of rounds, with only the newest of repeated matches."""
    return (
        select(func.max(Match.id))
        .where(Match.round_id.in_(rounds))
        .group_by(Match.round_id, Match.sequence)
    )


def crosstable(
    session: Session, rounds: Sequence[Round], settings: TournamentSettings
) -> dict[tuple[int, int], Tally]:
    """Return each team's tally against each other team over some rounds, by team ids."""
    table: dict[tuple[int, int], Tally] = {}
    played = played_matches(session, [row.id for row in rounds])
    for row in rounds:
        positions = {int(team): position for team, position in row.positions.items()}
        tallies = ladder.crosstable(played[row.id], positions, scoring_of(row, settings))
        for pair, tally in tallies.items():
            table[pair] = table.get(pair, Tally()).plus(tally)
    return table


def played_matches(session: Session, rounds: Sequence[int]) -> dict[int, list[PlayedMatch[int]]]:
    """Return the matches that count (done, and not played again), by round id."""
    counts = and_(Match.id.in_(newest_matches(rounds)), Match.state == "done")
    teams: dict[int, list[int]] = defaultdict(list)
    round_of: dict[int, int] = {}
    seats = session.execute(
        select(Match.id, Match.round_id, Bot.team_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(counts)
        .order_by(Match.id, MatchParticipant.slot)
    )
    for match, round_id, team in cast(Any, seats):
        round_of[match] = round_id
        teams[match].append(team)
    games: dict[int, list[GameResult]] = defaultdict(list)
    rows = session.execute(
        select(Battle.match_id, Battle.ranks, Battle.scores)
        .join(Match, Match.id == Battle.match_id)
        .where(counts)
        .order_by(Battle.number)
    )
    for match, ranks, scores in rows:
        games[match].append(GameResult(ranks, scores))
    played: dict[int, list[PlayedMatch[int]]] = {round_id: [] for round_id in rounds}
    for match, round_id in round_of.items():
        played[round_id].append(PlayedMatch(tuple(teams[match]), tuple(games[match])))
    return played


def ranked_teams(
    session: Session, settings: TournamentSettings, seed: int, group_id: int
) -> list[Ranked[int]]:
    """Return the competing teams of a group in final order, with the tie-breaks that decided.

    Ties are broken as in `cw.league.ladder`; `seed` is that of the tournament.
    """
    competing = [entry.team_id for entry in entries_of(session, group_id) if entry.competes]
    sums = session.execute(
        select(
            RoundScore.team_id,
            func.sum(RoundScore.points),
            func.sum(RoundScore.battles_diff),
            func.sum(RoundScore.score_diff),
        )
        .join(Round, Round.id == RoundScore.round_id)
        .where(Round.group_id == group_id)
        .group_by(RoundScore.team_id)
    )
    by_team = {row[0]: EntryTotals[int](*row) for row in sums}
    totals = [by_team.get(team, EntryTotals(team, 0)) for team in competing]
    head_to_head: dict[tuple[int, int], float] = {}
    # Head-to-head results are read only if there are ties to break: this loads every match of the
    # group.
    if len({entry.key for entry in totals}) < len(totals):
        closed = (Round.group_id == group_id, Round.closed_at.is_not(None))
        rounds = session.scalars(select(Round).where(*closed)).all()
        table = crosstable(session, rounds, settings)
        head_to_head = {pair: tally.points for pair, tally in table.items()}
    return final_table(totals, head_to_head, seed)


TIME_FOR_HOST: Final = timedelta(minutes=5)
"""How long a round waits for its host once it only has failed matches left."""


def close_complete(session: Session, tournament: TournamentState) -> int:
    """Close the complete rounds; return their number."""
    rounds = {row.id: group for group in tournament.groups if (row := tournament.open_round(group))}
    if not rounds:
        return 0
    complete = complete_rounds(session, list(rounds), tournament.now)
    for round_id in complete:
        close(session, tournament, rounds[round_id])
    return len(complete)


def complete_rounds(session: Session, rounds: Sequence[int], now: datetime) -> list[int]:
    """Return the rounds that have no match left to play.

    A round with failed matches is complete only once TIME_FOR_HOST has passed since its last match
    ended, as the host may have them played again.
    """
    states: dict[int, set[MatchState]] = {round_id: set() for round_id in rounds}
    ends: dict[int, datetime] = {}
    rows = session.execute(
        select(Match.round_id, Match.state, func.max(Match.finished_at))
        .where(Match.round_id.in_(rounds))
        .group_by(Match.round_id, Match.state)
    )
    for round_id, state, ended_at in cast(Any, rows):
        states[round_id].add(state)
        if ended_at:
            ends[round_id] = max(ends.get(round_id, ended_at), ended_at)
    over = [round_id for round_id in rounds if states[round_id].isdisjoint(OPEN)]
    recent = [
        round_id
        for round_id in over
        if "failed" in states[round_id] and now < ends.get(round_id, now) + TIME_FOR_HOST
    ]
    if not recent:
        return over
    failed = and_(Match.id.in_(newest_matches(recent)), Match.state == "failed")
    waiting = set(session.scalars(select(Match.round_id).where(failed)))
    return [round_id for round_id in over if round_id not in waiting]


def close(session: Session, tournament: TournamentState, group: Group) -> None:
    """Close the open round of a group, and award points, totals and positions to its entries."""
    row = tournament.last_rounds[group.id]
    row.closed_at = tournament.now
    tallies = summed(crosstable(session, [row], tournament.settings))
    entries = [
        replace(entry, total=entry.total + tallies.get(entry.team_id, Tally()).points)
        for entry in entries_of(session, group.id)
    ]
    places = positions(entries)
    scores = [
        {
            "round_id": row.id,
            "team_id": entry.team_id,
            "points": (tally := tallies.get(entry.team_id, Tally())).points,
            "won": tally.won,
            "drawn": tally.drawn,
            "lost": tally.lost,
            "battles_diff": tally.games_diff,
            "score_diff": tally.score_diff,
            "total": entry.total,
            "position": places[entry.team_id],
        }
        for entry in entries
    ]
    if scores:
        session.execute(insert(RoundScore), scores)
    group.revision += 1
    session.flush()


def seat_finalists(session: Session, tournament: TournamentState) -> None:
    """Enter the top teams of each public group in the final, and the teams out of competition.

    Existing entries stay. If there is no room for all finalists, the first-placed teams of every
    group take precedence over the second-placed ones.
    """
    final = next((group for group in tournament.groups if group.kind == "final"), None)
    if final is None:
        return
    entered = set(session.scalars(select(Entry.team_id).where(Entry.group_id == final.id)))
    for team in guests(session, tournament):
        if team not in entered:
            entered.add(team)
            enter(session, tournament, final, team, None)
    most = most_entries(tournament.row)
    for team, group in finalists(session, tournament):
        if team not in entered and len(entered) < most:
            entered.add(team)
            enter(session, tournament, final, team, group)
    session.flush()


def guests(session: Session, tournament: TournamentState) -> list[int]:
    """Return the ids of the playing teams that are out of competition."""
    guest = (Team.competition_id == tournament.row.id, Team.out_of_competition.is_(True))
    query = select(Team.id).where(*guest, Team.id.in_(playing_somewhere(tournament.row.id)))
    return list(session.scalars(query))


def finalists(session: Session, tournament: TournamentState) -> list[tuple[int, Group]]:
    """Return finalists' team ids with their groups: all winners, all second-placed teams, ..."""
    settings, seed = tournament.settings, tournament.row.seed
    firsts = [
        (rank, ranked.entry, group)
        for group in tournament.groups
        if group.kind == "public"
        for rank, ranked in enumerate(ranked_teams(session, settings, seed, group.id))
        if rank < settings.finalists
    ]
    firsts.sort(key=lambda finalist: finalist[0])
    return [(team, group) for _, team, group in firsts]


def enter(
    session: Session, tournament: TournamentState, final: Group, team: int, origin: Group | None
) -> None:
    """Add a team's entry to the final, without points."""
    entry = Entry(
        group_id=final.id,
        team_id=team,
        joined_at=tournament.now,
        status="playing",
        from_group_id=None if origin is None else origin.id,
    )
    session.add(entry)


LONGEST_REASON: Final = 40
"""Maximum length of the reason for calling off a match, in characters."""

NO_REASON: Final = "Please give a reason"
PLAYED_AGAIN: Final = "it is played again"


def void(
    session: Session,
    competition: int,
    match_id: str,
    reason: str,
) -> bool:
    """Call off a match of an open round, played or not; return False if it was void already.

    A void match does not count. Raises UsageError once its round is closed.
    """
    reason = read_reason(reason)
    match, row = hold_match(session, competition, match_id)
    if not call_off(session, Match.id == match.id, reason):
        return False
    detail, subject = {"reason": reason}, f"match:{match_id}"
    audit.record(session, "void", subject, detail=detail, competition_id=row.id)
    mark_round_changed(session, cast(int, match.round_id))
    return True


def void_round(
    session: Session,
    competition: int,
    round_id: int,
    reason: str,
) -> int:
    """Call off all matches of an open round; return their number. UsageError if it is closed."""
    reason = read_reason(reason)
    row = hold_round(session, competition, round_id)
    number = call_off(session, Match.round_id == round_id, reason)
    detail, subject = {"reason": reason}, f"round:{round_id}"
    audit.record(session, "void round", subject, detail=detail, competition_id=row.id)
    mark_round_changed(session, round_id)
    return number


def play_again(session: Session, competition: int, match_id: str) -> str:
    """Schedule a match of an open round again; return the name of the new one.

    Only the new match counts. Raises UsageError once the round is closed, and for a match of a
    disqualified team.
    """
    match, row = hold_match(session, competition, match_id)
    check_teams(session, match)
    pair = and_(Match.round_id == match.round_id, Match.sequence == match.sequence)
    call_off(session, and_(pair, Match.state.in_(OPEN)), PLAYED_AGAIN)
    times = session.scalar(select(func.count()).where(pair)) or 0
    (name,) = new_match_ids(session, 1)
    again = Match(
        match_id=name,
        competition_id=row.id,
        kind=FORMAT,
        key=f"{match.round_id}/{match.sequence}/{times + 1}",
        game=match.game,
        players=match.players,
        options=match.options,
        seed=seed_again(match),
        round_id=match.round_id,
        sequence=match.sequence,
        at=session.now(),
    )
    session.add(again)
    session.flush()
    seats = select(MatchParticipant).where(MatchParticipant.match_id == match.id)
    for seat in session.scalars(seats.order_by(MatchParticipant.slot)).all():
        copied = {"slot": seat.slot, "bot_id": seat.bot_id, "name": seat.name, "spec": seat.spec}
        session.add(MatchParticipant(match_id=again.id, **copied))
    detail, subject = {"as": name}, f"match:{match_id}"
    audit.record(session, "play again", subject, detail=detail, competition_id=row.id)
    mark_round_changed(session, cast(int, match.round_id))
    return name


def seed_again(match: Match) -> int:
    """Return the seed of a match that is played again.

    It is the original seed, which gives the same board, except in games with hidden information,
    which the first match has already revealed.
    """
    if match.game in games_with_hidden_information():
        return planning.draw_seed(match.game)
    return match.seed


def carry_over(session: Session, competition: int) -> bool:
    """Make the final due now; it starts as soon as the open rounds are closed.

    Returns False if it was due already. Raises UsageError if there is no final group.
    """
    row = lock(session, competition)
    groups = select(Group.id).where(Group.competition_id == row.id, Group.kind == "final")
    if session.scalar(groups) is None:
        raise UsageError("there is no final sandbox: add one first")
    finals = select(Event).where(Event.competition_id == row.id, Event.kind == "final")
    event, now = session.scalars(finals.order_by(Event.at, Event.id)).first(), session.now()
    if event is not None and event.at <= now:
        return False
    if event is None:
        texts = {"title": "Final", "text": "", "data": {}, "announced": True}
        event = Event(competition_id=row.id, group_id=None, kind="final", **texts)
        session.add(event)
    event.at = now
    session.flush()
    subject = f"competition:{FORMAT}/{row.slug}"
    audit.record(session, "carry over", subject, competition_id=row.id)
    row.revision += 1
    return True


def open_round(session: Session, competition: int, group_name: str) -> int:
    """Return the id of a group's open round; raise UsageError if there is none."""
    group = named_group(groups_of(session, competition), group_name)
    query = select(Round.id).where(Round.group_id == group.id, Round.closed_at.is_(None))
    round_id = session.scalar(query)
    if round_id is None:
        raise UsageError(f"no round of {group.name} is open")
    return round_id


def read_reason(reason: str) -> str:
    """Return the reason, truncated to fit the match page; raise UsageError if it is blank."""
    if not reason.strip():
        raise UsageError(NO_REASON)
    return reason.strip()[:LONGEST_REASON]


def hold_match(session: Session, competition: int, match_id: str) -> tuple[Match, Competition]:
    """Lock a match's tournament; return both. Raises UsageError unless its round is open."""
    of_round = (Match.competition_id == competition, Match.round_id.is_not(None))
    match = session.scalars(select(Match).where(*of_round, Match.match_id == match_id)).first()
    if match is None:
        raise UsageError("this tournament has no such match")
    return match, hold_round(session, competition, cast(int, match.round_id))


def hold_round(session: Session, competition: int, round_id: int) -> Competition:
    """Lock and return the tournament of an open round; raise UsageError if the round is closed."""
    row = lock(session, competition)
    rounds = select(Round.closed_at).join(Group, Group.id == Round.group_id)
    query = rounds.where(Group.competition_id == competition, Round.id == round_id)
    times = session.execute(query).first()
    if times is None:
        raise UsageError("this tournament has no such round")
    if times.closed_at is not None:
        raise UsageError("this round is over: its points have been awarded")
    return row


def check_teams(session: Session, match: Match) -> None:
    """Raise UsageError for a match of a disqualified team, as it would not count."""
    team = session.scalars(
        select(Team.name)
        .join(Entry, Entry.team_id == Team.id)
        .join(Round, Round.group_id == Entry.group_id)
        .join(Bot, Bot.team_id == Team.id)
        .join(MatchParticipant, MatchParticipant.bot_id == Bot.id)
        .where(MatchParticipant.match_id == match.id, Round.id == match.round_id)
        .where(Entry.status == "disqualified")
    ).first()
    if team is not None:
        raise UsageError(f"{team} is disqualified: reinstate it first")


def call_off(session: Session, which: Any, reason: str) -> int:
    """Call off matches in any state but `void`; return their number.

    A worker that is playing one of them stops at its next report.
    """
    off = {
        "state": "void",
        "finished_at": session.now(),
        "reason": reason[:LONGEST_STORED],
        "worker": None,
        "lease_until": None,
    }
    change = update(Match).where(which, Match.state != "void").values(off).returning(Match.id)
    return len(session.execute(change).all())


DISQUALIFIED: Final = "disqualified"
LONGEST_DISQUALIFICATION: Final = 200


def disqualify(
    session: Session,
    competition: int,
    ids: Sequence[int],
    reason: str,
) -> int:
    """Disqualify teams; return how many of them were playing.

    All their matches in open rounds become void, including played ones: otherwise the order of play
    would favour some opponents.
    """
    row = lock(session, competition)
    out = {"status": DISQUALIFIED, "reason": reason[:LONGEST_DISQUALIFICATION]}
    teams = [
        team
        for team in teams_by_id(session, competition, ids)
        if set_status(session, team.id, "playing", **out)
    ]
    seats = (
        select(MatchParticipant.match_id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(Bot.team_id.in_([team.id for team in teams]))
    )
    rounds = (
        select(Round.id)
        .join(Group, Group.id == Round.group_id)
        .where(Group.competition_id == row.id, Round.closed_at.is_(None))
    )
    call_off(session, and_(Match.round_id.in_(rounds), Match.id.in_(seats)), DISQUALIFIED)
    for team in teams:
        note(session, row, team, "disqualify", reason=reason)
    # Last, because match rows are locked before group rows.
    mark_all_changed(session, row)
    return len(teams)


def reinstate(
    session: Session,
    competition: int,
    ids: Sequence[int],
) -> int:
    """Reinstate teams from the next round on; return how many of them were disqualified."""
    row = lock(session, competition)
    teams = [
        team
        for team in teams_by_id(session, competition, ids)
        if set_status(session, team.id, DISQUALIFIED, status="playing", reason="")
    ]
    check_room(session, row)
    for team in teams:
        note(session, row, team, "reinstate")
    mark_all_changed(session, row)
    return len(teams)
