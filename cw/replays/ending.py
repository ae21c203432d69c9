"""How a match ended according to its replay: who won, with which scores, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from cw.games.endings import FORFEITS, RESIGNATIONS, Endings, as_clause
from cw.games.rules import Json

MOST_COMPARED: Final = 3
"""Maximum numbers compared with the winner's."""

Number = int | float
Scores = tuple[Number | None, ...]
"""A number for each player in seat order; None if the replay has none."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a match ended; none of it is verified."""

    names: tuple[str, ...]
    """The names of the bots in seat order."""
    winner: int | None
    """The winner's seat; None for a draw or an unfinished match."""
    scores: Scores
    reason: str
    """Why it ended, as text; "" for an unfinished match."""
    won_by: str
    """How it was won, as a phrase that follows `won`; "" if no one won."""

    @property
    def sentence(self) -> str:
        """The winner and the score, without a full stop."""
        if not self.reason:
            return "not over"
        if self.winner is None:
            return f"draw: {self.reason}"
        return f"{self.names[self.winner]} won{self.won_by}"


def ending_of(players: Sequence[tuple[Json, str]], result: Json, words: Endings) -> Ending:
    """Return how a match ended: `players` are their ids and names, `result` is the replay's.

    `words` are the terms of its game. The result is untrusted; parts that cannot be read are
    treated as missing.

    >>> players = [(0, "ann"), (1, "bob")]
    >>> result = {"outcome": {"reason": "finished", "winner": 1, "scores": {"0": 3, "1": 7}}}
    >>> ending_of(players, result, Endings()).sentence
    'bob won by score, 7 to 3'
    """
    outcome = member(result, "outcome")
    keys = [str(player) for player, _ in players]
    names = tuple(name for _, name in players)
    reason_code = member(outcome, "reason") or member(outcome, "condition")
    reason = reason_in_words(str(reason_code), words) if reason_code else ""
    scores = numbers(member(outcome, "scores") or member(outcome, "final_scores"), keys)
    winner = winner_of(outcome, keys) if reason else None
    figures = {name: numbers(member(outcome, key), keys) for key, name in words.recorded.items()}
    won_by = "" if winner is None else how_won(winner, str(reason_code), scores, figures, words)
    return Ending(names, winner, scores, reason, won_by)


def member(document: Json, key: str) -> Json:
    """Return a member of an object; None if missing or if it is not an object."""
    return document.get(key) if isinstance(document, Mapping) else None


def winner_of(outcome: Json, keys: Sequence[str]) -> int | None:
    """Return the winner's seat."""
    name = member(outcome, "winner")
    return keys.index(str(name)) if name is not None and str(name) in keys else None


def numbers(value: Json, keys: Sequence[str]) -> Scores:
    """Read numbers by player or in seat order."""
    if isinstance(value, Mapping):
        return tuple(number(value.get(key)) for key in keys)
    listed = value if isinstance(value, list) else []
    return tuple(number(listed[seat]) if seat < len(listed) else None for seat in range(len(keys)))


def number(value: Json) -> Number | None:
    """Read a number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and abs(value) < 1e15 and isfinite(value) else None


def reason_in_words(code: str, words: Endings) -> str:
    """Return why a match ended, as text."""
    return words.reasons.get(code, code.replace("_", " ")[:80])


def how_won(
    winner: int, code: str, scores: Scores, figures: Mapping[str, Scores], words: Endings
) -> str:
    """Return how a match was won, as a phrase that follows `won`."""
    if code in RESIGNATIONS:
        return " by resignation"
    if code in FORFEITS:
        return " by forfeit"
    if code not in words.reasons:
        if ahead(scores, winner, range(len(scores))):
            return f" by score, {against(scores, winner)}"
        level = [seat for seat, score in enumerate(scores) if score == scores[winner]]
        for name, values in figures.items():
            if ahead(values, winner, level):
                figure = against(tuple(values[seat] for seat in level), level.index(winner))
                return f" on the tie-break, {name} {figure}"
    return as_clause(reason_in_words(code, words))


def ahead(values: Scores, winner: int, seats: Sequence[int]) -> bool:
    """Return whether the winner has more than every other player in these seats."""
    score = values[winner]
    others = [values[seat] for seat in seats if seat != winner]
    return score is not None and bool(others) and all(v is not None and v < score for v in others)


def against(values: Scores, winner: int) -> str:
    """Return the winner's number and the highest of the others: `207 to 154, 133`."""
    others = sorted(
        (value for seat, value in enumerate(values) if seat != winner and value is not None),
        reverse=True,
    )
    listed = ", ".join(f"{value:g}" for value in others[:MOST_COMPARED])
    return f"{values[winner]:g} to {listed}"
