"""Verdicts: who won a match, how and in which turn, as values and as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final, Literal, TypeAlias

from cw.arena.seats import STRAY
from cw.errors import FaultKind
from cw.games.codec import is_fault
from cw.games.endings import FORFEITS, RESIGNATIONS, Endings, as_clause
from cw.games.registry import load_endings
from cw.games.rules import Json, Player
from cw.games.wire import SERVER_ERROR
from cw.league.fixtures import Outcome, outcome_of
from cw.league.strength_tests import Interval, wilson
from cw.matches.spec import MatchFault, MatchResult, MatchSpec

DID: Final[Mapping[FaultKind, str]] = {
    "startup": "could not be started",
    "disconnected": "closed its connection",
    "timeout": "did not answer in time",
    "crashed": "crashed",
    "malformed": "sent an unreadable answer",
    "illegal": "made an illegal move",
    "oversize": "sent an answer that was too long",
}
"""What a bot did, by the kind of its fault."""

CAUSED: Final[Mapping[str, str]] = {
    SERVER_ERROR: "answered with an error",
    STRAY: "printed a line that is not an answer",
}
"""What a bot with an unreadable answer did, by the cause of its fault."""


def did(fault: MatchFault) -> str:
    """Return what a bot did to commit a fault, as a phrase that follows its name."""
    caused = CAUSED.get(fault.cause) if fault.kind == "malformed" else None
    return caused or DID[fault.kind]


MOST_COMPARED: Final = 3
"""Maximum numbers compared with the winner's."""

WonBy: TypeAlias = Literal["score", "tie-break", "forfeit", "resignation", "rules"]
"""How a match can be won; `rules` is an ending that decides the winner regardless of scores."""

Number: TypeAlias = int | float


def verdict(spec: MatchSpec, result: MatchResult) -> str:
    """Return who won, how and in which turn, and the faults of the other bots."""
    story = Story(spec, result, load_endings(spec.game))
    ending = story.draw() if result.winner is None else story.victory(result.winner)
    faults = [] if story.won_by == "forfeit" else story.faults()
    return " ".join(f"{sentence}." for sentence in (ending, *faults))


def won_by(spec: MatchSpec, result: MatchResult) -> WonBy | None:
    """Return how a match was won, or None if no one won it."""
    return Story(spec, result, load_endings(spec.game)).won_by


def forfeit(result: MatchResult) -> MatchFault | None:
    """Return the fault that forfeited the match, or None if it was played out."""
    lost = [fault for fault in result.faults if fault.bot != result.winner]
    others = set(range(len(result.ranks))) - {result.winner}
    # Whatever the game calls such an end, bots that never played decided it (decisions 0006).
    if lost and others <= set(never_played(result)):
        return lost[0]
    if result.reason not in FORFEITS or not lost:
        return None
    return lost[0] if lost[0].kind == "startup" else lost[-1]


def never_played(result: MatchResult) -> list[int]:
    """Return the numbers of the bots that could not be started and never acted.

    A web service that fails its health check may still play.
    """
    absent = {fault.bot: str(fault.player) for fault in result.faults if fault.kind == "startup"}
    return sorted(bot for bot, player in absent.items() if not has_acted(result, player))


def has_acted(result: MatchResult, player: str) -> bool:
    """Return whether a player, as the replay names it, has acted in any turn."""
    acted = (turn["actions"].get(player) for turn in result.replay["turns"])
    return any(action is not None and not is_fault(action) for action in acted)


def tie_breaks(game: str, state: Any, players: Iterable[Player]) -> dict[str, tuple[Number, ...]]:
    """Return the values that a game compares when scores are equal; empty before its start."""
    figures = {} if state is None else load_endings(game).tie_breaks(state)
    order = tuple(players)
    return {name: tuple(values[player] for player in order) for name, values in figures.items()}


def leaders(result: MatchResult) -> list[int]:
    """Return the numbers of the bots with the highest score."""
    scores = {number: score for number, score in enumerate(result.scores) if score is not None}
    best = max(scores.values(), default=None)
    return [number for number, score in scores.items() if score == best]


