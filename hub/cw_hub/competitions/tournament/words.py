"""Texts shown on the tournament pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, cast

from cw.errors import FaultKind
from cw.games.endings import FORFEITS
from cw.league.ladder import Phase, TieBreak
from cw.matches.verdict import DID
from cw_hub.competitions.tournament.standings import GameView, GroupStandings, RoundMatch, TableRow
from cw_hub.competitions.tournament.views import Countdown, EventView, GroupView

SECOND: Final = timedelta(seconds=1)
DAY: Final = 86_400
"""In seconds."""

FAULTS: Final[Mapping[str, str]] = {
    "illegal": "illegal move",
    "startup": "no start",
    "timeout": "time-out",
    "disconnected": "no connection",
    "crashed": "crash",
    "malformed": "wrong response",
    "oversize": "too long response",
}
"""Short reasons why a game was stopped, by kind of fault."""

STATES: Final[Mapping[str, str]] = {
    "queued": "not played yet",
    "interrupted": "not played yet",
    "in_progress": "being played",
    "failed": "could not be played: no points",
}
"""Texts for matches without a result."""

PHASES: Final[Mapping[Phase, str]] = {
    "waiting": "not started yet",
    "running": "running",
    "paused": "paused",
    "closing": "plays its last round",
    "over": "final",
}

DECIDED: Final[Mapping[TieBreak, str]] = {
    "battles": "battles won minus lost",
    "scores": "scores won minus lost",
    "meetings": "the points of their own matches",
    "lot": "drawing lots",
}
"""Texts for tie-breaks."""

NOT_STARTED: Final = "The tournament has not started yet."
OPENS: Final = "Opens with the final."
LONELY: Final = "Waiting for a second team."
ABOUT_TO_START: Final = "The first round is about to start."


def clock_of(seconds: int) -> str:
    """Return a duration as `01:12:09`, or from one day on as `2 days 03:14:15`."""
    days, rest = divmod(max(seconds, 0), DAY)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return clock if not days else f"{days} day{'' if days == 1 else 's'} {clock}"


def short_clock(seconds: int) -> str:
    """Return a duration as `00:42`, with hours only if needed."""
    clock = clock_of(seconds)
    return clock.removeprefix("00:") if seconds < 3600 else clock


def countdown_words(countdown: Countdown, now: datetime) -> str:
    """Return the countdown's text, which hub/static/hub/ladder_bar.js keeps up to date."""
    if countdown.is_over:
        return "The tournament is over"
    if countdown.next is None:
        return "No event planned"
    if countdown.is_preparing:
        return "FINAL is being prepared"
    title = countdown.next.title if countdown.next.announced else "Next event"
    if countdown.next.at <= now:
        return f"{title}: now"
    return f"{title} in {clock_of((countdown.next.at - now) // SECOND)}"


def round_words(standings: GroupStandings) -> str:
    """Return the progress of a round: `Round 7: Hexagon 5 (x 3), 61 of 91 matches played`."""
    current = standings.group.round
    if current is None:
        return ""
    board = current.board
    played = f"{standings.played} of {len(standings.matches)} matches played"
    return f"Round {current.number}: {board.name} (x {board.factor}), {played}"


def top_lines(  # noqa: PLR0911 - as many sentences as there are
    standings: GroupStandings,
    phase: Phase,
    pause: EventView | None,
    next_at: datetime | None,
    now: datetime,
) -> list[str]:
    """Return the lines above a ladder: the group's phase, and its round's progress."""
    group = standings.group
    progress = [round_words(standings)] if group.is_open else []
    if phase == "over":
        return [f"The ladder of {group.name} is final."]
    if phase == "closing":
        return [f"{group.name} plays its last round.", *progress]
    if phase == "paused":
        return [f"Paused. {pause.text}".strip() if pause else "Paused.", *progress]
    if phase == "waiting":
        return [OPENS if group.kind == "final" else NOT_STARTED]
    if progress:
        return progress
    if sum(row.status == "playing" for row in standings.rows) < 2:
        return [LONELY]
    return [between_rounds(group, next_at, now)]


