"""A championship report as JSON: tables, bracket, and every match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from cw.arena.program import on_one_line
from cw.championship.config import ChampionshipSettings
from cw.championship.entries import Entry, EntryFault, LineFormat
from cw.championship.journal import Journal, shortened, stem_of
from cw.games.endings import FORFEITS, Endings
from cw.games.registry import load_endings
from cw.games.rules import Json
from cw.league.bracket import Tie
from cw.league.contests import Contest
from cw.league.fixtures import Fixture, Result, Results, open_fixtures, outcome_of
from cw.league.groups import StageTable
from cw.league.line_ups import FREE_FOR_ALL
from cw.league.standings import (
    Exact,
    Record,
    SeatAdvantage,
    TableRow,
    seat_advantage,
    tally,
    within_noise,
)


def ranking_document(
    settings: ChampionshipSettings, results: Results, teams: Sequence[Mapping[str, Any]]
) -> list[dict[str, Json]]:
    """Return a row for each team, best first; equal teams share a rank.

    The statistics cover all matches except tie-break matches; `teams` is the result of
    `teams_document`. Equal teams are listed by win rate, then by score ratio, highest first.
    """
    contest = settings.contest()
    counted = [result for fixture, result in results.items() if not fixture.tie_break]
    records = tally(counted, settings.teams)
    stages = reached(contest, results)
    documents = {team["id"]: team for team in teams}
    rows: list[dict[str, Json]] = []
    for equal in contest.order(results) if results else ():
        rank = len(rows) + 1
        best_first = sorted(equal, key=lambda team: merit(records[team]), reverse=True)
        rows += (
            {
                "rank": rank,
                "team": team,
                "name": settings.name(team),
                "members": list(settings.members.get(team, ())),
                "reached": stages.get(team, ""),
                **figures(records[team], documents[team]["games"]),
            }
            for team in best_first
        )
    return rows


def merit(record: Record) -> tuple[Any, Any]:
    """Return the sort key for equal teams."""
    return record.win_rate, record.ratio


def figures(record: Record, matches: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """Return a team's statistics: matches won, drawn and lost, scores, and matches with faults."""
    own = [match for match in matches if not match["is_tie_break"]]
    ended = Counter(match["result"] for match in own)
    return {
        "matches": record.matches,
        "won": ended["won"],
        "drawn": ended["drawn"],
        "lost": ended["lost"],
        "score_for": plain(record.score_for),
        "score_against": plain(record.score_against),
        "ratio": float(record.ratio),
        "matches_with_faults": sum(bool(match["own_faults"]) for match in own),
    }


def reached(contest: Contest, results: Results) -> dict[str, str]:
    """Return the stage that each team has reached, if the contest has several stages."""
    standings, bracket = contest.standings(results), contest.bracket(results)
    words: dict[str, str] = {}
    if len(standings) > 1 or bracket:
        words = {
            row.team: f"place {row.rank} of group {table.name}"
            for table in standings
            for row in table.rows
        }
    for ties in bracket:
        for tie in ties:
            words |= {team: tie.stage for team in tie.teams if team is not None}
    final = bracket[-1][0] if bracket else None
    if final is not None and final.winner is not None:
        words[final.winner] = "champion"
    return words


FAULTS: Final[Mapping[str, tuple[str, str]]] = {
    "startup": ("failed start", "failed starts"),
    "disconnected": ("lost connection", "lost connections"),
    "timeout": ("time-out", "time-outs"),
    "crashed": ("crash", "crashes"),
    "malformed": ("unreadable reply", "unreadable replies"),
    "illegal": ("illegal move", "illegal moves"),
    "oversize": ("reply that was too long", "replies that were too long"),
}
"""The kinds of faults, in the singular and in the plural."""

TIES: Final[Mapping[str, str]] = {
    "bye": "by a bye",
    "wins": "on wins",
    "score ratio": "on score ratio",
    "head-to-head": "on head-to-head",
    "tie-break matches": "in tie-break matches",
    "lot": "by lot",
}
"""How the winner of a tie is decided."""


