"""Checks on the rules of every game."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from cw.errors import IllegalAction, UsageError
from cw.games.installed import NAME
from cw.games.registry import load_strategies
from cw.games.rules import FAULT_KINDS, Fault, Outcome
from cw.suite.subject import MOST_TURNS, BrokenPromise, Subject, require


def name(subject: Subject) -> None:
    """Check that its name is lower-case words and digits, joined by -."""
    known = subject.game.rules.name
    require(
        re.fullmatch(NAME, known), f"the name must be lower-case words joined by -, not {known!r}"
    )


def same_seed(subject: Subject) -> None:
    """Check that the same seed gives the same match."""
    for players in subject.numbers:
        first, again = (
            [subject.printed(state) for state, _ in subject.turns(5, players)] for _ in range(2)
        )
        require(first == again, f"two matches of {players} players with the same seed (5) differ")


def frozen_input(subject: Subject) -> None:
    """Check that a step does not change its input."""
    for state, actions in subject.some(1):
        before = subject.printed(state), repr(actions)
        subject.game.rules.step(state, actions)
        require(before == (subject.printed(state), repr(actions)), "step must not change its input")


def end(subject: Subject) -> None:
    """Check that a match is over exactly when it has an outcome, which ranks all players."""
    for players in subject.numbers:
        for seed in range(3):
            *_, (state, actions) = subject.turns(seed, players)
            require_end(subject, subject.game.rules.step(state, actions))


def require_end(subject: Subject, state: Any) -> None:
    """Raise BrokenPromise unless a match has ended properly."""
    rules = subject.game.rules
    outcome = rules.outcome(state)
    if outcome is None:
        raise BrokenPromise("the match is over, but has no outcome")
    require(rules.to_move(state) == (), "to_move must return () when a match is over")
    require_ranks(outcome, set(rules.players(state)))


def require_ranks(outcome: Outcome, seats: set[Any]) -> None:
    """Raise BrokenPromise unless an outcome covers all players, and somebody is first."""
    require(set(outcome.ranks) == seats, f"an outcome must rank all players: {outcome.ranks}")
    require(set(outcome.scores) == seats, f"an outcome must score all players: {outcome.scores}")
    require(min(outcome.ranks.values()) == 1, f"the best rank must be 1: {outcome.ranks}")
    winner = outcome.winner
    require(winner is None or outcome.ranks[winner] == 1, "the winner must have rank 1")
    require(outcome.reason, "an outcome must have a reason")


def faults(subject: Subject) -> None:
    """Check that any player may make any fault at any time."""
    rules = subject.game.rules
    for state, actions in subject.some(2, most=6):
        for player in rules.players(state):
            for kind in FAULT_KINDS:
                after = rules.step(state, {**actions, player: Fault(kind)})
                subject.printed(after)
                subject.printed(rules.step(state, {player: Fault(kind)}))
                over = rules.outcome(after) is not None
                require(not (over and rules.to_move(after)), "to_move must return () after the end")


def nothing_but_faults(subject: Subject) -> None:
    """Check that a match of nothing but faults still ends."""
    rules, state = subject.game.rules, subject.start(3)
    for _ in range(MOST_TURNS):
        if rules.outcome(state) is not None:
            return
        state = rules.step(state, {player: Fault("timeout") for player in rules.to_move(state)})
    raise BrokenPromise(
        f"a match in which every player always times out goes on after {MOST_TURNS} turns"
    )


def samples(subject: Subject) -> None:
    """Check that every sampled action is legal."""
    for seed in range(3):
        for state, actions in subject.turns(seed):
            for player, action in actions.items():
                require_legal(subject, state, player, action, "an action from sample")


def require_legal(subject: Subject, state: Any, player: Any, action: Any, what: str) -> None:
    """Raise BrokenPromise if an action is not legal."""
    try:
        subject.game.rules.check(state, player, action)
    except IllegalAction as error:
        raise BrokenPromise(f"{what} is illegal: {action!r}: {error}") from None


def order(subject: Subject) -> None:
    """Check that the order of actions never matters."""
    rules, rng = subject.game.rules, Random(4)
    for state, actions in subject.some(4):
        items = list(actions.items())
        rng.shuffle(items)
        expected = subject.printed(rules.step(state, actions))
        for another in (dict(items), dict(reversed(actions.items()))):
            same = subject.printed(rules.step(state, another)) == expected
            require(same, "the result of step depends on the order of the actions")


def unknown_options(subject: Subject) -> None:
    """Check that unknown options are rejected."""
    try:
        subject.game.rules.new(subject.numbers[0], 0, colour_of_the_table="green")
    except UsageError as refusal:
        require(
            "unknown option" in str(refusal),
            "the error for an unknown option must say 'unknown option'",
        )
    else:
        raise BrokenPromise("new must raise UsageError for an unknown option")


def strategies(subject: Subject) -> None:
    """Check that every strategy makes legal moves."""
    rules = subject.game.rules
    for strategy, make in load_strategies(rules.name).items():
        if strategy in subject.illegal_on_purpose:
            continue
        state = subject.start(8)
        seats = {player: make(player, Random(8)) for player in rules.players(state)}
        for _ in range(25):
            if rules.outcome(state) is not None:
                break
            actions = {p: seats[p].act(rules.observe(state, p)) for p in rules.to_move(state)}
            for player, action in actions.items():
                if not isinstance(action, Fault):
                    require_legal(subject, state, player, action, f"an action of {strategy}")
            state = rules.step(state, actions)
        subject.printed(state)
