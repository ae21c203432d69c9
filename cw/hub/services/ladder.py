"""The rounds of tournaments: events are applied, rounds opened, sent in their order, and closed.

Whoever changes something here holds the row of the competition until the end of the transaction,
and takes it before any row of a match, and those before rows of groups: two who come at the same
time come one after the other.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, cast

from sqlalchemy import and_, func, insert, or_, select, update
from sqlalchemy.orm import Session

from cw.errors import ArenaError
from cw.games.registry import load_game
from cw.hub.clock import Clock
from cw.hub.services import competitions
from cw.hub.services.competitions import SINCE
from cw.hub.services.ladder_rounds import (
    NUMBERED,
    Entrant,
    add_matches,
    complete_rounds,
    entries_of,
    final_order,
    line_ups,
    playing_somewhere,
    positions,
    scored,
    settings_in,
    ways_of,
)
from cw.hub.services.matches import EXACT, BattleResult, Claim
from cw.hub.services.tournament_settings import FORMAT, TournamentSettings
from cw.hub.services.tournaments import most_entries
from cw.hub.store.tables import (
    Bot,
    Competition,
    CompetitionState,
    Entry,
    Event,
    Group,
    Match,
    MatchParticipant,
    Round,
    RoundScore,
    Team,
)
from cw.league import ladder
from cw.league.ladder import Board, Happened, Phase, Tally

logger = logging.getLogger(__name__)


# Advancing


def plan(session: Session, clock: Clock) -> int:
    """Advance all tournaments; return how many changes that made. See `advance`."""
    ids = select(Competition.id).where(Competition.format == FORMAT, Competition.state != "over")
    made = 0
    for one in session.scalars(ids.order_by(Competition.id)).all():
        try:
            with session.begin_nested():
                made += advance(session, clock, one)
        except ArenaError:
            # Such as settings that this version does not take: the others go on.
            logger.exception("competition %s cannot be advanced", one)
    return made


def advance(session: Session, clock: Clock, competition_id: int) -> int:
    """Do all that is due in a tournament; return how many changes that made.

    Events are applied, complete rounds closed, and the next ones opened. Twice: 0. By two at once:
    the second waits for the first, and finds nothing to do. Late: it acts late.
    """
    row = competitions.held(session, competition_id)
    if row.format != FORMAT or row.state == "over":
        return 0
    return Tournament.of(session, clock, row).advance()


@dataclass(slots=True)
class Tournament:
    """A tournament in the hands of whoever holds its row."""

    session: Session
    now: datetime
    row: Competition
    settings: TournamentSettings
    events: list[Event]
    """Those that are applied or due, in their order."""
    groups: list[Group]
    latest: dict[int, Round]
    """By the id of a group its latest round."""

    @classmethod
    def of(cls, session: Session, clock: Clock, row: Competition) -> Tournament:
        """Read what is known of a tournament whose row is held."""
        now = clock()
        due = or_(Event.applied_at.is_not(None), Event.at <= now)
        events = select(Event).where(Event.competition_id == row.id, due)
        newest = (
            select(Round.group_id, func.max(Round.number).label("number"))
            .group_by(Round.group_id)
            .subquery()
        )
        groups = session.execute(
            select(Group, Round)
            .outerjoin(newest, newest.c.group_id == Group.id)
            .outerjoin(Round, and_(Round.group_id == Group.id, Round.number == newest.c.number))
            .where(Group.competition_id == row.id)
            .order_by(Group.id)
        ).all()
        return cls(
            session,
            now,
            row,
            settings_in(row.game, row.settings),
            list(session.scalars(events.order_by(Event.at, Event.id))),
            [group for group, _ in groups],
            {group.id: round_ for group, round_ in groups if round_ is not None},
        )

    def advance(self) -> int:
        """Do all that is due; return how many changes that made."""
        self.session.flush()
        with self.session.no_autoflush:
            return self.advance_at_once()

    def advance_at_once(self) -> int:
        """Do all that is due, and write each row once."""
        made = self.apply_due()
        while closed := self.close_complete():
            # A final may have waited for that.
            made += closed + self.apply_due()
        made += sum(self.open_if_due(group) for group in self.groups)
        return made + self.note_state()

    # Events

    def apply_due(self) -> int:
        """Apply the events that are due, in their order; return how many."""
        made = 0
        while True:
            waiting = [event for event in self.events if event.applied_at is None]
            kinds = cast(Any, [event.kind for event in waiting])
            is_ready = all(self.open_round(group) is None for group in self.groups)
            place = ladder.due_now(kinds, is_final_ready=is_ready)
            if place is None:
                return made
            self.apply(waiting[place])
            made += 1

    def apply(self, event: Event) -> None:
        """Let an event take effect."""
        event.applied_at = self.now
        if event.kind == "start" and SINCE not in self.row.settings:
            self.row.settings = {**self.row.settings, SINCE: self.now.isoformat()}
        if event.kind == "pause":
            self.hold_back(event.group_id)
        if event.kind == "final":
            self.seat_finalists()
        self.row.revision += 1
        for group in self.groups:
            group.revision += 1

    def hold_back(self, group_id: int | None) -> None:
        """Let no match that waits be taken: the messages that were sent count no more."""
        rounds = [
            open_round.id
            for group in self.groups
            if group_id in (None, group.id) and (open_round := self.open_round(group))
        ]
        waiting = and_(Match.round_id.in_(rounds), Match.state == "queued")
        self.session.execute(update(Match).where(waiting).values(sent_at=None))

    def events_of(self, group: Group) -> Iterator[Event]:
        """Give the events about a group that are applied, and a final that waits."""
        for event in self.events:
            counts = event.applied_at is not None or event.kind == "final"
            if counts and event.group_id in (None, group.id):
                yield event

    def phase(self, group: Group) -> Phase:
        """Return how far a group is."""
        happened = [
            Happened(cast(Any, event.kind), event.applied_at is not None)
            for event in self.events_of(group)
        ]
        is_open = self.open_round(group) is not None
        return ladder.phase(happened, is_final=group.kind == "final", is_open=is_open)

    def open_round(self, group: Group) -> Round | None:
        """Return the round of a group that is open, None if none is."""
        last = self.latest.get(group.id)
        return last if last is not None and last.closed_at is None else None

    def note_state(self) -> int:
        """Note whether the tournament runs, is paused or over; return 1 if that is new."""
        state = self.state()
        if state == self.row.state:
            return 0
        self.row.state = state
        self.row.revision += 1
        return 1

    def state(self) -> CompetitionState:
        """Return how far the tournament is, by its events and groups."""
        applied = [event for event in self.events if event.applied_at is not None]
        is_over = all(self.phase(group) == "over" for group in self.groups)
        if is_over and any(event.kind == "end" for event in applied):
            return "over"
        if not any(event.kind == "start" for event in applied):
            return "draft"
        held = [one.kind for one in applied if one.group_id is None and one.kind in STOPS]
        return "paused" if held and held[-1] == "pause" else "running"

    # Opening

    def open_if_due(self, group: Group) -> int:
        """Open the next round of a group; return 1 if it was due and there are teams enough."""
        if self.phase(group) != "running" or self.open_round(group) is not None:
            return 0
        due = next_round_at(self.latest.get(group.id), self.settings)
        if due is not None and self.now < due:
            return 0
        entries = entries_of(self.session, group.id)
        playing = [one for one in entries if one.status == "playing"]
        if len(playing) < fewest(self.row.game, self.settings):
            return 0
        self.open(group, entries, playing)
        return 1

    def open(self, group: Group, entries: Sequence[Entrant], playing: Sequence[Entrant]) -> None:
        """Open a round: its board, the positions, and its matches."""
        last = self.latest.get(group.id)
        number = 1 if last is None else last.number + 1
        used = select(Round.board).where(Round.group_id == group.id).order_by(Round.number)
        boards = [Board.from_json(document) for document in self.session.scalars(used)]
        board = ladder.next_board(self.boards(group), boards)
        wanted = insert(Round).values(
            group_id=group.id,
            number=number,
            board=board.to_json(),
            seed=ladder.derived_seed(EXACT, self.row.seed, group.slug, number),
            positions={str(team): place for team, place in positions(entries).items()},
            opened_at=self.now,
            closed_at=None,
        )
        opened = self.session.scalars(wanted.returning(Round)).one()
        self.latest[group.id] = opened
        add_matches(
            self.session, self.now, self.row, opened, line_ups(opened, playing, self.settings)
        )
        group.revision += 1

    def boards(self, group: Group) -> list[Board]:
        """Return the types of boards that a group plays on."""
        lists: list[tuple[ladder.Mode, Sequence[Board]]] = []
        for event in self.events_of(group):
            if event.applied_at is not None:
                if event.kind == "start":
                    lists.append(("add", self.settings.boards))
                brought = [Board.from_json(one) for one in event.data.get("boards", ())]
                if brought and (event.kind == "boards" or group.kind == "final"):
                    lists.append((event.data.get("mode", "add"), brought))
        return ladder.active_boards(lists) or list(self.settings.boards)

    # Closing

    def close_complete(self) -> int:
        """Close the rounds of which nothing is left to be played; return how many."""
        opened = {one.id: group for group in self.groups if (one := self.open_round(group))}
        if not opened:
            return 0
        complete = complete_rounds(self.session, list(opened), self.now)
        for group in [opened[one] for one in complete]:
            self.close(group)
        return len(complete)

    def close(self, group: Group) -> None:
        """Close the open round of a group: all of its entries are given their points at once."""
        closing = self.latest[group.id]
        closing.closed_at = self.now
        made = ladder.summed(scored(self.session, [closing], self.settings))
        before = entries_of(self.session, group.id)
        after = [
            replace(one, total=one.total + made.get(one.team_id, Tally()).points) for one in before
        ]
        places = positions(after)
        rows = [
            {
                "round_id": closing.id,
                "team_id": one.team_id,
                "points": (own := made.get(one.team_id, Tally())).points,
                "won": own.won,
                "drawn": own.drawn,
                "lost": own.lost,
                "battles_diff": own.battles,
                "score_diff": own.scores,
                "total": one.total,
                "position": places[one.team_id],
            }
            for one in after
        ]
        if rows:
            self.session.execute(insert(RoundScore), rows)
        group.revision += 1
        self.session.flush()

    # The final

    def seat_finalists(self) -> None:
        """Let the first of each public group play in the final, with those out of competition.

        Who is there already stays. Where the final has not enough places for all of them, the
        first of each group go before the second ones.
        """
        finals = [group for group in self.groups if group.kind == "final"]
        if not finals:
            return
        final = finals[0]
        there = set(self.session.scalars(select(Entry.team_id).where(Entry.group_id == final.id)))
        guests = (Team.competition_id == self.row.id, Team.out_of_competition.is_(True))
        playing = select(Team.id).where(*guests, Team.id.in_(playing_somewhere(self.row.id)))
        for team in self.session.scalars(playing).all():
            if team not in there:
                there.add(team)
                self.seat(final, team, None)
        most = most_entries(self.row)
        for team, group in self.finalists():
            if team not in there and len(there) < most:
                there.add(team)
                self.seat(final, team, group)
        self.session.flush()

    def finalists(self) -> list[tuple[int, Group]]:
        """Return the teams that have won the final, each with its group: first all first ones."""
        ranked = [
            (place, team, group)
            for group in self.groups
            if group.kind == "public"
            for place, team in enumerate(
                final_order(self.session, self.settings, self.row.seed, group.id)
            )
            if place < self.settings.finalists
        ]
        ranked.sort(key=lambda one: one[0])
        return [(team, group) for _, team, group in ranked]

    def seat(self, final: Group, team: int, came_from: Group | None) -> None:
        """Enter a team in the final, with no points."""
        entry = Entry(
            group_id=final.id,
            team_id=team,
            joined_at=self.now,
            status="playing",
            from_group_id=None if came_from is None else came_from.id,
        )
        self.session.add(entry)


STOPS: Final = ("pause", "resume")


def next_round_at(last: Round | None, settings: TournamentSettings) -> datetime | None:
    """Return when the next round of a group may open; None: at once."""
    if last is None or not settings.round_every:
        return None
    return last.opened_at + timedelta(seconds=settings.round_every)


def fewest(game: str, settings: TournamentSettings) -> int:
    """Return how many entries a round needs."""
    return 2 if settings.plan == "pairs" else max(2, load_game(game).rules.seats.start)


def phase_of(session: Session, clock: Clock, group_id: int) -> Phase:
    """Return how far a group is, from its events; a final that is due and waits counts as such."""
    row = session.scalars(
        select(Competition)
        .join(Group, Group.competition_id == Competition.id)
        .where(Group.id == group_id)
    ).one()
    tournament = Tournament.of(session, clock, row)
    return next(tournament.phase(group) for group in tournament.groups if group.id == group_id)


# Matches


def claimed(session: Session, of: Claim) -> Claim:
    """Return a claim with the number of its battles, and in End of Codes with our numbers."""
    found = session.execute(
        select(Competition.settings, Match.round_id)
        .join(Match, Match.competition_id == Competition.id)
        .where(Match.id == of.id, Competition.format == FORMAT)
    ).one_or_none()
    if found is None:
        return of
    if found.round_id is not None:
        touch_group_of(session, found.round_id)
    settings = settings_in(of.game, found.settings)
    of = replace(of, battles=settings.battles, hosting=settings.hosting)
    if of.game != NUMBERED:
        return of
    teams = session.execute(
        select(Bot.team_id, MatchParticipant.slot)
        .select_from(MatchParticipant)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .where(MatchParticipant.match_id == of.id)
        .order_by(MatchParticipant.slot)
    )
    # A built-in strategy without a row has no team; numbers below 1 are nobody's.
    players = tuple(-slot if team is None else team for team, slot in teams)
    return replace(of, players=players, options={**of.options, "gameid": of.id})


def touch_group_of(session: Session, round_id: int) -> None:
    """Note that the pages of the group of a round show something else now."""
    group = select(Round.group_id).where(Round.id == round_id).scalar_subquery()
    changed = {"revision": Group.revision + 1}
    no_sync = {"synchronize_session": False}
    session.execute(
        update(Group).where(Group.id == group).values(changed).execution_options(**no_sync)
    )


def hold(session: Session, of: Claim) -> None:
    """Hold the tournament of a match until the end of the transaction."""
    if of.competition_id is not None:
        competitions.held(session, of.competition_id)


def finished(session: Session, clock: Clock, of: Claim, battles: Sequence[BattleResult]) -> None:
    """Write the points of a match, to be given when its round ends, and advance its tournament."""
    match = session.scalars(select(Match).where(Match.id == of.id)).one()
    if match.competition_id is None or match.round_id is None:
        return
    one = session.scalars(select(Round).where(Round.id == match.round_id)).one()
    row = session.scalars(select(Competition).where(Competition.id == match.competition_id)).one()
    settings = settings_in(row.game, row.settings)
    told = [
        ladder.Battle([slot.rank for slot in one.slots], [slot.score for slot in one.slots])
        for one in battles
    ]
    seats = session.execute(
        select(MatchParticipant, Bot.team_id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(MatchParticipant.match_id == of.id)
        .order_by(MatchParticipant.slot)
    ).all()
    places = [one.positions[str(team)] for _, team in seats]
    for (seat, _), points in zip(
        seats, ladder.points(told, places, ways_of(one, settings)), strict=True
    ):
        seat.points = points
    touch_group_of(session, one.id)
    advance(session, clock, row.id)
