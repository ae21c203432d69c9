"""Every game as an environment: PettingZoo's own tests, and what ours promise beyond them."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Discrete
from pettingzoo.test import (
    api_test,
    parallel_api_test,
    parallel_seed_test,
    seed_test,
)

from cw.envs import TurnEnv, aec_env, parallel_env
from cw.envs.agent_game import reward
from cw.envs.spaces import MaskedNumbers
from cw.errors import UsageError
from cw.games.registry import GAMES, load_play_options, load_spaces
from cw.games.rules import Outcome, Player
from tests.documented import DOCS, installed, programs
from tests.games.code_battle.fog import alter_unseen
from tests.test_every_game import SMALL

TOGETHER = ("code-battle", "end-of-codes", "paint")
"""The games in which everybody acts at the same time."""

CYCLES = 60


@pytest.fixture(autouse=True)
def with_the_documented_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(installed())


@contextmanager
def advice_ignored() -> Iterator[None]:
    """Let PettingZoo advise other spaces than a dict with a mask, which its own games use too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def small(game: str, players: int = 2) -> dict[str, Any]:
    return {"players": players, **SMALL.get(game, {})}


@pytest.mark.parametrize("game", [*GAMES, "nim"])
def test_the_tests_of_pettingzoo_pass(game: str) -> None:
    with advice_ignored():
        api_test(aec_env(game, **small(game)), num_cycles=CYCLES)
    seed_test(lambda: aec_env(game, **small(game)), num_cycles=CYCLES)


@pytest.mark.parametrize("game", TOGETHER)
@pytest.mark.parametrize("players", [2, 3])
def test_the_parallel_tests_of_pettingzoo_pass(game: str, players: int) -> None:
    parallel_api_test(parallel_env(game, **small(game, players)), num_cycles=CYCLES)
    parallel_seed_test(lambda: parallel_env(game, **small(game, players)), num_cycles=CYCLES)


@pytest.mark.parametrize("game", TOGETHER)
def test_three_agents_are_asked_one_after_the_other(game: str) -> None:
    env = aec_env(game, **small(game, 3))
    with advice_ignored():
        api_test(env, num_cycles=CYCLES)
    env.reset(seed=1)
    agents = []
    for _ in range(6):
        agents.append(env.agent_selection)
        env.step(choice(env))
    assert agents == ["player_0", "player_1", "player_2"] * 2


@pytest.mark.parametrize("game", ["circuit-wars", "hexagon", "nim"])
def test_a_game_in_turns_has_no_parallel_environment(game: str) -> None:
    with pytest.raises(UsageError, match="played in turns: use aec_env"):
        parallel_env(game)


def choice(env: TurnEnv) -> Any:
    """Return a random action of the agent whose turn it is."""
    agent = env.agent_selection
    mask = env.observe(agent).get("action_mask")
    return None if env.terminations[agent] else env.action_space(agent).sample(mask)


def play(env: TurnEnv, seed: int | None) -> tuple[list[Any], dict[str, float]]:
    """Play a random game; return all views as text, and the rewards."""
    env.reset(seed=seed)
    for number, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(number)
    views, rewards = [], {}
    for agent in env.agent_iter():
        observation, earned, over, _, _ = env.last()
        views.append(str(observation))
        if over:
            rewards[agent] = earned
        env.step(choice(env))
    return views, rewards


@pytest.mark.parametrize("game", [*GAMES, "nim"])
def test_all_that_the_mask_allows_is_legal(game: str) -> None:
    env = aec_env(game, **small(game))
    table, spaces = env.game.table, load_spaces(game)
    env.reset(seed=3)
    while env.agents:
        agent = env.agent_selection
        action = choice(env)
        if action is not None:
            player = env.game.seats[agent]
            table.game.rules.check(table.state, player, env.game.read(agent, action))
            if spaces is not None and env.game.table.to_move == (player,):
                offered = load_play_options(game).moves
                mask = env.observe(agent)["action_mask"]
                assert offered is None or mask.sum() == len(offered(table.state, player))
            assert env.action_space(agent).contains(action)
        env.step(action)