def fault_words(kind: str, number: int = 1) -> str:
    """Return the name of a kind of fault, in the singular or plural."""
    one, many = FAULTS.get(kind, (kind, kind))
    return one if number == 1 else many


def counted(kinds: Iterable[str]) -> list[str]:
    """Return the number of faults of each kind, most frequent first: `2 time-outs`."""
    ranked = Counter(kinds).most_common()
    return [f"{number} {fault_words(kind, number)}" for kind, number in ranked]


NO_NAMES: Final[Mapping[str, str]] = {}


def troubles(entries: Sequence[Entry], names: Mapping[str, str] = NO_NAMES) -> list[str]:
    """Return a sentence about each team whose bot failed to start or mostly made faults."""
    return [*never_started(entries, names), *mostly_at_fault(entries, names)]


def never_started(entries: Sequence[Entry], names: Mapping[str, str]) -> list[str]:
    """Return a sentence about each team whose bot failed to start, with the latest reason."""
    starts: dict[str, list[str]] = {}
    for entry in entries:
        for fault in entry.faults:
            if fault.kind == "startup":
                starts.setdefault(entry.players[fault.seat], []).append(fault.detail)
    return [
        shortened(
            f"{names.get(team, team)}: {' '.join(counted(['startup'] * len(details)))}:"
            f" {on_one_line(details[-1])}"
        )
        for team, details in sorted(starts.items())
    ]


def mostly_at_fault(entries: Sequence[Entry], names: Mapping[str, str]) -> list[str]:
    """Return a sentence about each team with faults in most of its matches, with the last fault.

    Failed starts are not counted.
    """
    matches: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    faults: dict[str, list[EntryFault]] = {}
    for entry in entries:
        matches.update(entry.players)
        during = [fault for fault in entry.faults if fault.kind != "startup"]
        wrong.update({entry.players[fault.seat] for fault in during})
        for fault in during:
            faults.setdefault(entry.players[fault.seat], []).append(fault)
    return [
        shortened(
            f"{names.get(team, team)}: faults in {wrong[team]} of {matches[team]} matches:"
            f" {', '.join(counted(fault.kind for fault in own))}; the last:"
            f" {on_one_line(own[-1].detail)}"
        )
        for team, own in sorted(faults.items())
        if 2 * wrong[team] > matches[team]
    ]


def match_sentence(
    entry: Entry,
    result: Result,
    forfeits: Sequence[str | None],
    names: Mapping[str, str] = NO_NAMES,
) -> str:
    """Describe a match in a sentence: who won, by how much, and what went wrong.

    `result` is the match as the contest counts it; `forfeits` are the kinds of the marked faults,
    by seat; `names` are the teams' display names, by id.
    """
    wrong = [
        f"{names.get(team, team)}: {fault_words(kind)}"
        for team, kind in zip(entry.players, forfeits, strict=True)
        if kind is not None
    ]
    return "; ".join([f"{outcome(entry, names)} ({scores(result, names)})", *wrong])


def outcome(entry: Entry, names: Mapping[str, str] = NO_NAMES) -> str:
    """Return who won a match, and how."""
    if entry.winner is None:
        return f"Draw{by(entry)}"
    won = " by forfeit" if entry.reason in FORFEITS else by(entry)
    return f"{names.get(entry.winner, entry.winner)} won{won}"


def by(entry: Entry) -> str:
    """Return how the match ended, for a sentence; "" if it simply finished."""
    reason = entry.reason.replace("_", " ")
    return "" if reason == "finished" else f", {reason}"


def scores(result: Result, names: Mapping[str, str] = NO_NAMES) -> str:
    """Return the scores as `30 : 19`, or with names if there are more than two players."""
    if len(result.players) == 2:
        return " : ".join(map(number, result.scores))
    named = zip(result.players, result.scores, strict=True)
    return ", ".join(f"{names.get(team, team)} {number(score)}" for team, score in named)


