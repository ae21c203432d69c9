"""What to play after a match: the same again, with sides swapped, or a stronger opponent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cw.games.registry import load_play_options, load_strategies
from cw.matches.spec import MatchSpec

PERSON: Final = "human"
"""How forms name the person at the page."""

BUILT_IN: Final = "builtin:"

SECOND: Final = "greedy"
"""The next opponent after any weaker one: those all play badly."""


@dataclass(frozen=True, slots=True)
class NextMatch:
    """A match that starts with one click."""

    words: str
    form: Mapping[str, str]
    """The fields of its form."""


@dataclass(frozen=True, slots=True)
class NextMatches:
    """The matches that may follow one."""

    matches: Sequence[NextMatch]
    strongest: str
    """The opponent if no built-in one is stronger; otherwise ""."""


def next_matches(spec: MatchSpec, choices: Sequence[str]) -> NextMatches:
    """Return what may follow a match that a person has played; nothing for other matches."""
    if PERSON not in choices:
        return NextMatches((), "")
    opponent = built_in_of(choices)
    stronger = stronger_than(spec.game, opponent) if opponent else None
    proposals = [("Play again", choices), ("Swap sides", [*choices[1:], choices[0]])]
    if stronger is not None:
        seats = [seat if seat == PERSON else f"{BUILT_IN}{stronger}" for seat in choices]
        proposals.append((f"Stronger opponent: {stronger}", seats))
    fields = options_of(spec)
    return NextMatches(
        [NextMatch(words, fields | seats_of(seats)) for words, seats in proposals],
        strongest=opponent if stronger is None else "",
    )


def built_in_of(choices: Sequence[str]) -> str:
    """Return the built-in strategy that a person played against; "" for other opponents."""
    others = {seat for seat in choices if seat != PERSON}
    opponent = others.pop() if len(others) == 1 else ""
    return opponent.removeprefix(BUILT_IN) if opponent.startswith(BUILT_IN) else ""


def stronger_than(game: str, strategy: str) -> str | None:
    """Return the next stronger built-in strategy to meet, or None for the strongest."""
    names = list(load_strategies(game))
    stronger = names[names.index(strategy) + 1 :]
    if SECOND in stronger:
        return SECOND
    return stronger[0] if stronger else None


def options_of(spec: MatchSpec) -> dict[str, str]:
    """Return the options of a match that forms offer, as form fields."""
    offered = {choice.option for choice in load_play_options(spec.game).choices}
    return {name: str(value) for name, value in spec.options.items() if name in offered}


def seats_of(choices: Sequence[str]) -> dict[str, str]:
    """Return the choice for each seat, as form fields."""
    return {f"seat-{number}": seat for number, seat in enumerate(choices, 1)}
