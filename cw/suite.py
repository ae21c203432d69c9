"""The checks that every game must pass, both built-in ones and those of other packages.

`cw test-game` runs them; so can a package's own tests:

    from cw.suite import CHECKS, subject

    @pytest.mark.parametrize("name", CHECKS)
    def test_the_game_passes_the_checks_for_every_game(name: str) -> None:
        CHECKS[name](subject("nim"))
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Final, TypeAlias, TypeVar

from cw.drawing import STILL
from cw.errors import ArenaError, IllegalAction, ProtocolError, UsageError, short
from cw.games.codec import DefaultCodec, Game
from cw.games.entry import files_of
from cw.games.installed import NAME
from cw.games.registry import (
    game_entry,
    load_game,
    load_picture,
    load_play_options,
    load_spaces,
    load_strategies,
    load_terminal,
)
from cw.games.rules import FAULT_KINDS, Fault, Json, Outcome
from cw.pictures.exports import scenes
from cw.pictures.sheets import board_sheet
from cw.replays.document import actions_document, frame_of

MOST_TURNS: Final = 3000
"""Number of turns within which a random match should be over."""


class BrokenPromise(ArenaError):
    """A game violates a requirement on all games; the message says which one, and the evidence."""


def require(holds: object, promise: str) -> None:
    """Raise BrokenPromise with this message unless a condition holds."""
    if not holds:
        raise BrokenPromise(promise)


@dataclass(frozen=True, slots=True)
class Subject:
    """A game under test."""

    game: Game
    options: Mapping[str, Json] = field(default_factory=dict)
    """Options that make its matches short."""
    illegal_on_purpose: Collection[str] = ()
    """Strategies that play illegally to test the referee."""

    @property
    def numbers(self) -> list[int]:
        """The first two of 2, 3 and 4 players that the game allows; otherwise its lowest number."""
        seats = self.game.rules.seats
        return [number for number in (2, 3, 4) if number in seats][:2] or [seats[0]]

    def start(self, seed: int, players: int | None = None) -> Any:
        """Return the start of a match."""
        return self.game.rules.new(players or self.numbers[0], seed, **self.options)

    def turns(self, seed: int, players: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Play a random match; yield each state with the actions played in it."""
        rules, rng = self.game.rules, Random(seed)
        state = self.start(seed, players)
        for _ in range(MOST_TURNS):
            if rules.outcome(state) is not None:
                return
            actions = {player: rules.sample(state, player, rng) for player in rules.to_move(state)}
            require(actions, "no player is to move, but the match has no outcome")
            yield state, actions
            state = rules.step(state, actions)
        raise BrokenPromise(
            f"the match with seed {seed} takes more than {MOST_TURNS} turns: give "
            "options that make it shorter"
        )

    def some(self, seed: int, most: int = 12) -> list[tuple[Any, Any]]:
        """Return some turns of a random match, including the first and the last."""
        played = list(self.turns(seed))
        if len(played) <= most:
            return played
        return [played[0], *Random(seed).sample(played[1:-1], most - 2), played[-1]]

    def printed(self, state: Any) -> str:
        """Serialize a state and its outcome."""
        codec = self.game.codec
        return json.dumps([codec.state_to_json(state), codec.result_to_json(state)])


def subject(name: str, **options: Json) -> Subject:
    """Return a game by name; its matches use the given options."""
    return Subject(load_game(name), options)


T = TypeVar("T")

LONGEST: Final = 1000
"""Maximum length of a rejection message, in characters."""


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
"""Valid JSON values that parsers often fail on."""


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
    """Read a state; if it is accepted, it must be playable."""
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
    """Return the value read, or None if it was rejected with a message."""
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
    """Raise BrokenPromise unless an outcome covers all players, and at least one is first."""
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


VECTORS: Final = "vectors.jsonl"
"""The file in the game's folder with lines of `cw step`, each with its result as `expected`."""


def drawings(subject: Subject) -> None:
    """Check that the picture and the terminal board show all turns of a match."""
    states, turns = played(subject)
    documents = [frame_of(subject.game, state) for state in states]
    document = {"players": list(seats_of(subject, states[0])), "turns": turns}
    numbers = range(len(documents))
    name = subject.game.name
    for scene in scenes(load_picture(name), document, iter(documents), numbers, STILL):
        board_sheet(scene)
        load_picture(name).scores(scene)
    board = load_terminal(name)
    for frame in documents:
        require(board(frame).plain.strip(), "the terminal board is empty")


