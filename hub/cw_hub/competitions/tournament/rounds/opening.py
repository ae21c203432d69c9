"""Opening of a round: its board type, its plan, and its match rows."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from cw.games.registry import game_entry, load_game
from cw.league.ladder.boards import BoardSpec, next_board
from cw.league.ladder.rounds import derived_seed, pairs, seats
from cw_hub.competitions.tournament.rounds.entries import GroupEntry, entries_of, positions
from cw_hub.competitions.tournament.rounds.state import TournamentState
from cw_hub.competitions.tournament.settings import FORMAT, TournamentSettings
from cw_hub.matches.planning import EXACT
from cw_hub.store.tables import Competition, Group, Match, MatchParticipant, Round

NUMBERED: Final = "end-of-codes"
"""The game whose bots receive the numbers of players and games."""

ROWS_AT_ONCE: Final = 4000
"""Number of rows per statement, as databases limit its parameters."""

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
            # Derived, not drawn, so that a match that is played again gets the same board.
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
