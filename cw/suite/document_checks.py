"""Checks on the documents of every game: they round-trip, and invalid ones are rejected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, TypeVar

from cw.errors import ProtocolError, short
from cw.games.rules import Json
from cw.suite.subject import BrokenPromise, Subject, require

T = TypeVar("T")

LONGEST: Final = 1000
"""Maximum characters of a rejection message."""


def nested(depth: int) -> Json:
    """Return nested lists."""
    document: Json = 1
    for _ in range(depth):
        document = [document]
    return document


AWKWARD: Final[tuple[Json, ...]] = (
    None, True, -1, 0, 1, 2, 2**31, 2**63 - 1, 2**63, 2**64, 10**400, 1.0, 0.5, 1e308,
    float("inf"), float("nan"), "", "1", "walk", "\x00", "\ud800", "a" * 5000, [], [[]], {}, [1, 2],
    {"\ud800": 1}, {"1": 1}, {"fault": "timeout"}, {"fault": "\ud800"}, {"fault": [], "error": 7},
    nested(5000), {"fault": nested(5000)},
)  # fmt: skip
"""Valid JSON values that readers often fail on."""


def survival(subject: Subject) -> None:
    """Check that states and actions survive JSON."""
    rules, codec = subject.game.rules, subject.game.codec
    for state, actions in subject.some(6):
        document = json.loads(json.dumps(codec.state_to_json(state)))
        known = codec.state_from_json(document)
        same = codec.state_to_json(known) == codec.state_to_json(state)
        require(same, "a state changes when it is written as JSON and read back")
        sent = {str(player): codec.action_to_json(action) for player, action in actions.items()}
        received = codec.actions_from_json(known, json.loads(json.dumps(sent)))
        after = codec.state_to_json(rules.step(state, actions))
        same = codec.state_to_json(rules.step(known, received)) == after
        require(same, "actions written as JSON and read back have another effect")


def views(subject: Subject) -> None:
    """Check that all views can be written as JSON."""
    rules, codec = subject.game.rules, subject.game.codec
    for state, _ in subject.some(7, most=4):
        for player in (*rules.players(state), None):
            json.dumps(codec.view_to_json(rules.observe(state, player)))
        first = rules.players(state)[0]
        known = codec.player_from_json(state, str(first))
        require(
            known in rules.players(state), f"player_from_json must read {str(first)!r} as a player"
        )


def altered_states(subject: Subject) -> None:
    """Check that a modified state is accepted, or rejected with a message."""
    for state, _ in subject.some(10, most=2):
        document = json.loads(json.dumps(subject.game.codec.state_to_json(state)))
        for place in places(document):
            for value in AWKWARD:
                look_at(subject, changed(document, place, value))
            if place:
                look_at(subject, without(document, place))


def look_at(subject: Subject, document: Json) -> None:
    """Read a state; if accepted, it must be playable."""
    rules = subject.game.rules
    state = read(lambda: subject.game.codec.state_from_json(document))
    if state is not None:
        subject.printed(state)
        only = set(rules.to_move(state)) <= set(rules.players(state))
        require(only, f"to_move names unknown players in {short(document)}")


def any_player(subject: Subject) -> None:
    """Check that any value is read as a player, or rejected with a message."""
    state = subject.start(12)
    for value in AWKWARD:
        player = read(partial(subject.game.codec.player_from_json, state, value))
        known = player is None or player in subject.game.rules.players(state)
        require(known, f"player_from_json must refuse {short(value)}, which is not a player")


def any_actions(subject: Subject) -> None:
    """Check that any JSON is read as actions, or rejected with a message."""
    rules, codec = subject.game.rules, subject.game.codec
    state, actions = subject.some(11)[0]
    player, action = next(iter(actions.items()))
    usual = json.loads(json.dumps(codec.action_to_json(action)))
    altered = [changed(usual, place, value) for place in places(usual) for value in AWKWARD]
    for document in ({str(player): one} for one in (*altered, *AWKWARD)):
        parsed = read(partial(codec.actions_from_json, state, document))
        if parsed is not None:
            subject.printed(rules.step(state, parsed))
    for document in (*AWKWARD, {"nobody": None}):
        known = read(partial(codec.actions_from_json, state, document))
        refused = not known or document != {"nobody": None}
        require(refused, "actions_from_json must refuse an action of an unknown player")


def read(reading: Callable[[], T]) -> T | None:
    """Return the value read; None if it was rejected with a message."""
    try:
        return reading()
    except ProtocolError as error:
        sentence = str(error)
    if not 0 < len(sentence) < LONGEST or "\n" in sentence:
        raise BrokenPromise(f"an error must be one line of text, not {sentence[:200]!r}")
    return None


def places(document: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to every value within a document; within lists, only the first and last."""
    yield path
    keys: Any = ()
    if isinstance(document, dict):
        keys = document
    elif isinstance(document, list):
        keys = {0, len(document) - 1} if document else ()
    for key in keys:
        yield from places(document[key], (*path, key))


def changed(document: Json, path: tuple[Any, ...], value: Json) -> Json:
    """Return a copy of a document with the value at a path replaced."""
    if not path:
        return value
    copy = document.copy()
    copy[path[0]] = changed(copy[path[0]], path[1:], value)
    return copy


def without(document: Json, path: tuple[Any, ...]) -> Json:
    """Return a copy of a document with the value at a path removed."""
    if len(path) > 1:
        return changed(document, path[:1], without(document[path[0]], path[1:]))
    copy = document.copy()
    del copy[path[0]]
    return copy