def tie_break(result: MatchResult, winner: int) -> list[str]:
    """Return the values up to the one in which the winner was ahead; [] if there is none."""
    level = leaders(result)
    if winner not in level:
        return []
    parts = [f"score {plain(result.scores[winner])} each"]
    for name, values in result.tie_breaks.items():
        others = [values[number] for number in level if number != winner]
        if all(values[winner] > other for other in others):
            return [*parts, f"{name} {against(values[winner], others)}"]
        parts.append(f"{name} {plain(values[winner])} each")
        level = [number for number in level if values[number] == values[winner]]
    return []


@dataclass(frozen=True, slots=True)
class Story:
    """A finished match in its game's terms, as clauses without full stops."""

    spec: MatchSpec
    result: MatchResult
    endings: Endings

    @property
    def won_by(self) -> WonBy | None:
        """How it was won, or None if no one won it."""
        result = self.result
        if result.winner is None:
            return None
        if result.reason in RESIGNATIONS:
            return "resignation"
        if forfeit(result) is not None:
            return "forfeit"
        if result.reason in self.endings.reasons:
            return "rules"
        if leaders(result) == [result.winner]:
            return "score"
        return "tie-break" if tie_break(result, result.winner) else "rules"

    def victory(self, winner: int) -> str:
        """Return who won, how and in which turn."""
        name, end = self.name(winner), self.when(self.result.turns)
        match self.won_by:
            case "forfeit":
                return f"{name} won by forfeit{self.forfeited()}"
            case "resignation":
                others = [bot.name for bot in self.spec.bots if bot.name != name]
                return f"{name} won {end}: {listed(others)} resigned"
            case "score":
                return f"{name} won by score {end}: {self.scores()}"
            case "tie-break":
                figures = ", ".join(tie_break(self.result, winner))
                return f"{name} won on the tie-break {end}: {figures}"
        return f"{name} won {end}{as_clause(self.reason)}"

    def draw(self) -> str:
        """Return how it ended without a winner."""
        first = [number for number, rank in enumerate(self.result.ranks) if rank == 1]
        start = f"Draw {self.when(self.result.turns)}"
        if self.result.reason in self.endings.reasons or len(first) < 2:
            return f"{start}: {self.reason}"
        figures = [
            f"{name} {plain(values[first[0]])}" for name, values in self.result.tie_breaks.items()
        ]
        level = listed([self.counted(plain(self.result.scores[first[0]])), *figures])
        return f"{start}: {listed(list(map(self.name, first)))} have {level} each"

    def forfeited(self) -> str:
        """Return whose fault a forfeit was, and in which turn."""
        absent = [number for number in never_played(self.result) if number != self.result.winner]
        fault = forfeit(self.result)
        if absent or fault is None:
            return f": {listed(list(map(self.name, absent)))} never played"
        return f" {self.when_asked(fault)}: {self.name(fault.bot)} {did(fault)}"

    def faults(self) -> list[str]:
        """Return the first fault of each bot that did not win."""
        others = [number for number in range(len(self.spec.bots)) if number != self.result.winner]
        return [self.faults_of(number) for number in others if self.result.faults_of(number)]

    def faults_of(self, number: int) -> str:
        """Return the first fault of a bot, and how many it made."""
        if number in never_played(self.result):
            return f"{self.name(number)} never played"
        first, *more = self.result.faults_of(number)
        count = f", the first of {len(more) + 1} faults" if more else ""
        return f"{self.name(number)} {did(first)} {self.when_asked(first)}{count}"

    @property
    def reason(self) -> str:
        """Why it ended."""
        return self.endings.reasons.get(self.result.reason, self.result.reason.replace("_", " "))

    def name(self, number: int) -> str:
        """Return the name of a bot."""
        return self.spec.bots[number].name

    def scores(self) -> str:
        """Return the winner's score against the scores of the others."""
        best, *others = sorted((s for s in self.result.scores if s is not None), reverse=True)
        return self.counted(against(best, others))

    def counted(self, number: str) -> str:
        """Return a score with its unit."""
        unit = self.endings.unit
        return f"{number} {unit}{'s' * (number != '1')}" if unit else f"score {number}"

    def when(self, turns: int) -> str:
        """Return a phrase for the time after `turns` turns."""
        word = self.endings.turn
        return f"in {word} {turns}" if turns else f"before the first {word}"

    def when_asked(self, fault: MatchFault) -> str:
        """Return a phrase for the turn in which the bot was asked."""
        if not self.result.turns:
            return self.when(0)
        # A fault after the last turn counts for that turn (decisions 0006).
        return f"in {self.endings.turn_after(min(fault.turn, self.result.turns - 1))}"