def gathered(warnings: Iterable[str], teams: Collection[str]) -> list[str]:
    """Return each warning once; one about several teams starts with all their names."""
    about: dict[str, dict[str, None]] = {}
    for warning in warnings:
        names, colon, rest = warning.partition(": ")
        named = names.split(", ")
        if colon and all(name in teams for name in named):
            about.setdefault(rest, {}).update(dict.fromkeys(named))
        else:
            about.setdefault(warning, {})
    return [f"{', '.join(names)}: {text}" if names else text for text, names in about.items()]


def number(score: float) -> str:
    """Return a score without trailing zeros."""
    return f"{score:g}"


SIGNS: Final[Mapping[str | None, str]] = {None: "", "timeout": "^", "illegal": "!"}
"""The mark next to a team, by kind of fault."""

OTHER_SIGN: Final = "×"
"""The mark next to a team for any other kind of fault."""

PRIVATE: Final = ("stderr", "first", "second")
"""Members of a journal line that a report omits: private to a team, or redundant."""


@dataclass(frozen=True, slots=True)
class Played:
    """The finished matches, indexed for the tables."""

    entries: Sequence[Entry]
    results: Results
    lines: LineFormat
    names: Mapping[str, str] = field(default_factory=dict)
    """The display names of teams, by id, where they differ from the id."""
    meetings: dict[tuple[str, tuple[str, ...]], Entry] = field(init=False, default_factory=dict)
    """Matches by table name and players in seat order, without tie-break matches."""
    appearances: dict[tuple[int, str], Entry] = field(init=False, default_factory=dict)
    """Matches by round and team; a team plays at most once in a round."""
    by_fixture: dict[Fixture, Entry] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Index the matches."""
        for entry in self.entries:
            self.by_fixture[entry.fixture] = entry
            if not entry.tie_break:
                self.meetings[entry.group or entry.stage, entry.players] = entry
                self.appearances.update({(entry.round, team): entry for team in entry.players})

    def signs(self, entry: Entry) -> list[str]:
        """Return the mark of each seat's fault, or ""."""
        return [SIGNS.get(kind, OTHER_SIGN) for kind in self.lines.forfeits(entry)]


def snapshot(journal: Journal) -> Played:
    """Return a snapshot of the finished matches; later ones do not change it."""
    settings = journal.settings
    return Played(tuple(journal.entries), dict(journal.results), settings.lines(), settings.names)


def report_document(
    played: Played,
    settings: ChampionshipSettings,
    failed: Mapping[Fixture, str],
    warnings: Sequence[str] = (),
) -> dict[str, Json]:
    """Return the report of the finished matches, and of those that could not be played.

    `warnings` come from the processes that played the matches.
    """
    contest, results = settings.contest(), played.results
    teams = teams_document(settings, played)
    return {
        "title": settings.format,
        "game": settings.game,
        "over": not open_fixtures(contest.rounds(results), results),
        "played": len(played.entries),
        "expected": contest.expected(results),
        "warnings": [*warnings, *troubles(played.entries, played.names), *left_out(settings)],
        "team_names": {team: settings.name(team) for team in settings.teams},
        "listing": [listed(entry, played, settings.game) for entry in played.entries],
        "standings": [standing_document(one, played) for one in contest.standings(results)],
        "bracket": bracket_document(contest, played),
        "bonus": contest.bonus(results),
        "order": [list(equal) for equal in contest.order(results)] if results else [],
        "seats": seats_document(seat_advantage(results.values())),
        "ranking": ranking_document(settings, results, teams),
        "teams": teams,
        "games": [public_line(entry, played.lines) for entry in played.entries],
        "failed": [
            {"stem": stem_of(match), "players": list(match.players), "why": why}
            for match, why in failed.items()
        ],
    }


def left_out(settings: ChampionshipSettings) -> list[str]:
    """Return a sentence about each team that does not take part."""
    return [shortened(f"{team}: left out: {why}") for team, why in settings.left_out.items()]


def named(team: str, played: Played) -> str:
    """Return the display name of a team."""
    return played.names.get(team, team)


