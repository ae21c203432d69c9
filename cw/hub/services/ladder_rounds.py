"""What the rounds of tournaments hold: entries and places, matches, and what they came to."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final, cast

import msgspec
from sqlalchemy import and_, func, insert, select
from sqlalchemy.orm import Session

from cw.games.registry import game_entry
from cw.hub.services.matches import EXACT, OPEN
from cw.hub.services.tournament_settings import TournamentSettings, settings_of
from cw.hub.store.tables import (
    Battle,
    Bot,
    Competition,
    Entry,
    Group,
    Match,
    MatchParticipant,
    MatchState,
    Round,
    RoundScore,
    Team,
)
from cw.league import ladder
from cw.league.ladder import Played, Standing, Tally, Ways

NUMBERED: Final = "end-of-codes"
"""The game whose players and games have our numbers."""

FOR_THE_HOST: Final = timedelta(minutes=5)
"""For how long a round of which nothing but failed matches is left waits for the host."""

AT_ONCE: Final = 4000
"""Rows of one statement; its parameters are limited as well."""


def settings_in(game: str, said: Mapping[str, Any]) -> TournamentSettings:
    """Return how a tournament is played; its settings were checked when they were kept."""
    return read_settings(game, msgspec.json.encode(said, order="sorted"))


@lru_cache(maxsize=64)
def read_settings(game: str, said: bytes) -> TournamentSettings:
    """Return what `settings_of` does, read once: its boards are tried by beginning games."""
    return settings_of(game, msgspec.json.decode(said))


# Entries and places


@dataclass(frozen=True, slots=True)
class Entrant:
    """A team in a group as it is now."""

    team_id: int
    slug: str
    bot_id: int | None
    """The row of its bot."""
    status: str
    out_of_competition: bool
    total: int
    """Points of all rounds that are closed."""

    @property
    def competes(self) -> bool:
        """Whether it takes a place from others."""
        return self.status == "playing" and not self.out_of_competition


def entries_of(session: Session, group_id: int) -> list[Entrant]:
    """Return all entries of a group, by the id of their team."""
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
        Entrant(team, slug, bot, status, is_out, int(total or 0))
        for team, slug, bot, status, is_out, total in rows
    ]


def playing_somewhere(competition_id: int) -> Any:
    """Return the ids of the teams of a tournament that play in a group."""
    return (
        select(Entry.team_id)
        .join(Group, Group.id == Entry.group_id)
        .where(Group.competition_id == competition_id, Entry.status == "playing")
    )


def positions(entries: Iterable[Entrant]) -> dict[int, int]:
    """Return the position of each entry, by the id of its team."""
    known = list(entries)
    totals = {one.team_id: one.total for one in known}
    return ladder.positions(totals, [one.team_id for one in known if one.competes])


def final_order(
    session: Session, settings: TournamentSettings, seed: int, group_id: int
) -> list[int]:
    """Return the teams that compete in a group, in the order of prizes and of the final.

    `seed` is that of the tournament: it decides where nothing else tells two apart.
    """
    competing = {one.team_id for one in entries_of(session, group_id) if one.competes}
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
    known = {
        team: Standing(team, gained, battles, scores) for team, gained, battles, scores in sums
    }
    standings = [known.get(team, Standing(team, 0)) for team in sorted(competing)]
    between: dict[tuple[Any, Any], float] = {}
    if len({one.key for one in standings}) < len(standings):
        closed = (Round.group_id == group_id, Round.closed_at.is_not(None))
        rounds = list(session.scalars(select(Round).where(*closed)))
        made = scored(session, rounds, settings)
        between = {pair: tally.points for pair, tally in made.items()}
    return ladder.ranking(standings, between, seed)


# Rounds


LineUp = tuple[Entrant, ...]


def line_ups(
    opened: Round, playing: Sequence[Entrant], settings: TournamentSettings
) -> list[LineUp]:
    """Return who plays whom in a round, in order; who begins comes first."""
    by_team = {one.team_id: one for one in playing}
    if settings.plan == "all":
        return [tuple(by_team[team] for team in ladder.seats(by_team, opened.seed))]
    return [(by_team[a], by_team[b]) for a, b in ladder.pairs(by_team, opened.seed)]


def add_matches(
    session: Session, now: datetime, row: Competition, of: Round, planned: Sequence[LineUp]
) -> None:
    """Make the rows of the matches of a round, in few statements."""
    names = new_match_ids(session, len(planned))
    bits = min(game_entry(row.game).seed_bits, EXACT)
    rows = [
        {
            "match_id": name,
            "competition_id": row.id,
            "kind": "ladder",
            "key": f"{of.id}/{pair}",
            "game": row.game,
            "players": len(line_up),
            "options": of.board["options"],
            "seed": ladder.derived_seed(bits, of.seed, pair),
            "round_id": of.id,
            "sequence": pair,
            "at": now,
        }
        for pair, (name, line_up) in enumerate(zip(names, planned, strict=True), 1)
    ]
    made = session.execute(
        insert(Match).returning(Match.id, Match.sequence),
        rows,
        execution_options={"insertmanyvalues_page_size": AT_ONCE},
    )
    ids = {pair: match for match, pair in made}
    seats = [
        {
            "match_id": ids[pair],
            "slot": slot,
            "bot_id": one.bot_id,
            "name": player_name(row.game, one.slug),
        }
        for pair, line_up in enumerate(planned, 1)
        for slot, one in enumerate(line_up)
    ]
    session.execute(insert(MatchParticipant), seats)


def new_match_ids(session: Session, number: int) -> list[str]:
    """Draw names for matches that no other match has."""
    names: set[str] = set()
    while len(names) < number:
        drawn = {f"m_{secrets.token_hex(4)}" for _ in range(number - len(names))}
        taken = select(Match.match_id).where(Match.match_id.in_(drawn))
        names |= drawn - set(session.scalars(taken))
    return sorted(names)


def player_name(game: str, slug: str) -> str:
    """Return the name under which the bot of a team plays."""
    return slug.replace("-", "_") if game == NUMBERED else slug


def newest(rounds: Sequence[int]) -> Any:
    """Return the ids of the matches of rounds that count: of a pair only the newest does."""
    return (
        select(func.max(Match.id))
        .where(Match.round_id.in_(rounds))
        .group_by(Match.round_id, Match.sequence)
    )


def complete_rounds(session: Session, rounds: Sequence[int], now: datetime) -> list[int]:
    """Return the rounds of which nothing is left to be played, failed matches apart.

    Where some have failed the host is given a while.
    """
    counted: dict[int, dict[MatchState, int]] = {one: {} for one in rounds}
    last: dict[int, datetime] = {}
    rows = session.execute(
        select(Match.round_id, Match.state, func.count(), func.max(Match.finished_at))
        .where(Match.round_id.in_(rounds))
        .group_by(Match.round_id, Match.state)
    )
    for one, state, number, ended in cast(Any, rows):
        counted[one][state] = number
        last[one] = max(last.get(one, ended), ended) if ended else last.get(one, now)
    over = [one for one in rounds if not any(state in counted[one] for state in OPEN)]
    waiting = [one for one in over if "failed" in counted[one] and now < last[one] + FOR_THE_HOST]
    if waiting:
        failed = and_(Match.id.in_(newest(waiting)), Match.state == "failed")
        still = set(session.scalars(select(Match.round_id).where(failed)))
        over = [one for one in over if one not in still]
    return over


def scored(
    session: Session, rounds: Sequence[Round], settings: TournamentSettings
) -> dict[tuple[int, int], Tally]:
    """Return what each team has made of each other in rounds."""
    made: dict[tuple[int, int], Tally] = {}
    played = played_in(session, [one.id for one in rounds])
    for one in rounds:
        places = {int(team): place for team, place in one.positions.items()}
        for pair, tally in ladder.scored(played[one.id], places, ways_of(one, settings)).items():
            made[pair] = made.get(pair, Tally()).plus(tally)
    return made


def ways_of(one: Round, settings: TournamentSettings) -> Ways:
    """Return how the results of a round become points."""
    return Ways(settings.points, one.board["factor"], settings.tiebreak)


def played_in(session: Session, rounds: Sequence[int]) -> dict[int, list[Played]]:
    """Return the matches of rounds that count: those that are done and were not played again."""
    counts = and_(Match.id.in_(newest(rounds)), Match.state == "done")
    teams: dict[int, list[int]] = defaultdict(list)
    round_of: dict[int, int] = {}
    seated = session.execute(
        select(Match.id, Match.round_id, Bot.team_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(counts)
        .order_by(Match.id, MatchParticipant.slot)
    )
    for match, one, team in cast(Any, seated):
        round_of[match] = one
        teams[match].append(team)
    battles: dict[int, list[ladder.Battle]] = defaultdict(list)
    fought = select(Battle.match_id, Battle.ranks, Battle.scores).join(
        Match, Match.id == Battle.match_id
    )
    for match, ranks, scores in session.execute(fought.where(counts).order_by(Battle.number)):
        battles[match].append(ladder.Battle(ranks, scores))
    played: dict[int, list[Played]] = {one: [] for one in rounds}
    for match, one in round_of.items():
        played[one].append(Played(tuple(teams[match]), tuple(battles[match])))
    return played
