"""What the pages of a tournament say, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from cw.games.endings import FORFEITS
from cw.hub.services.ladder_standings import BattleView, Meeting, Standings
from cw.hub.services.tournament_views import Countdown, EventView, GroupView
from cw.league.ladder import Phase

SECOND: Final = timedelta(seconds=1)
DAY: Final = 86_400

FAULTS: Final[Mapping[str, str]] = {
    "illegal": "illegal move",
    "startup": "no start",
    "timeout": "time-out",
    "disconnected": "no connection",
    "crashed": "crash",
    "malformed": "wrong response",
    "oversize": "too long response",
}
"""The faults that end a game, by their kind."""

SENTENCES: Final[Mapping[str, str]] = {
    "illegal": "{loser} tried to make a move that the rules do not allow.",
    "startup": "The bot of {loser} did not start, or there is none yet.",
    "timeout": "The bot of {loser} did not answer in time.",
    "disconnected": "The bot of {loser} could not be reached, or broke the connection off.",
    "crashed": "The program of {loser} has ended.",
    "malformed": "The bot of {loser} did not answer as the protocol wants it.",
    "oversize": "The answer of {loser} was too long.",
}
"""Why a game was over before its end, by the kind of the fault."""

STATES: Final[Mapping[str, str]] = {
    "queued": "not played yet",
    "interrupted": "not played yet",
    "in_progress": "being played",
    "failed": "could not be played: no points",
}

PHASES: Final[Mapping[Phase, str]] = {
    "waiting": "not started yet",
    "running": "running",
    "paused": "paused",
    "closing": "plays its last round",
    "over": "final",
}
"""How far a group is, in few words."""

NOT_STARTED: Final = "The tournament has not started yet."
OPENS: Final = "Opens with the final."
LONELY: Final = "Waiting for a second team."
ABOUT_TO_START: Final = "The first round is about to start."


def clock_of(seconds: int) -> str:
    """Return a length of time as `01:12:09`, from a day up as `2 days 03:14:15`."""
    days, rest = divmod(max(seconds, 0), DAY)
    words = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return words if not days else f"{days} day{'' if days == 1 else 's'} {words}"


def short_clock(seconds: int) -> str:
    """Return a length of time as `00:42`, with hours only where there are any."""
    words = clock_of(seconds)
    return words.removeprefix("00:") if seconds < 3600 else words


def countdown_words(told: Countdown, now: datetime) -> str:
    """Return what the counter says; static/hub/ladder_countdown.js says the same."""
    if told.is_over:
        return "The tournament is over"
    if told.next is None:
        return "No event planned"
    if told.is_preparing:
        return "FINAL is being prepared"
    title = told.next.title if told.next.announced else "Next event"
    if told.next.at <= now:
        return f"{title}: now"
    return f"{title} in {clock_of((told.next.at - now) // SECOND)}"


def round_words(standings: Standings) -> str:
    """Return how far a round is: `Round 7: Hexagon 5 (x 3), 61 of 91 matches played`."""
    its = standings.group.round
    if its is None:
        return ""
    board = its.board
    played = f"{standings.played} of {len(standings.meetings)} matches played"
    return f"Round {its.number}: {board.name} (x {board.factor}), {played}"


def top_line(  # noqa: PLR0911 - as many sentences as there are
    standings: Standings,
    phase: Phase,
    pause: EventView | None,
    next_at: datetime | None,
    now: datetime,
) -> list[str]:
    """Return what stands above a ladder: how far the group is, and how far the round."""
    group = standings.group
    about = [round_words(standings)] if group.is_open else []
    if phase == "over":
        return [f"The ladder of {group.name} is final."]
    if phase == "closing":
        return [f"{group.name} plays its last round.", *about]
    if phase == "paused":
        return [f"Paused. {pause.text}".strip() if pause else "Paused.", *about]
    if phase == "waiting":
        return [OPENS if group.kind == "final" else NOT_STARTED]
    if about:
        return about
    if sum(one.status == "playing" for one in standings.entries) < 2:
        return [LONELY]
    return [between_rounds(group, next_at, now)]


def between_rounds(group: GroupView, next_at: datetime | None, now: datetime) -> str:
    """Return what is said while no round is open."""
    if group.round is None:
        return ABOUT_TO_START
    left = 0 if next_at is None else (next_at - now) // SECOND
    starts = f"The next round starts in {short_clock(left)}."
    return f"Round {group.rounds} is over. {starts}"


def game_words(standings: Standings, meeting: Meeting, battle: BattleView) -> str:
    """Return how a game of two ended: `Alpha (34 - 21)`, `222: illegal move by test2`."""
    first, second = (standings.name(team) for team in meeting.teams)
    one, other = battle.ranks
    scores = " - ".join("?" if score is None else f"{score:g}" for score in battle.scores)
    if one == other or one is None or other is None:
        said = f"draw ({scores})"
    else:
        winner, loser = (first, second) if one < other else (second, first)
        if battle.reason in FORFEITS:
            return f"{winner}: {FAULTS.get(battle.reason, 'fault')} by {loser}"
        said = f"{winner} ({scores})"
    return said + faults_words(standings, meeting, battle)


def why_words(standings: Standings, meeting: Meeting, battle: BattleView) -> str:
    """Return why a game was over before its end, in a sentence; "" for one that was played out."""
    one, other = battle.ranks
    if one is None or other is None or one == other:
        return ""
    loser = standings.name(meeting.teams[0 if one > other else 1])
    return SENTENCES.get(battle.reason, "").format(loser=loser)


def faults_words(standings: Standings, meeting: Meeting, battle: BattleView) -> str:
    """Return `, 3 faults by Beta` for those who have made faults that ended nothing."""
    words = ""
    for team, faults in zip(meeting.teams, meeting.faults, strict=True):
        number = faults.get(battle.number, 0)
        if number:
            words += f", {number} fault{'' if number == 1 else 's'} by {standings.name(team)}"
    return words


def state_words(meeting: Meeting) -> str:
    """Return how a match stands that has no result; "" for one that has."""
    if meeting.state == "void":
        return f"called off: {meeting.reason or 'no reason given'}"
    return STATES.get(meeting.state, "")


def result_words(standings: Standings, meeting: Meeting) -> str:
    """Return a match of two: `Alpha 2:0 Beta`, `Alpha - Beta` before its end."""
    first, second = (standings.name(team) for team in meeting.teams)
    between = str(standings.result(meeting)) if meeting.counts else "-"
    return f"{first} {between} {second}"


def points_words(standings: Standings, meeting: Meeting) -> tuple[str, str]:
    """Return who is given how many points for a match, and how these come about: `4 x 3`."""
    factor = standings.ways.factor
    given = [
        (f"{points} to {standings.name(team)}", f"{points // factor} x {factor}")
        for team, points in zip(meeting.teams, standings.points(meeting), strict=True)
        if points
    ]
    if not given:
        return "0", ""
    return ", ".join(words for words, _ in given), ", ".join(how for _, how in given)


def neat(number: float) -> int | float:
    """Return a number as pages write it: whole ones without a point."""
    return int(number) if number == int(number) else number


def change_words(change: int | None) -> str:
    """Return `up 2` or `down 1`; "" where nothing has changed."""
    if not change:
        return ""
    return f"up {change}" if change > 0 else f"down {-change}"