def played(subject: Subject) -> tuple[list[Any], list[dict[str, Json]]]:
    """Return the states and the turns of a random match."""
    match = list(subject.turns(13))
    state, actions = match[-1]
    states = [state for state, _ in match] + [subject.game.rules.step(state, actions)]
    return states, [{"actions": actions_document(subject.game, actions)} for _, actions in match]


def seats_of(subject: Subject, state: Any) -> Iterator[dict[str, Json]]:
    """Yield the players of a state in the form used by replays."""
    for player in subject.game.rules.players(state):
        yield {"player": player, "name": str(player)}


def moves(subject: Subject) -> None:
    """Check that moves offered to people are legal and labelled."""
    options = load_play_options(subject.game.name)
    known = load_strategies(subject.game.name)
    unknown = [name for name in options.strategies if name not in known]
    require(not unknown, f"pages offer strategies that do not exist: {', '.join(unknown)}")
    if options.moves is None:
        return
    for state, actions in subject.some(14, most=6):
        for player in actions:
            documents = list(options.moves(state, player))
            require(documents, "a player to move is offered no move")
            for document in documents:
                read = subject.game.codec.actions_from_json(state, {str(player): document})
                require_legal(subject, state, player, read[player], "a move offered to people")
                require(
                    options.words is None or options.words(document),
                    "a move offered to people has no label",
                )


def strategies_over_the_wire(subject: Subject) -> None:
    """Check that a view sent to a bot can be read back."""
    codec, rules = subject.game.codec, subject.game.rules
    if game_entry(subject.game.name).protocol or not isinstance(codec, DefaultCodec):
        return
    for state, _ in subject.some(15, most=4):
        for player in rules.players(state):
            document = codec.view_to_json(rules.observe(state, player))
            again = codec.view_to_json(codec.view_from_json(json.loads(json.dumps(document))))
            require(again == document, "a view changes when it is written as JSON and read back")


def arrays(subject: Subject) -> None:
    """Check that array views fit the board, and that masks allow a move."""
    spaces, rules = load_spaces(subject.game.name), subject.game.rules
    if spaces is None:
        return
    start = subject.start(16)
    shape = (*spaces.board(start), len(spaces.planes))
    for state, actions in subject.some(16, most=6):
        for player in actions:
            view = rules.observe(state, player)
            planes, mask = spaces.write_view(view, player), spaces.mask(view, player)
            require(
                planes.shape == shape, f"a view must be an array of {shape}, not {planes.shape}"
            )
            size = spaces.choices(start)
            require(mask.shape == size, f"a mask must be an array of {size}, not {mask.shape}")
            require(mask[0].any(), "the mask allows no move to the player to move")


def vectors(subject: Subject) -> None:
    """Check that recorded steps still give the recorded results."""
    folder = files_of(game_entry(subject.game.name))
    file = None if folder is None else folder / VECTORS
    if file is None or not file.is_file():
        return
    codec, rules = subject.game.codec, subject.game.rules
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        vector = json.loads(line)
        state = codec.state_from_json(vector["state"])
        after = rules.step(state, codec.actions_from_json(state, vector["actions"]))
        answer = {"state": codec.state_to_json(after), **codec.result_to_json(after)}
        same = json.loads(json.dumps(answer)) == vector["expected"]
        require(same, f"line {number} of {VECTORS}: the rules give another result")


Check: TypeAlias = Callable[[Subject], None]
"""Raises BrokenPromise, or any error of the game's code; its docstring says what is checked."""

ALL: Final[tuple[Check, ...]] = (
    name,
    same_seed,
    frozen_input,
    end,
    faults,
    nothing_but_faults,
    samples,
    order,
    unknown_options,
    strategies,
    survival,
    views,
    altered_states,
    any_player,
    any_actions,
    drawings,
    moves,
    strategies_over_the_wire,
    arrays,
    vectors,
)

CHECKS: Final[Mapping[str, Check]] = {check.__name__: check for check in ALL}


def sentence_of(check: Check) -> str:
    """Return what a check verifies: its docstring's first line without "Check that"."""
    return (check.__doc__ or "").removeprefix("Check that ").partition("\n")[0].rstrip(".")


__all__ = ["CHECKS", "BrokenPromise", "Subject", "subject"]