def listed(entry: Entry, played: Played, game: str) -> dict[str, Json]:
    """Return a match as an item of the list of all matches, with the names of its files."""
    stem = stem_of(entry.fixture)
    return {
        "table": entry.group or entry.stage,
        "stage": stage_words(entry),
        "players": list(entry.players),
        "winner": entry.winner,
        "turns": entry.turns,
        "stem": stem,
        "log": f"{stem}.log" if game == "circuit-wars" else None,
        "told": sentence(entry, played),
        "reason": entry.reason,
        "tie_break": entry.tie_break,
        "seats": [seat_document(entry, seat, played) for seat in range(len(entry.players))],
    }


def seat_document(entry: Entry, seat: int, played: Played) -> dict[str, Json]:
    """Return a seat's result: the score given by the game, and the score that counts."""
    kinds = [fault.kind for fault in entry.faults if fault.seat == seat]
    return {
        "player": entry.players[seat],
        "rank": entry.ranks[seat],
        "score": entry.scores[seat],
        "counted": played.results[entry.fixture].scores[seat],
        "faults": len(kinds),
        "fault": kinds[0] if kinds else "",
    }


def stage_words(match: Entry | Fixture) -> str:
    """Return the stage of a match as text."""
    stage = f"group {match.group}" if match.group else match.stage
    return f"{stage}, tie-break" if match.tie_break else stage


def public_line(entry: Entry, lines: LineFormat) -> dict[str, Json]:
    """Return a match as the report shows it, without what is private to a team."""
    line = {key: value for key, value in lines.write(entry).items() if key not in PRIVATE}
    detail = entry.faults[0].detail if entry.faults else ""
    return {"reason": detail, "detail": detail} | line | {"winner": entry.winner}


def standing_document(standing: StageTable, played: Played) -> dict[str, Json]:
    """Return a table with its cross table or, in a free-for-all, with its teams' rounds."""
    rows = standing.rows
    by_round = standing.name == FREE_FOR_ALL
    rounds = sorted({entry.round for entry in played.entries}) if by_round else []
    lead = [*(within_noise(a.record, b.record) for a, b in pairwise(rows)), None]
    return {
        "name": standing.name,
        "done": standing.done,
        "notes": list(standing.settled.notes),
        "by_round": by_round,
        "draws": any(row.record.draws for row in rows),
        "rests": any(row.rests for row in rows),
        "points": any(row.points is not None for row in rows),
        "columns": rounds or [row.team for row in rows],
        "rows": [
            row_document(row)
            | {
                "noise": bool(noise),
                "cells": [appearance(row.team, number, played) for number in rounds]
                if by_round
                else [meeting(standing, row.team, other.team, played) for other in rows],
            }
            for row, noise in zip(rows, lead, strict=True)
        ],
    }


def row_document(row: TableRow) -> dict[str, Json]:
    """Return the statistics of a row."""
    record: Record = row.record
    return {
        "rank": row.rank,
        "team": row.team,
        "wins": record.wins,
        "draws": record.draws,
        "losses": record.losses,
        "rests": row.rests,
        "points": row.points,
        "score_for": plain(record.score_for),
        "score_against": plain(record.score_against),
        "ratio": float(record.ratio),
        "win_rate": float(record.win_rate),
        "interval": record.interval and list(record.interval),
    }


def plain(number: Exact) -> float:
    """Return an exact number as a JSON number."""
    return float(number) if isinstance(number, Fraction) else number


def meeting(
    standing: StageTable, first: str, second: str, played: Played
) -> dict[str, Json] | None:
    """Return the latest match of `first` in the first seat against `second`, or None."""
    stages = standing.stages or (standing.name,)
    meetings = (played.meetings.get((stage, (first, second))) for stage in reversed(stages))
    entry = next(filter(None, meetings), None)
    if entry is None:
        return None
    return match_document(entry, played) | {"first_won": entry.winner == first}


def appearance(team: str, number: int, played: Played) -> dict[str, Json] | None:
    """Return a team's match in a round, with the team's result, or None."""
    entry = played.appearances.get((number, team))
    if entry is None:
        return None
    seat = entry.players.index(team)
    return match_document(entry, played) | {
        "rank": entry.ranks[seat],
        "own_score": entry.scores[seat],
        "sign": played.signs(entry)[seat],
    }