@pytest.mark.parametrize("game", ["circuit-wars", "hexagon"])
def test_nothing_is_allowed_while_the_other_moves(game: str) -> None:
    env = aec_env(game, **small(game))
    env.reset(seed=1)
    assert env.observe("player_0")["action_mask"].any()
    assert not env.observe("player_1")["action_mask"].any()


@pytest.mark.parametrize("game", GAMES)
def test_no_two_actions_are_one_and_each_is_read(game: str) -> None:
    env = aec_env(game, **small(game))
    env.reset(seed=2)
    space = env.action_space("player_0")
    if isinstance(space, MaskedNumbers):
        mask = env.observe("player_0")["action_mask"].reshape(len(space.nvec), -1)
        own = int(mask.sum(axis=1).argmax())
        numbers = [
            np.eye(1, len(space.nvec), own, dtype=np.int64)[0] * n for n in range(space.values)
        ]
    else:
        assert isinstance(space, Discrete)
        numbers = list(range(int(space.n)))
    read = [repr(env.game.read("player_0", number)) for number in numbers]
    assert len(set(read)) == len(numbers)


def test_what_is_in_fog_does_not_show() -> None:
    env = aec_env("code-battle", **small("code-battle"))
    env.reset(seed=1)
    table = env.game.table
    while table.state.turn < 5:
        env.step(choice(env))
    view = env.observe("player_0")
    altered = alter_unseen(table.state, 0, Random(1))
    assert altered != table.state
    table.state = altered
    again = env.observe("player_0")
    assert all(np.array_equal(view[part], again[part]) for part in view)


@pytest.mark.parametrize("game", [*GAMES, "nim"])
def test_a_seed_gives_one_game_and_no_seed_the_next(game: str) -> None:
    one, other = (aec_env(game, **small(game)) for _ in range(2))
    assert play(one, 7) == play(other, 7)
    assert play(one, None) == play(other, None)


def test_games_without_a_seed_are_different_ones() -> None:
    env = parallel_env("end-of-codes", **small("end-of-codes"))
    starts = [str(env.reset(seed=seed)) for seed in (7, None, None, 7)]
    assert starts[0] == starts[3]
    assert len(set(starts)) == 3


@pytest.mark.parametrize("game", [*GAMES, "nim"])
def test_rewards_follow_the_ranks(game: str) -> None:
    env = aec_env(game, **small(game))
    _, rewards = play(env, 5)
    outcome = env.game.outcome
    assert outcome is not None
    ranks = {agent: outcome.ranks[player] for agent, player in env.game.seats.items()}
    better = ranks["player_1"] - ranks["player_0"]
    assert rewards == {"player_0": np.sign(better), "player_1": -np.sign(better)}


def test_rewards_of_several_are_shares_of_the_others() -> None:
    players = ("a", "b", "c", "d", "e")
    ranks: dict[Player, int] = {"a": 1, "b": 2, "c": 2, "d": 4}
    outcome = Outcome("over", "a", dict.fromkeys(players, 0), ranks)
    rewards = [reward(outcome, player, players) for player in players]
    assert rewards == [1.0, 0.25, 0.25, -0.5, -1.0]


@pytest.mark.parametrize("game", ["circuit-wars", "paint", "nim"])
def test_strategies_sit_in_the_seats_that_are_given_away(game: str) -> None:
    bots = {"player_0": "builtin:random"}
    env = aec_env(game, bots=bots, **small(game))
    assert env.possible_agents == ["player_1"]
    views, rewards = play(env, 1)
    assert rewards.keys() == {"player_1"}
    assert (views, rewards) == play(aec_env(game, bots=bots, **small(game)), 1)