def against(value: Number, others: Sequence[Number]) -> str:
    """Return a number against others, or against the highest of many: `26 to 23`.

    >>> against(26, [23, 7])
    '26 to 23 and 7'
    """
    compared = [plain(other) for other in sorted(others, reverse=True)[:MOST_COMPARED]]
    less = ["less"] if len(others) > MOST_COMPARED else []
    return f"{plain(value)} to {listed([*compared, *less])}" if compared else plain(value)


def plain(value: Number | None) -> str:
    """Return a number as text, without a fraction of zero; "-" for None."""
    if value is None:
        return "-"
    whole = isinstance(value, int) or value.is_integer()
    return str(int(value)) if whole else f"{value:.2f}"


def listed(words: Sequence[str]) -> str:
    """Join words with commas and a final "and"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


POINTS: Final[Mapping[Outcome, float]] = {"won": 1.0, "drawn": 0.5, "lost": 0.0}


@dataclass(frozen=True, slots=True)
class Part:
    """A bot's result in one match."""

    seat: int
    """From 1."""
    came: Outcome
    score: float | None
    faults: int


@dataclass(frozen=True, slots=True)
class Tally:
    """A bot's results in several matches, at least one."""

    name: str
    parts: tuple[Part, ...]

    def count(self, came: Outcome) -> int:
        """Return how many matches were won, drawn or lost."""
        return sum(part.came == came for part in self.parts)

    @property
    def points(self) -> float:
        """Matches won; a draw counts half."""
        return sum(POINTS[part.came] for part in self.parts)

    @property
    def win_rate(self) -> float:
        """The share of its matches that it won, from 0 to 1; a draw counts half."""
        return self.points / len(self.parts)

    @property
    def interval(self) -> Interval:
        """The Wilson interval of the win rate, for 95 %."""
        return wilson(self.points, len(self.parts))

    @property
    def average_score(self) -> float | None:
        """The mean of its scores, or None."""
        scores = [part.score for part in self.parts if part.score is not None]
        return fmean(scores) if scores else None

    @property
    def faults(self) -> int:
        """Its faults in all matches."""
        return sum(part.faults for part in self.parts)

    @property
    def seats(self) -> dict[int, Tally]:
        """Its results in each of its seats, in order of the seats."""
        numbers = sorted({part.seat for part in self.parts})
        return {
            seat: Tally(self.name, tuple(part for part in self.parts if part.seat == seat))
            for seat in numbers
        }

    def to_json(self) -> dict[str, Json]:
        """Return the statistics as JSON."""
        return {
            "name": self.name,
            "wins": self.count("won"),
            "draws": self.count("drawn"),
            "losses": self.count("lost"),
            "win_rate": self.win_rate,
            "interval": list(self.interval),
            "average_score": self.average_score,
            "faults": self.faults,
            "seats": {
                str(seat): {"matches": len(there.parts), "wins": there.count("won")}
                for seat, there in self.seats.items()
            },
        }


def tallies(names: Sequence[str], matches: Iterable[tuple[MatchSpec, MatchResult]]) -> list[Tally]:
    """Return the tally of each named bot over the matches that it played.

    >>> from cw.arena.bots import read_bots
    >>> from cw.matches.simulate import simulate
    >>> bots = tuple(read_bots(["builtin:greedy", "builtin:random"]).bots)
    >>> specs = [MatchSpec(f"m{seed}", "hexagon", bots, seed) for seed in range(4)]
    >>> matches = [(spec, simulate(spec)) for spec in specs]
    >>> [tally.name for tally in tallies(["greedy", "random"], matches)]
    ['greedy', 'random']
    """
    parts: dict[str, list[Part]] = {name: [] for name in names}
    for spec, result in matches:
        for number, bot in enumerate(spec.bots):
            parts[bot.name].append(part_of(result, number))
    return [Tally(name, tuple(bot_parts)) for name, bot_parts in parts.items()]


def part_of(result: MatchResult, number: int) -> Part:
    """Return the result of the bot with this number."""
    came = outcome_of(result.ranks[number], result.ranks.count(1))
    return Part(number + 1, came, result.scores[number], len(result.faults_of(number)))