def match_document(entry: Entry, played: Played) -> dict[str, Json]:
    """Return what a table cell shows of a match."""
    return {
        "score": list(played.results[entry.fixture].scores),
        "signs": played.signs(entry),
        "winner": entry.winner,
        "stem": stem_of(entry.fixture),
        "told": sentence(entry, played),
    }


def sentence(entry: Entry, played: Played) -> str:
    """Return a sentence about how a match ended, with forfeits and their reasons."""
    forfeits = played.lines.forfeits(entry)
    return match_sentence(entry, played.results[entry.fixture], forfeits, played.names)


def bracket_document(contest: Contest, played: Played) -> list[Json]:
    """Return the stages of the knockout bracket."""
    return [
        {"name": ties[0].stage, "ties": [tie_document(tie, played) for tie in ties]}
        for ties in contest.bracket(played.results)
    ]


def tie_document(tie: Tie, played: Played) -> dict[str, Json]:
    """Return a tie of the bracket, with its finished matches."""
    return {
        "teams": list(tie.teams),
        "winner": tie.winner,
        "reason": tie.reason,
        "told": f"{named(tie.winner, played)}, {TIES[tie.reason]}" if tie.winner else "",
        "games": [
            {
                "first": fixture.players[0],
                "second": fixture.players[1],
                "score": list(played.results[fixture].scores),
                "tie_break": bool(fixture.tie_break),
                "winner": played.results[fixture].winner,
                "stem": stem_of(fixture),
                "told": sentence(played.by_fixture[fixture], played),
            }
            for fixture in tie.fixtures
            if fixture in played.results
        ],
    }


def seats_document(seats: SeatAdvantage | None) -> dict[str, Json] | None:
    """Return the seat advantage as JSON."""
    return (
        None
        if seats is None
        else {
            "first_wins": seats.first_wins,
            "games": seats.matches,
            "interval": list(seats.interval),
            "even": seats.even,
            "within_noise": seats.within_noise,
        }
    )


def teams_document(settings: ChampionshipSettings, played: Played) -> list[dict[str, Json]]:
    """Return all matches of each team, with its bot's response times."""
    matches: dict[str, list[dict[str, Json]]] = {team: [] for team in settings.teams}
    endings = load_endings(settings.game)
    for entry in played.entries:
        line = public_line(entry, played.lines)
        for seat, team in enumerate(entry.players):
            matches[team].append(line | own_document(entry, seat, played, endings))
    return [
        {
            "id": team,
            "name": settings.name(team),
            "members": list(settings.members.get(team, ())),
            "games": own,
            "lost": [match for match in own if match["result"] == "lost"],
            "record": Counter(match["result"] for match in own),
            "faults": counted(fault["kind"] for match in own for fault in match["own_faults"]),
        }
        for team, own in matches.items()
    ]


def own_document(entry: Entry, seat: int, played: Played, endings: Endings) -> dict[str, Json]:
    """Return a match from the perspective of one seat."""
    rank, scores = entry.ranks[seat], played.results[entry.fixture].scores
    return {
        "seat": seat + 1,
        "is_tie_break": bool(entry.tie_break),
        "stage_words": stage_words(entry),
        "won": entry.winner == entry.players[seat],
        "result": outcome_of(rank, entry.ranks.count(1)),
        "rank": rank,
        "own_score": scores[seat],
        "opponents": [team for other, team in enumerate(entry.players) if other != seat],
        "other_scores": [score for other, score in enumerate(scores) if other != seat],
        "longest": entry.longest_ms[seat] if entry.longest_ms else 0,
        "median": entry.median_ms[seat] if entry.median_ms else 0,
        "stem": stem_of(entry.fixture),
        "told": sentence(entry, played),
        "own_faults": [
            {
                "turn": fault.turn,
                "when": f"in {endings.turn_after(fault.turn)}",
                "kind": fault.kind,
                "words": fault_words(fault.kind),
                "detail": on_one_line(fault.detail),
            }
            for fault in entry.faults
            if fault.seat == seat
        ],
    }