def test_a_strong_strategy_wins_in_its_seat() -> None:
    env = aec_env("circuit-wars", bots={"player_1": "builtin:safe"}, **small("circuit-wars"))
    assert sum(play(env, seed)[1]["player_0"] for seed in range(10)) < -5


def test_bots_play_with_agents_at_the_same_time() -> None:
    env = parallel_env("paint", bots={"player_1": "builtin:greedy"}, **small("paint", 3))
    env.reset(seed=1)
    while env.agents:
        _, rewards, over, _, _ = env.step(dict.fromkeys(env.agents, 0))
    assert over == {"player_0": True, "player_2": True}
    assert rewards["player_0"] < 1
    assert rewards["player_2"] < 1


def test_what_is_not_legal_costs_what_the_rules_say() -> None:
    env = aec_env("circuit-wars", size=3)
    env.reset(seed=1)
    env.step(0)
    env.step(0)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    env = aec_env("nim")
    env.reset(seed=1)
    env.step({"heap": 99, "objects": 1})
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}


REFUSED: list[tuple[str, Any, str]] = [
    ("circuit-wars", None, "a whole number from 0 to 23, not None"),
    ("circuit-wars", 24, "from 0 to 23, not 24"),
    ("circuit-wars", -1, "not -1"),
    ("circuit-wars", 1.5, "not 1.5"),
    ("circuit-wars", True, "not True"),
    ("circuit-wars", "0,0,top", "a whole number"),
    ("end-of-codes", 3, "3 whole numbers from 0 to 8, not 3"),
    ("end-of-codes", [1, 2], "3 whole numbers"),
    ("end-of-codes", [1, 2, 9], "3 whole numbers"),
    ("nim", None, "this is not a valid action"),
    ("nim", {"heap": "big", "objects": 1}, "Expected `int`"),
    ("nim", {"fault": "timeout"}, "an action cannot be a fault"),
]


@pytest.mark.parametrize(("game", "action", "message"), REFUSED, ids=str)
def test_what_is_no_action_is_refused(game: str, action: Any, message: str) -> None:
    env = aec_env(game, **small(game))
    env.reset(seed=1)
    with pytest.raises(UsageError, match=f"player_0: .*{message}".replace("[", r"\[")):
        env.step(action)
    assert not any(env.terminations.values())
    env.step(choice(env))


def test_a_missing_action_is_refused() -> None:
    env = parallel_env("paint")
    env.reset(seed=1)
    with pytest.raises(UsageError, match="no action for player_1"):
        env.step({"player_0": 1})


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("chess", {}, "no game 'chess'"),
    ("paint", {"players": 1}, "2 to 10000 players, not 1"),
    ("paint", {"turns": 0}, "turns must be"),
    ("end-of-codes", {"M": "many"}, "M must be"),
    ("end-of-codes", {"W": 5}, "both W and H"),
    ("paint", {"bots": {"ann": "builtin:random"}}, "no agent 'ann'; choose one of player_0"),
    ("paint", {"bots": {"player_0": "bot.py"}}, "builtin:NAME, python:PATH.*not 'bot.py'"),
    ("paint", {"bots": {"player_0": "builtin:best"}}, "no strategy 'best'"),
    ("paint", {"bots": dict.fromkeys(("player_0", "player_1"), "builtin:still")}, "leave one"),
    ("paint", {"render_mode": "human"}, "render_mode is ansi, rgb_array or None"),
]


@pytest.mark.parametrize("make", [aec_env, parallel_env])
@pytest.mark.parametrize(("game", "arguments", "message"), WRONG, ids=str)
def test_what_makes_no_game_is_refused(
    make: Callable[..., Any], game: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        make(game, **arguments)


@pytest.mark.parametrize("game", [*GAMES, "nim"])
def test_the_board_is_drawn(game: str) -> None:
    env = aec_env(game, render_mode="ansi", **small(game))
    env.reset(seed=1)
    env.action_space("player_0").seed(1)
    boards: set[str | None] = set()
    while env.agents and len(boards) < 3:
        boards.add(env.render())
        env.step(choice(env))
    assert len(boards) > 1
    assert all(boards)


def test_without_a_mode_nothing_is_drawn() -> None:
    env = parallel_env("paint")
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="ansi"):
        assert env.render() is None


