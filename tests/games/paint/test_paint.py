"""The rules of Paint: worked examples, rule by rule, and against a plain reference."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.errors import IllegalAction, OutOfTurn, ProtocolError, UsageError
from cw.games.paint.codec import PaintCodec
from cw.games.paint.rules import Paint, judge
from cw.games.paint.state import ACTIONS, DIRECTIONS, Action, State
from cw.games.paint.strategies import STRATEGIES
from cw.games.rules import Fault
from tests.games.paint.paint_reference import reference_turn

GAME = Paint()
CODEC = PaintCodec(GAME)


def read(picture: str, turns: int = 5) -> State:
    """Read a picture: `A` an avatar on its colour, `a` its colour, `.` neutral, `#` obstacle."""
    rows = picture.split("/")
    letters = sorted({letter.lower() for row in rows for letter in row if letter.isalpha()})
    where = {
        letter.lower(): (row, col)
        for row, line in enumerate(rows)
        for col, letter in enumerate(line)
        if letter.isupper()
    }
    return State(
        width=len(rows[0]),
        height=len(rows),
        players=tuple(letters),
        positions=tuple(where[letter] for letter in letters),
        colors=tuple(
            letters.index(letter.lower()) if letter.isalpha() else None
            for row in rows
            for letter in row
        ),
        obstacles=frozenset(
            (row, col)
            for row, line in enumerate(rows)
            for col, letter in enumerate(line)
            if letter == "#"
        ),
        turns_left=turns,
    )


def picture(state: State) -> str:
    """Draw a state as `read` reads it."""
    rows = []
    for row in range(state.height):
        line = ""
        for col in range(state.width):
            color = state.colors[row * state.width + col]
            sign = "." if color is None else state.players[color]
            sign = sign.upper() if (row, col) in state.positions else sign
            line += "#" if (row, col) in state.obstacles else sign
        rows.append(line)
    return "/".join(rows)


def acts(words: str) -> dict[str, Action]:
    """Read actions such as `a walk [0,1], b shoot [-1,0]`."""
    actions = {}
    for part in words.split("], "):
        player, kind, direction = part.rstrip("]").split(" ")
        down, right = json.loads(direction + "]")
        actions[player] = Action(kind, (down, right))  # type: ignore[arg-type]
    return actions


def step(state: State, actions: Any) -> State:
    return GAME.step(state, actions)


WORKED = [
    ("AB/.C", "a walk [0,1], b walk [1,0], c walk [-1,-1]", "CA/.B"),
    ("A../.B./..C", "a walk [1,1], b walk [0,1], c walk [-1,0]", "A../.B./..C"),
    ("A./B./..", "a walk [1,0], b walk [1,0]", "a./A./B."),
    ("../a./a./A./../../.B", "a shoot [1,0]", "../a./a./A./a./a./.B"),
    ("aaaaA..../..B......", "a shoot [0,1], b walk [-1,-1]", "aBaaAaa../..b......"),
    (
        "...../.A.../...../...B./.....",
        "a shoot [1,1], b shoot [-1,-1]",
        "...../.A.../...../...B./.....",
    ),
    ("a./a./A./../../B./b./b.", "a shoot [1,0], b shoot [-1,0]", "a./a./A./a./b./B./b./b."),
    (
        "..B...../....Aaaa/..C.....",
        "a shoot [0,-1], b shoot [1,0], c shoot [-1,0]",
        "..B...../.aaaAaaa/..C.....",
    ),
    (".../A../.../.B./.b./.b.", "a shoot [0,1], b shoot [-1,0]", ".../Aa./.b./.B./.b./.b."),
    ("aaA.#../....B..", "a shoot [0,1], b walk [-1,0]", "aaAa#../....B.."),
    ("a#aA.../......B", "a shoot [0,1], b walk [1,0]", "a#aAa../......B"),
    ("A#./#.B", "a walk [1,1], b walk [-1,0]", "a#B/#Ab"),
]


@pytest.mark.parametrize(("before", "actions", "after"), WORKED)
def test_worked_examples(before: str, actions: str, after: str) -> None:
    assert picture(step(read(before), acts(actions))) == after


class TestWalks:
    def test_rule_1_a_walk_off_the_board_or_into_an_obstacle_stands_still(self) -> None:
        after = step(read("A#/.B"), acts("a walk [0,1], b walk [1,0]"))
        assert picture(after) == "A#/.B"
        assert after.previous[-1] == (Action("walk", (0, 1)), Action("walk", (1, 0)))

    def test_rule_2_swapping_and_crossing_are_allowed(self) -> None:
        assert picture(step(read("AB"), acts("a walk [0,1], b walk [0,-1]"))) == "BA"
        crossed = step(read("A./B."), acts("a walk [1,1], b walk [-1,1]"))
        assert picture(crossed) == "aB/bA"

    def test_rule_3_nobody_is_first_on_a_contested_square(self) -> None:
        assert picture(step(read("A.B"), acts("a walk [0,1], b walk [0,-1]"))) == "A.B"

    def test_rule_3_a_walker_sent_back_meets_who_follows(self) -> None:
        after = step(read("AB.C"), acts("a walk [0,1], b walk [0,1], c walk [0,-1]"))
        assert picture(after) == "AB.C"


class TestPaint:
    def test_rule_4_the_square_under_every_avatar_is_painted(self) -> None:
        state = State(2, 1, ("a", "b"), ((0, 0), (0, 1)), (1, None), frozenset(), 3)
        assert picture(step(state, {"a": Fault("timeout")})) == "AB"


class TestShots:
    def test_rule_5_without_a_line_behind_the_reach_is_one(self) -> None:
        assert picture(step(read("A...B"), acts("a shoot [0,1]"))) == "Aa..B"

    def test_rule_7_an_avatar_stops_a_shot(self) -> None:
        assert picture(step(read("aaAB.."), acts("a shoot [0,1]"))) == "aaAB.."

    def test_rule_8_a_shot_flies_over_all_colours(self) -> None:
        assert picture(step(read("aaaAb.bB"), acts("a shoot [0,1]"))) == "aaaAaaaB"

    def test_rule_9_where_shots_met_a_later_one_may_paint(self) -> None:
        assert picture(step(read(WORKED[7][0]), acts(WORKED[7][1]))) == WORKED[7][2]


class TestEnd:
    def test_scores_and_shared_ranks(self) -> None:
        end = step(read("A.B/..C", turns=1), acts("c shoot [0,-1]"))
        outcome = GAME.outcome(end)
        assert outcome is not None
        assert outcome.to_json() == {
            "reason": "turns_over",
            "winner": "c",
            "scores": {"a": 1, "b": 1, "c": 2},
            "ranks": {"a": 2, "b": 2, "c": 1},
        }
        assert GAME.to_move(end) == ()
        with pytest.raises(OutOfTurn):
            GAME.check(end, "a", ACTIONS[0])

    def test_nobody_wins_alone_with_equal_scores(self) -> None:
        outcome = GAME.outcome(step(read("A.B", turns=1), {}))
        assert outcome is not None
        assert (outcome.winner, dict(outcome.ranks)) == (None, {"a": 1, "b": 1})


class TestStart:
    def test_placement(self) -> None:
        state = GAME.new(6, 0)
        assert state.positions == ((0, 0), (9, 9), (0, 9), (9, 0), (4, 4), (5, 8))
        assert (state.width, state.height, state.turns_left) == (10, 10, 100)
        assert state.players == ("p1", "p2", "p3", "p4", "p5", "p6")

    def test_corners_of_a_narrow_board_count_once(self) -> None:
        assert GAME.new(3, 0, width=5, height=1).positions == ((0, 0), (0, 4), (0, 2))

    @pytest.mark.parametrize(
        ("name", "size", "turns", "starts"),
        [
            ("wide", (11, 5), 110, ((2, 3), (2, 7))),
            ("duel", (13, 7), 130, ((3, 1), (3, 11))),
            ("crossed", (13, 7), 130, ((5, 5), (1, 7))),
            ("large", (20, 20), 200, ((0, 0), (19, 19))),
        ],
    )
    def test_presets(self, name: str, size: Any, turns: int, starts: Any) -> None:
        state = GAME.new(2, 0, board=name)
        assert ((state.width, state.height), state.turns_left, state.positions) == (
            size,
            turns,
            starts,
        )
        assert state.score(0) == state.score(1) == (5 if name == "wide" else 1)

    @pytest.mark.parametrize("players", [2, 4])
    def test_obstacles_are_symmetric_and_cut_nothing_off(self, players: int) -> None:
        for seed in range(6):
            state = GAME.new(players, seed, board="rocks")
            assert 0 < len(state.obstacles) <= 14
            turned = {(state.height - 1 - r, state.width - 1 - c) for r, c in state.obstacles}
            assert turned == state.obstacles
            if players > 2:
                assert {(r, state.width - 1 - c) for r, c in state.obstacles} == state.obstacles
            free = {(r, c) for r in range(9) for c in range(13)} - state.obstacles
            reached, queue = {(0, 0)}, [(0, 0)]
            while queue:
                row, col = queue.pop()
                near = {(row + d, col + e) for d, e in DIRECTIONS} & free - reached
                reached |= near
                queue += near
            assert reached == free

    def test_the_same_seed_gives_the_same_obstacles(self) -> None:
        same = [GAME.new(2, 3, board="rocks").obstacles for _ in range(2)]
        assert same[0] == same[1] != GAME.new(2, 4, board="rocks").obstacles

    @pytest.mark.parametrize(
        ("players", "options", "message"),
        [
            (2, {"width": "x", "height": 3}, "width must be a whole number from 1 to 100, not 'x'"),
            (2, {"width": 3}, "give both width and height, or neither"),
            (2, {"width": 1, "height": 1}, "at least 2 squares"),
            (3, {"board": "wide"}, "board 'wide' is for 2 players, not 3"),
            (2, {"board": "tall"}, "board must be one of square, wide"),
            (2, {"board": "wide", "width": 3, "height": 3}, "exclude each other"),
            (1, {}, "players must be a whole number from 2"),
            (9, {"width": 4, "height": 2}, "9 players, but the board has 8 free squares"),
            (["a", "a"], {}, "two players have the id 'a'"),
            (["a", "b c"], {}, "player id 'b c'"),
            (["a"], {}, "at least 2 players"),
            (2, {"turns": 0}, "turns must be a whole number from 1 to 5000"),
            (2, {"obstacle_percent": 31}, "obstacle_percent must be a whole number from 0 to 30"),
            (2, {"history": -1}, "history must be a whole number from 0 to 5000"),
            (2, {"X": 1}, "unknown option 'X'; there are: board, width"),
        ],
    )
    def test_what_makes_no_start_is_refused(
        self, players: Any, options: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(UsageError, match=message):
            GAME.new(players, 0, **options)


class TestHistory:
    def test_players_see_the_latest_turns_and_the_referee_none(self) -> None:
        state = GAME.new(2, 0, history=2)
        for _ in range(4):
            state = step(state, {"p1": ACTIONS[0]})
        assert len(GAME.observe(state, "p1")["previous_actions"]) == 2
        assert GAME.observe(state, None)["previous_actions"] == []
        none = GAME.new(2, 0, history=0)
        assert GAME.observe(step(none, {}), "p1")["previous_actions"] == []


class TestDocuments:
    def test_the_message_has_its_keys_in_order(self) -> None:
        message = GAME.observe(read("A#/.B"), "a")
        assert message == {
            "width": 2,
            "height": 2,
            "player_positions": {"a": [0, 0], "b": [1, 1]},
            "colors": [["a", None], [None, "b"]],
            "turns_left": 5,
            "previous_actions": [],
            "obstacles": [[0, 1]],
        }
        assert list(message)[:3] == ["width", "height", "player_positions"]
        assert "obstacles" not in GAME.observe(read("A./.B"), "a")

    @pytest.mark.parametrize(
        ("reply", "expected"),
        [
            ({"type": "walk", "direction": [1, 0]}, Action("walk", (1, 0))),
            ({"type": "shoot", "direction": [1.0, -1], "more": 1}, Action("shoot", (1, -1))),
            ({"type": "walk", "direction": [0, 0]}, None),
            ({"type": "walk", "direction": [2, 0]}, None),
            ({"type": "walk", "direction": [0.5, 0]}, None),
            ({"type": "walk", "direction": [True, 0]}, None),
            ({"type": "walk", "direction": ["1", 0]}, None),
            ({"type": "walk", "direction": [1, 0, 0]}, None),
            ({"type": "walk", "direction": [float("nan"), 1]}, None),
            ({"type": "Walk", "direction": [1, 0]}, None),
            ({"type": ["walk"], "direction": [1, 0]}, None),
            ({"type": "walk", "direction": [1, 0], "fault": 1}, None),
            ({"turns_left": 5}, None),
            (None, None),
            (7, None),
            ([], None),
        ],
    )
    def test_an_answer_is_judged(self, reply: Any, expected: Action | None) -> None:
        assert judge(reply) == expected

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(),
            lambda inner: (
                st.lists(inner)
                | st.dictionaries(st.sampled_from(["type", "direction", "x"]), inner)
            ),
        )
    )
    def test_any_json_value_is_judged(self, reply: Any) -> None:
        judge(reply)
        state = read("AB")
        GAME.step(state, CODEC.actions_from_json(state, {"a": reply}))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"width": 0}, r">= 1 - at `\$.width`: it is 0"),
            ({"players": ["a", "c"]}, "player_positions names 'b'"),
            ({"player_positions": {"a": [0, 0]}}, "player 'b' has no position"),
            (
                {"player_positions": {"a": [0, 0], "b": [0, 0]}},
                r"a and b both stand on \[0,0\]",
            ),
            (
                {"player_positions": {"a": [0, 0], "b": [1, 1]}},
                r"avatar of b at \[1,1\] is off the board \(2 x 1\)",
            ),
            ({"colors": [["a"]]}, "colors must be 1 rows of 2 entries"),
            ({"colors": [["a", "z"]]}, r"colors\[0\]\[1\] is 'z'"),
            ({"obstacles": [[0, 1]]}, "stands on an obstacle"),
            ({"obstacles": [[0, 5]]}, "off the board"),
            ({"turns_left": -1}, r">= 0 - at `\$.turns_left`: it is -1"),
        ],
    )
    def test_what_is_no_state_is_refused(self, change: dict[str, Any], message: str) -> None:
        document = CODEC.state_to_json(read("AB")) | change
        with pytest.raises(ProtocolError, match=message):
            CODEC.state_from_json(document)

    def test_a_missing_key_is_named(self) -> None:
        document = CODEC.state_to_json(read("AB"))
        del document["colors"]
        with pytest.raises(ProtocolError, match="missing required field `colors`"):
            CODEC.state_from_json(document)

    def test_errors_of_the_command(self) -> None:
        with pytest.raises(ProtocolError, match="unknown player 'zed'"):
            CODEC.actions_from_json(read("AB"), {"zed": None})
        with pytest.raises(ProtocolError, match="the game is over: turns_left is 0"):
            CODEC.actions_from_json(read("AB", turns=0), {})
        with pytest.raises(IllegalAction):
            GAME.check(read("AB"), "a", Action("walk", (2, 0)))


def random_state(rng: Random) -> State:
    """Return a random position: small or large, sparse or full, with long own lines."""
    height, width = rng.randrange(1, 13), rng.randrange(2, 13)
    cells = [(row, col) for row in range(height) for col in range(width)]
    rng.shuffle(cells)
    blocked = rng.randrange(0, 1 + len(cells) * 3 // 10) if rng.random() < 0.5 else 0
    obstacles, free = frozenset(cells[:blocked]), cells[blocked:]
    if len(free) < 2:
        return random_state(rng)
    number = rng.choice([2, 2, 3, 4, len(free)])
    players = tuple(f"p{seat}" for seat in range(min(number, len(free))))
    share = rng.random()
    colors = [
        None
        if (index // width, index % width) in obstacles or rng.random() < share
        else rng.randrange(min(3, len(players)))
        for index in range(height * width)
    ]
    positions = tuple(free[: len(players)])
    return State(width, height, players, positions, tuple(colors), obstacles, 5)


def random_actions(rng: Random, state: State) -> dict[str, Action]:
    shooting = rng.random()
    return {
        player: Action("shoot" if rng.random() < shooting else "walk", rng.choice(DIRECTIONS))
        for player in state.players
        if rng.random() < 0.9
    }


@pytest.mark.parametrize("part", range(5))
def test_ten_thousand_random_turns_agree_with_the_reference(part: int) -> None:
    rng = Random(part)
    for _ in range(2000):
        state = random_state(rng)
        actions = random_actions(rng, state)
        positions, owners = reference_turn(state, actions)
        after = step(state, actions)
        assert dict(zip(after.players, after.positions, strict=True)) == positions
        for index, color in enumerate(after.colors):
            owner = None if color is None else after.players[color]
            assert owner == owners.get(divmod(index, state.width))


@given(st.integers(0, 2**32))
def test_properties_of_a_turn(seed: int) -> None:
    rng = Random(seed)
    state = random_state(rng)
    after = step(state, random_actions(rng, state))
    assert len(set(after.positions)) == len(after.positions)
    assert all(after.is_free(square) for square in after.positions)
    for seat, (row, col) in enumerate(after.positions):
        assert after.colors[row * after.width + col] == seat
        old = state.positions[seat]
        assert max(abs(row - old[0]), abs(col - old[1])) <= 1
    for before, now in zip(state.colors, after.colors, strict=True):
        assert before is None or now is not None
    assert sum(map(after.score, range(len(after.players)))) == sum(
        color is not None for color in after.colors
    )
    assert step(after, {}).colors == after.colors


@given(st.integers(0, 2**32))
def test_the_mirror_image_of_a_turn_is_the_turn_of_the_mirror_image(seed: int) -> None:
    rng = Random(seed)
    state = random_state(rng)
    actions = random_actions(rng, state)
    turned = {p: Action(a.type, (a.direction[1], a.direction[0])) for p, a in actions.items()}
    assert step(transposed(state), turned).colors == transposed(step(state, actions)).colors


def transposed(state: State) -> State:
    """Exchange rows and columns."""
    return State(
        state.height,
        state.width,
        state.players,
        tuple((col, row) for row, col in state.positions),
        tuple(
            state.colors[row * state.width + col]
            for col in range(state.width)
            for row in range(state.height)
        ),
        frozenset((col, row) for row, col in state.obstacles),
        state.turns_left,
    )


@pytest.mark.parametrize(
    ("stronger", "weaker", "games"),
    [
        ("walker", "random", 10),
        ("greedy", "walker", 10),
        pytest.param("strong", "greedy", 4, marks=pytest.mark.thorough),
    ],
)
def test_the_next_strategy_wins(stronger: str, weaker: str, games: int) -> None:
    won = 0
    for number in range(games):
        state = GAME.new(2, number, board="square" if games > 4 else "duel", turns=60)
        names = (stronger, weaker) if number % 2 == 0 else (weaker, stronger)
        seats = {
            player: STRATEGIES[name](player, Random(number))
            for player, name in zip(state.players, names, strict=True)
        }
        while GAME.to_move(state):
            view = GAME.observe(state, "p1")
            state = GAME.step(state, {player: bot.act(view) for player, bot in seats.items()})
        outcome = GAME.outcome(state)
        assert outcome is not None
        won += outcome.winner == f"p{1 + number % 2}"
    assert won >= games * 0.7
