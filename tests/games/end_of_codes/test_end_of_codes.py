"""The rules of End of Codes: worked examples, faults by name, and against a plain reference."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.cli.step import step_line
from cw.errors import IllegalAction, ProtocolError, UsageError
from cw.games.codec import Game
from cw.games.end_of_codes.codec import EndOfCodesCodec, creatures
from cw.games.end_of_codes.rules import EndOfCodes
from cw.games.end_of_codes.rules.replies import read_reply
from cw.games.end_of_codes.state import State
from cw.games.end_of_codes.strategies import STRATEGIES
from cw.games.rules import FAULT_KINDS, Fault
from tests.games.end_of_codes.end_of_codes_reference import reference_round

GAME = EndOfCodes()
CODEC = EndOfCodesCodec(GAME)
USERS = {"A": 1, "B": 2, "C": 3, "D": 4}
WAYS = {"n": "north", "e": "east", "s": "south", "w": "west"}


def world(picture: str, died: dict[str, int] | None = None, **options: Any) -> State:
    """Read `1:A(0,0)3 2:B(0,1)1` as round 7 of a 5 x 5 map."""
    matches = re.findall(r"(\d+):([A-D])\((\d),(\d)\)(\d)", picture)
    names = sorted({owner for _, owner, *_ in matches})
    document = {
        "round": 7,
        "W": 5,
        "H": 5,
        "MAX_HP": 5,
        "players": [
            {"userid": USERS[name], "username": name, "died": (died or {}).get(name)}
            for name in names
        ],
        "creatures": [
            {"creatureid": int(c), "userid": USERS[o], "x": int(x), "y": int(y), "hp": int(hp)}
            for c, o, x, y, hp in matches
        ],
    }
    return CODEC.state_from_json(document, **options)


def picture(state: State) -> str:
    letters = {userid: name for name, userid in USERS.items()}
    return " ".join(
        f"{c['creatureid']}:{letters[c['userid']]}({c['x']},{c['y']}){c['hp']}"
        for c in creatures(state)
    )


def replies(state: State, words: str) -> dict[Any, Any]:
    """Read `1!n 2e B:timeout`."""
    replies_of: dict[Any, Any] = {p.userid: {"intent": []} for p in state.players}
    for word in words.split():
        fault = re.fullmatch(r"([A-D]):(\w+)", word)
        if fault:
            replies_of[USERS[fault[1]]] = Fault.from_json({"fault": fault[2]})
            continue
        number, attack, way = re.fullmatch(r"(\d+)(!?)([nesw])", word).groups()  # type: ignore[union-attr]
        owner = int(state.owners[state.index[int(number)]])
        intent = {"creatureid": int(number), "action": "attack" if attack else "move"}
        replies_of[owner]["intent"].append(intent | {"direction": WAYS[way]})
    return replies_of


WORKED = [
    ("1:A(0,0)3 2:B(0,1)1 3:B(3,3)2", "1!n 2n", "1:A(0,0)3 2:B(0,2)0 3:B(3,3)2"),
    (
        "1:A(1,0)1 2:A(1,1)1 3:B(2,1)1 4:C(3,2)1 5:C(4,2)1 6:C(4,1)1",
        "1n 2e 3n 4w 5w 6n",
        "1:A(1,0)1 2:A(1,1)1 3:B(2,1)1 4:C(3,2)1 5:C(4,2)1 6:C(4,1)1",
    ),
    (
        "1:A(1,1)2 2:B(1,2)2 3:A(0,0)2 4:B(1,0)2",
        "1n 2s 3e 4e",
        "1:A(1,2)2 2:B(1,1)2 3:A(1,0)2 4:B(2,0)2",
    ),
    (
        "1:A(2,2)2 2:B(1,2)1 3:C(1,3)4 4:B(4,0)1",
        "1!w 3s",
        "1:A(2,2)2 2:B(1,2)0 3:C(1,2)4 4:B(4,0)1",
    ),
    (
        "1:A(0,3)2 2:A(2,3)2 3:A(3,3)2 4:B(4,0)2 5:B(2,2)0 6:A(2,1)1",
        "1!w 2!e 3!s 4e 6!n",
        "1:A(0,3)2 2:A(2,3)2 3:A(3,3)2 4:B(4,0)2 5:B(2,2)0 6:A(2,1)1",
    ),
    (
        "1:A(2,1)2 2:A(1,2)2 3:A(3,2)1 4:B(2,2)2 5:B(0,0)5",
        "1!n 2!e 3!w 4!e",
        "1:A(2,1)2 2:A(1,2)2 3:A(3,2)0 4:B(2,2)0 5:B(0,0)5",
    ),
    (
        "1:A(1,1)3 2:B(2,1)5 3:B(4,4)5 4:A(3,1)2 5:C(0,4)1",
        "1e 4!w B:timeout",
        "1:A(2,1)3 2:B(2,1)0 3:B(4,4)0 4:A(3,1)2 5:C(0,4)1",
    ),
]


class TestWorkedExamples:
    @pytest.mark.parametrize(("before", "actions", "after"), WORKED)
    def test_the_game_goes_on(self, before: str, actions: str, after: str) -> None:
        state = world(before)
        end = GAME.step(state, replies(state, actions))
        assert picture(end) == after
        assert GAME.outcome(end) is None

    def test_2_mutual_kill(self) -> None:
        state = world("1:A(4,4)1 2:B(4,3)1")
        end = GAME.step(state, replies(state, "1!s 2!n"))
        assert picture(end) == "1:A(4,4)0 2:B(4,3)0"
        assert CODEC.result_to_json(end)["outcome"] == {
            "reason": "all_dead",
            "winner": None,
            "round": 8,
            "ranks": {"1": 1, "2": 1},
            "scores": {"1": 0, "2": 0},
        }

    def test_8_who_is_thrown_out_has_died(self) -> None:
        state = world(WORKED[6][0])
        end = GAME.step(state, replies(state, WORKED[6][1]))
        b = end.players[1]
        assert (b.died, b.fault) == (8, ("timeout", None, 7))
        assert end.players[0].fault is None
        assert GAME.to_move(end) == (1, 3)

    def test_9_an_intent_for_a_dead_creature(self) -> None:
        state = world("1:A(1,1)3 2:A(0,0)0 3:B(1,2)3")
        end = GAME.step(state, replies(state, "1!n 2e 3!s"))
        assert picture(end) == "1:A(1,1)0 2:A(0,0)0 3:B(1,2)3"
        assert end.players[0].fault == ("illegal", "round_intent_dead_creature", 7)
        outcome = GAME.outcome(end)
        assert outcome is not None
        assert (outcome.reason, outcome.winner, dict(outcome.ranks)) == (
            "last_standing",
            2,
            {1: 2, 2: 1},
        )

    def test_10_ranks_by_who_outlived_whom(self) -> None:
        state = world("1:A(1,1)5 2:B(1,2)1 3:C(2,1)1 4:D(0,0)0 5:A(2,2)5", {"D": 5})
        end = GAME.step(state, replies(state, "1!n 5!s 2!s"))
        assert picture(end) == "1:A(1,1)4 2:B(1,2)0 3:C(2,1)0 4:D(0,0)0 5:A(2,2)5"
        outcome = GAME.outcome(end)
        assert outcome is not None
        assert list(outcome.ranks.values()) == [1, 2, 2, 4]
        assert list(outcome.scores.values()) == [3, 1, 1, 0]

    def test_11_the_round_cap(self) -> None:
        state = world("1:A(0,0)2 2:B(4,4)2 3:C(2,2)0", {"C": 3}, max_rounds=8)
        end = GAME.step(state, replies(state, "1n"))
        outcome = GAME.outcome(end)
        assert outcome is not None
        assert (outcome.reason, list(outcome.ranks.values())) == ("round_cap", [1, 1, 3])
        assert list(outcome.scores.values()) == [1, 1, 0]

    @pytest.mark.parametrize(
        ("players", "each", "low", "high"),
        [(2, 100, 26, 27), (10, 199, 79, 88), (1, 109, 19, 20), (2, 15, 10, 10), (2, 3, 5, 5)],
    )
    def test_12_the_sizes_of_maps(self, players: int, each: int, low: int, high: int) -> None:
        for seed in range(8):
            state = GAME.new(players, seed, M=each)
            assert low <= state.width <= high
            assert low <= state.height <= high


class TestGenesis:
    def test_the_draws(self) -> None:
        state = GAME.new(2, 11)
        rng = Random(11)
        each = rng.randint(100, 199)
        assert len(state.ids) == 2 * each
        assert state.width * state.height >= 6 * each
        assert len(set(zip(state.x.tolist(), state.y.tolist(), strict=True))) == 2 * each
        assert state.owners.tolist() == [1] * each + [2] * each
        assert set(state.hp.tolist()) == {state.most_hp}
        assert 100 <= state.most_hp <= 199
        assert CODEC.state_to_json(state) == CODEC.state_to_json(GAME.new(2, 11))

    @pytest.mark.parametrize(
        ("players", "options", "message"),
        [
            ([{"userid": 0, "username": "a"}], {}, "userid must be a positive integer"),
            ([{"userid": 1, "username": "a b"}], {}, "username must be 1 to 64 letters"),
            ([{"userid": 3, "username": n} for n in "ab"], {}, "two players have userid 3"),
            (
                [{"userid": n, "username": "alice"} for n in (1, 2)],
                {},
                "two players have username alice",
            ),
            (10**30, {}, "players must be an integer from 0 to 1000"),
            (2, {"gameid": 0}, "gameid must be a positive integer"),
            (2, {"M": 1001}, "M must be an integer from 1 to 1000"),
            (2, {"M": True}, "M must be an integer"),
            (2, {"MAX_HP": 0}, "MAX_HP must be an integer from 1 to 1000"),
            (3, {"M": 501, "max_creatures": 1500}, r"N\*M = 1503, the limit is 1500"),
            (2, {"W": 5, "H": 0}, "W and H must be integers from 1 to 1000"),
            (2, {"W": 5}, "give both W and H, or neither"),
            (2, {"M": 4, "W": 4, "H": 5}, r"W\*H = 20, but 3\*N\*M = 24"),
            (2, {"max_rounds": 0}, "max_rounds must be an integer from 1 to 1000000"),
            (2, {"timeout": 61}, "timeout must be a number from 0.1 to 60"),
            (2, {"timeout": 1, "connect_timeout": 2}, "timeout must not be below"),
            (2, {"foo": 1}, "unknown option: foo"),
        ],
    )
    def test_what_makes_no_game_is_refused(
        self, players: Any, options: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(UsageError, match=message):
            GAME.new(players, 0, **options)

    def test_games_that_are_over_at_once(self) -> None:
        alone = GAME.new(1, 0, M=2)
        assert CODEC.result_to_json(alone)["outcome"]["reason"] == "last_standing"
        nobody = CODEC.result_to_json(GAME.new(0, 0, M=2))["outcome"]
        assert nobody == {
            "reason": "no_players",
            "winner": None,
            "round": None,
            "ranks": {},
            "scores": {},
        }


def intent(**changes: Any) -> dict[str, Any]:
    return {"creatureid": 1, "action": "move", "direction": "north"} | changes


class TestReplies:
    STATE = world("1:A(1,1)3 2:A(0,0)0 3:B(1,2)3")

    @pytest.mark.parametrize(
        ("reply", "error", "kind"),
        [
            (None, "invalid_json", "malformed"),
            ({"error": "x"}, "error_key", "crashed"),
            ([], "intent_not_set", "malformed"),
            ({}, "intent_not_set", "malformed"),
            ({"intent": None}, "intent_not_set", "malformed"),
            ({"intent": [], "x": 1}, "additional_data", "malformed"),
            ({"intent": {}}, "wrong_type", "malformed"),
            ({"intent": [1]}, "response_not_object", "malformed"),
            ({"intent": [{}]}, "creatureid_not_set", "malformed"),
            ({"intent": [{"creatureid": 1}]}, "direction_not_set", "malformed"),
            ({"intent": [{"creatureid": 1, "direction": "x"}]}, "action_not_set", "malformed"),
            ({"intent": [intent(more=1)]}, "intent_additional_data", "malformed"),
            ({"intent": [intent(creatureid="1")]}, "wrong_type", "malformed"),
            ({"intent": [intent(creatureid=1.0)]}, "wrong_type", "malformed"),
            ({"intent": [intent(creatureid=True)]}, "wrong_type", "malformed"),
            ({"intent": [intent(action=[])]}, "wrong_type", "malformed"),
            ({"intent": [intent(creatureid=9)]}, "invalid_creatureid", "illegal"),
            ({"intent": [intent(creatureid=10**30)]}, "invalid_creatureid", "illegal"),
            ({"intent": [intent(creatureid=3)]}, "intent_not_own_creature", "illegal"),
            ({"intent": [intent(creatureid=2)]}, "intent_dead_creature", "illegal"),
            ({"intent": [intent(action="idle")]}, "action_invalid", "illegal"),
            ({"intent": [intent(direction="North")]}, "direction_invalid", "illegal"),
            ({"intent": [intent(), intent()]}, "intent_duplicate", "illegal"),
            ({"intent": [intent(creatureid=9), 5]}, "response_not_object", "malformed"),
        ],
    )
    def test_the_first_check_that_fails_names_the_fault(
        self, reply: Any, error: str, kind: str
    ) -> None:
        assert read_reply(self.STATE, 1, reply) == Fault(kind, f"round_{error}")  # type: ignore[arg-type]
        with pytest.raises(IllegalAction, match=f"round_{error}"):
            GAME.check(self.STATE, 1, reply)
        by_reply = GAME.step(self.STATE, {1: reply})
        actions = CODEC.actions_from_json(
            self.STATE, {"1": {"fault": kind, "error": f"round_{error}"}}
        )
        by_grader = GAME.step(self.STATE, dict(actions))
        assert CODEC.state_to_json(by_reply) == CODEC.state_to_json(by_grader)
        assert by_reply.players[0].died == 8

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda inner: (
                st.lists(inner)
                | st.dictionaries(
                    st.sampled_from(["intent", "creatureid", "action", "direction", "error"]), inner
                )
            ),
        )
    )
    def test_no_reply_makes_the_rules_raise(self, reply: Any) -> None:
        after = GAME.step(self.STATE, {1: reply})
        assert (after.players[0].fault is None) == (
            not isinstance(read_reply(self.STATE, 1, reply), Fault)
        )

    @pytest.mark.parametrize("kind", FAULT_KINDS)
    def test_a_second_fault_is_ignored(self, kind: Any) -> None:
        once = GAME.step(self.STATE, {1: Fault("crashed")})
        twice = GAME.step(once, {1: Fault(kind)})
        assert twice.players[0].fault == ("crashed", None, 7)


def creature(creatureid: int, userid: int, x: int, y: int, hp: int) -> dict[str, int]:
    return {"creatureid": creatureid, "userid": userid, "x": x, "y": y, "hp": hp}


class TestDocuments:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"W": 0}, r">= 1 - at `\$.W`: it is 0"),
            ({"round": -1}, r">= 0 - at `\$.round`: it is -1"),
            ({"players": None}, r"`array`, got `null` - at `\$.players`"),
            ({"creatures": [{}]}, r"creatures\[0\]"),
            ({"creatures": [creature(1, 1, 5, 0, 1)]}, "off the map"),
            ({"creatures": [creature(1, 1, 0, 0, 6)]}, "hp must be"),
            ({"creatures": [creature(1, 9, 0, 0, 1)]}, "belongs to 9"),
            (
                {"creatures": [creature(n, 1, 0, 0, 1) for n in (1, 2)]},
                "two living creatures",
            ),
            (
                {"creatures": [creature(1, 1, n, 0, 1) for n in (1, 2)]},
                "same creatureid",
            ),
        ],
    )
    def test_what_is_no_state_is_refused(self, change: Any, message: str) -> None:
        document = CODEC.state_to_json(world("1:A(1,1)3 3:B(1,2)3"))
        with pytest.raises(ProtocolError, match=message):
            CODEC.state_from_json(document | change)

    def test_errors_of_the_command(self) -> None:
        state = world("1:A(1,1)3 3:B(1,2)3")
        with pytest.raises(ProtocolError, match="unknown player '7'"):
            CODEC.actions_from_json(state, {"7": {}})
        with pytest.raises(ProtocolError, match="unknown fault"):
            CODEC.actions_from_json(state, {"1": {"fault": "bored"}})
        with pytest.raises(ProtocolError, match="unknown fault None"):
            CODEC.actions_from_json(state, {"1": {"fault": None}})
        unnamed = CODEC.actions_from_json(state, {"1": {"fault": "timeout", "error": None}})
        assert unnamed == {1: Fault("timeout")}

    def test_the_cap_of_a_line(self) -> None:
        document = CODEC.state_to_json(world("1:A(1,1)3 3:B(1,2)3"))
        line = {"state": document, "actions": {}, "options": {"max_rounds": 8}}
        assert step_line(Game(GAME, CODEC), line)["outcome"]["reason"] == "round_cap"
        line = {"state": document, "actions": {}}
        assert step_line(Game(GAME, CODEC), line)["outcome"] is None


def random_state(rng: Random) -> State:
    """Return a random round: crowded, with dead ones lying about."""
    width, height = rng.randrange(2, 9), rng.randrange(2, 9)
    cells = [(x, y) for x in range(width) for y in range(height)]
    rng.shuffle(cells)
    users = rng.randrange(2, 5)
    number = rng.randrange(1, len(cells) + 1)
    alive = [(x, y, rng.randrange(1, 4)) for x, y in cells[:number]]
    dead = [(*rng.choice(cells), 0) for _ in range(rng.randrange(4))]
    document = {
        "round": 3,
        "W": width,
        "H": height,
        "MAX_HP": 5,
        "players": [{"userid": u, "username": f"u{u}"} for u in range(1, users + 1)],
        "creatures": [
            {"creatureid": n, "userid": rng.randrange(1, users + 1), "x": x, "y": y, "hp": hp}
            for n, (x, y, hp) in enumerate(alive + dead, start=1)
        ],
    }
    return CODEC.state_from_json(document)


def random_replies(rng: Random, state: State) -> dict[Any, Any]:
    replies_of: dict[Any, Any] = {p: GAME.sample(state, p, rng) for p in GAME.players(state)}
    if rng.random() < 0.3:
        replies_of[rng.choice(list(replies_of))] = Fault("timeout")
    return replies_of


@pytest.mark.parametrize("part", range(4))
def test_random_rounds_agree_with_the_reference(part: int) -> None:
    rng = Random(part)
    for _ in range(600):
        state = random_state(rng)
        replies_of = random_replies(rng, state)
        faulty = {player for player, reply in replies_of.items() if isinstance(reply, Fault)}
        intents = [
            (i["creatureid"], i["action"], i["direction"])
            for player, reply in replies_of.items()
            if player not in faulty
            for i in reply["intent"]
        ]
        expected = reference_round(creatures(state), state.width, state.height, intents, faulty)
        assert creatures(GAME.step(state, replies_of)) == expected


@given(st.integers(0, 2**32))
def test_properties_of_a_round(seed: int) -> None:
    rng = Random(seed)
    state = random_state(rng)
    after = GAME.step(state, random_replies(rng, state))
    alive = after.hp > 0
    cells = list(zip(after.x[alive].tolist(), after.y[alive].tolist(), strict=True))
    assert len(set(cells)) == len(cells)
    assert (after.hp <= state.hp).all()
    assert (after.hp >= 0).all()
    assert (np.abs(after.x - state.x) + np.abs(after.y - state.y) <= 1).all()
    assert after.ids.tolist() == state.ids.tolist()
    idle = GAME.step(state, {})
    assert creatures(idle) == creatures(state)


@given(st.integers(0, 2**32))
def test_the_mirror_image_of_a_round_is_the_round_of_the_mirror_image(seed: int) -> None:
    rng = Random(seed)
    state = random_state(rng)
    replies_of = random_replies(rng, state)
    swap = {"east": "west", "west": "east", "north": "north", "south": "south"}
    mirrored_answers = {
        player: reply
        if isinstance(reply, Fault)
        else {"intent": [i | {"direction": swap[i["direction"]]} for i in reply["intent"]]}
        for player, reply in replies_of.items()
    }
    after = GAME.step(mirrored(state), mirrored_answers)
    assert creatures(after) == creatures(mirrored(GAME.step(state, replies_of)))


def mirrored(state: State) -> State:
    document = CODEC.state_to_json(state)
    for creature in document["creatures"]:
        creature["x"] = state.width - 1 - creature["x"]
    return CODEC.state_from_json(document)


def test_the_columns_of_a_state_cannot_be_changed() -> None:
    state = GAME.new(2, 1, M=2)
    with pytest.raises(ValueError, match="read-only"):
        state.hp[0] = 0


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_never_commits_a_fault(name: str) -> None:
    state = GAME.new(3, 4, M=6, MAX_HP=3, max_rounds=150)
    seats = {p: STRATEGIES[name](p, Random(p)) for p in GAME.players(state)}
    while GAME.to_move(state):
        actions = {p: seats[int(p)].act(state) for p in GAME.to_move(state)}
        state = GAME.step(state, actions)
    assert all(player.fault is None for player in state.players)


def test_the_sample_beats_who_stands_idle() -> None:
    state = GAME.new(2, 5, M=8, MAX_HP=2)
    seats = {1: STRATEGIES["sample"](1, Random(1)), 2: STRATEGIES["idle"](2, Random(2))}
    while GAME.to_move(state):
        state = GAME.step(state, {p: bot.act(state) for p, bot in seats.items()})
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert outcome.winner == 1


def winners(names: tuple[str, ...], games: int) -> list[str | None]:
    """Play games on small maps, with rotating seats, and name who won each."""
    won = []
    for number in range(games):
        seated = names[number % len(names) :] + names[: number % len(names)]
        state = GAME.new(len(names), number, M=15, MAX_HP=5)
        seats = {p: STRATEGIES[seated[p - 1]](p, Random(number)) for p in GAME.players(state)}
        while GAME.to_move(state):
            state = GAME.step(state, {p: seats[int(p)].act(state) for p in GAME.to_move(state)})
        assert state.round < 2000
        outcome = GAME.outcome(state)
        assert outcome is not None
        won.append(None if outcome.winner is None else seated[int(outcome.winner) - 1])
    return won


def test_the_hunter_beats_the_sample() -> None:
    assert winners(("hunter", "sample"), 5).count("hunter") >= 4


@pytest.mark.thorough
def test_the_hunter_beats_three_samples() -> None:
    assert winners(("hunter", "sample", "sample", "sample"), 8).count("hunter") >= 3


@pytest.mark.thorough
def test_hunters_do_not_wait_for_ever() -> None:
    assert len(winners(("hunter", "hunter", "hunter"), 1)) == 1