def between_rounds(group: GroupView, next_at: datetime | None, now: datetime) -> str:
    """Return the line above a ladder while no round is open."""
    if group.round is None:
        return ABOUT_TO_START
    left = 0 if next_at is None else (next_at - now) // SECOND
    starts = f"The next round starts in {short_clock(left)}."
    return f"Round {group.rounds} is over. {starts}"


def game_words(standings: GroupStandings, match: RoundMatch, game: GameView) -> str:
    """Return the result of a two-team game: `Alpha (34 - 21)`, `222: illegal move by test2`."""
    loser_seat = loser_of(game)
    scores = " - ".join("?" if score is None else f"{score:g}" for score in game.scores)
    if loser_seat is None:
        return f"draw ({scores})" + faults_words(standings, match, game)
    winner = standings.name(match.teams[1 - loser_seat])
    if game.reason in FORFEITS:
        loser = standings.name(match.teams[loser_seat])
        return f"{winner}: {FAULTS.get(game.reason, 'fault')} by {loser}"
    return f"{winner} ({scores})" + faults_words(standings, match, game)


def loser_of(game: GameView) -> int | None:
    """Return the seat of the loser of a two-team game, or None for a draw."""
    first, second = game.ranks
    if first is None or second is None or first == second:
        return None
    return 1 if first < second else 0


def why_words(standings: GroupStandings, match: RoundMatch, game: GameView) -> str:
    """Return why a game ended early, as a sentence; "" if it was played out."""
    loser_seat = loser_of(game)
    if loser_seat is None or game.reason not in FAULTS:
        return ""
    return f"{standings.name(match.teams[loser_seat])} {DID[cast(FaultKind, game.reason)]}."


def faults_words(standings: GroupStandings, match: RoundMatch, game: GameView) -> str:
    """Return a text such as `, 3 faults by Beta`, for faults that did not end the game."""
    words = ""
    for team, faults in zip(match.teams, match.faults, strict=True):
        number = faults.get(game.number, 0)
        if number:
            words += f", {number} fault{'' if number == 1 else 's'} by {standings.name(team)}"
    return words


def state_words(match: RoundMatch) -> str:
    """Return the status text of a match without a result; "" if it has one."""
    if match.state == "void":
        return f"called off: {match.reason or 'no reason given'}"
    return STATES.get(match.state, "")


def result_words(standings: GroupStandings, match: RoundMatch) -> str:
    """Return the result of a two-team match: `Alpha 2:0 Beta`, or `Alpha - Beta` before its end."""
    first, second = (standings.name(team) for team in match.teams)
    between = str(standings.result(match)) if match.counts else "-"
    return f"{first} {between} {second}"


def points_words(standings: GroupStandings, match: RoundMatch) -> tuple[str, str]:
    """Return the points of a match, `12 to Alpha`, and their calculation, `4 x 3`."""
    factor = standings.scoring.factor
    parts = [
        (f"{points} to {standings.name(team)}", f"{points // factor} x {factor}")
        for team, points in zip(match.teams, standings.points(match), strict=True)
        if points
    ]
    if not parts:
        return "0", ""
    return ", ".join(points for points, _ in parts), ", ".join(how for _, how in parts)


def plain(number: float) -> int | float:
    """Return a number as shown on pages: integers without a decimal point."""
    return int(number) if number == int(number) else number


def change_words(change: int | None) -> str:
    """Return `up 2` or `down 1`; "" for no change."""
    if not change:
        return ""
    return f"up {change}" if change > 0 else f"down {-change}"


def decided_words(rows: Sequence[TableRow], row: TableRow) -> str:
    """Return the tie-break that put a team ahead of the next one, or "" if none was needed."""
    if row.ranked is None or row.ranked.ahead_by is None:
        return ""
    how = row.ranked.ahead_by
    after = next(other for other in rows if other.place == (row.place or 0) + 1)
    figures = ""
    if how in ("battles", "scores") and after.ranked is not None:
        index = ("battles", "scores").index(how) + 1
        mine, its = (ranked.totals.key[index] for ranked in (row.ranked, after.ranked))
        figures = f", {mine:+g} to {its:+g}"
    return f"before {after.name} by {DECIDED[how]}{figures}"