def test_sizes_of_end_of_codes_do_not_follow_from_the_seed() -> None:
    env = aec_env("end-of-codes", players=3)
    shapes = set()
    for seed in range(5):
        env.reset(seed=seed)
        observation = env.observe("player_2")
        assert env.observation_space("player_2").contains(observation)
        shapes.add((observation["observation"].shape, observation["action_mask"].shape))
    assert shapes == {((11, 11, 3), (90,))}
    larger = aec_env("end-of-codes", M=20, MAX_HP=9)
    larger.reset(seed=1)
    assert larger.observe("player_0")["observation"][:, :, 1].max() == 9


@pytest.mark.parametrize("values", [2, 5])
def test_masks_are_sampled_evenly_and_never_left(values: int) -> None:
    space = MaskedNumbers(3, values)
    space.seed(1)
    mask = np.ones((3, values), np.int8)
    mask[1] = 0
    mask[2, :-1] = 0
    samples = np.array([space.sample(mask.reshape(-1)) for _ in range(400)])
    assert set(samples[:, 1]) == {0}
    assert set(samples[:, 2]) == {values - 1}
    counts = np.bincount(samples[:, 0], minlength=values)
    assert counts.min() > 200 / values
    assert space.contains(space.sample())
    assert space.contains(space.sample(tuple(mask)))


def test_a_legal_action_of_a_game_without_arrays_is_known() -> None:
    env = aec_env("nim")
    env.reset(seed=1)
    heaps = env.observe("player_0")["view"]["heaps"]
    own, other = env.action_space("player_0"), env.action_space("player_1")
    assert own.contains({"heap": 0, "objects": heaps[0]})
    for wrong in ({"heap": 0, "objects": heaps[0] + 1}, {"heap": 0}, None, 3, "x"):
        assert not own.contains(wrong)
    assert other.sample() is None
    assert other.contains(None)
    assert not other.contains({"heap": 0, "objects": 1})
    assert env.observation_space("player_0").contains(env.observation_space("player_0").sample())
    assert not env.observation_space("player_0").contains({"view": {1, 2}})


WITHOUT = """
import sys
sys.modules["pettingzoo"] = None
import cw.cli, cw.web, cw.matches.run
from cw.cli import main
from cw.games.registry import load_spaces
assert load_spaces("paint") is not None
try:
    import cw.envs
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.thorough
def test_without_the_extra_all_else_works_and_it_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "cw.envs needs pettingzoo: in the repository, pip install -e '.[envs]'\n"


@pytest.mark.parametrize("game", GAMES)
def test_the_page_names_all_planes(game: str) -> None:
    spaces = load_spaces(game)
    assert spaces is not None
    page = (DOCS / "envs.md").read_text("utf-8")
    planes = "; ".join(spaces.planes).replace("; border drawn: ", ", ")
    assert f"| {planes} |" in page


def run(name: str, *changes: tuple[str, str]) -> str:
    """Run a program of the page; return what it prints."""
    text = programs("envs.md")[name]
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_programs_of_the_page_run() -> None:
    assert sorted(line.split()[0] for line in run("first.py").splitlines()) == [
        "player_0",
        "player_1",
    ]
    assert run("together.py").startswith("{'player_0': ")
    reward, shape = run("alone.py").split(" ", 1)
    assert -1 <= float(reward) <= 1
    assert shape == "(992, 992, 3)\n"


@pytest.mark.thorough
def test_the_program_of_the_page_learns() -> None:
    output = run("learn.py", ("GAMES = 2000", "GAMES = 400"))
    before, after = (int(line.split()[1].rstrip("%")) for line in output.splitlines())
    assert before < 65
    assert after > 80
