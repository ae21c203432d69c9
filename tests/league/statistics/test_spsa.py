"""Numbers are moved to where a bot is strongest."""

from __future__ import annotations

from random import Random

import pytest

from cw.league.strength_tests import Tunable, gain, moved, reach, score_at, settled, start_of, trial

DEPTH = Tunable("depth", 8, 0, 20, 2, whole=True)
RATE = Tunable("rate", 2, 0, 10, 1)
NUMBERS = (RATE, DEPTH)
BEST = {"rate": 7, "depth": 14}


def lead(point: dict[str, float]) -> float:
    """Return the Elo of a bot with these numbers, whose best ones are known."""
    parts = (((point[n.name] - BEST[n.name]) / (n.high - n.low)) ** 2 for n in NUMBERS)
    return -600 * sum(parts)


def tuned(seed: int, steps: int, pairs: int) -> dict[str, float]:
    lots, points = Random(seed), [start_of(NUMBERS)]
    for step in range(1, steps + 1):
        sides = trial(NUMBERS, points[-1], step, seed)
        chance = score_at(lead(dict(sides.plus)) - lead(dict(sides.minus)))
        score = sum(lots.random() < chance for _ in range(2 * pairs)) / (2 * pairs)
        points.append(moved(NUMBERS, points[-1], sides.signs, score, gain(step, steps)))
    return settled(NUMBERS, points[1:])


def test_the_best_numbers_are_found_from_matches_alone() -> None:
    results = [tuned(seed, steps=100, pairs=4) for seed in range(40)]
    for number in NUMBERS:
        away = [abs(result[number.name] - BEST[number.name]) for result in results]
        begun = abs(number.start - BEST[number.name])
        assert sum(away) / len(away) < begun / 4
        assert sum(distance < begun for distance in away) >= 39
    assert all(lead(result) > lead(start_of(NUMBERS)) for result in results)


def test_both_sides_of_a_trial_are_as_far_from_the_point_and_differ_in_every_step() -> None:
    for step in (1, 10, 1000, 100_000):
        sides = trial(NUMBERS, {"rate": 5.0, "depth": 10.0}, step, seed=1)
        assert sides.plus["rate"] + sides.minus["rate"] == pytest.approx(10)
        assert abs(sides.plus["depth"] - sides.minus["depth"]) >= 1
        assert float(sides.plus["depth"]).is_integer()


def test_lots_depend_on_seed_and_step_and_fall_either_way() -> None:
    point = start_of(NUMBERS)
    signs = [tuple(trial(NUMBERS, point, step, 5).signs.values()) for step in range(1, 200)]
    assert set(signs) == {(1, 1), (1, -1), (-1, 1), (-1, -1)}
    assert signs == [tuple(trial(NUMBERS, point, step, 5).signs.values()) for step in range(1, 200)]
    assert signs != [tuple(trial(NUMBERS, point, step, 6).signs.values()) for step in range(1, 200)]


def test_numbers_follow_the_winner_and_stay_within_their_bounds() -> None:
    point = {"rate": 9.5, "depth": 10.0}
    assert moved(NUMBERS, point, {"rate": 1, "depth": -1}, 1.0, 1.0) == {"rate": 10, "depth": 8}
    assert moved(NUMBERS, point, {"rate": 1, "depth": -1}, 0.0, 0.5) == {"rate": 9, "depth": 11}
    assert moved(NUMBERS, point, {"rate": 1, "depth": -1}, 0.5, 1.0) == point
    edge = trial(NUMBERS, {"rate": 10.0, "depth": 20.0}, 1, seed=1)
    assert max(edge.plus["rate"], edge.minus["rate"]) == 10
    assert max(edge.plus["depth"], edge.minus["depth"]) == 20


def test_steps_and_moves_shrink_from_the_step_of_the_number() -> None:
    assert reach(RATE, 1) == 1
    assert gain(1, 100) == 1
    assert [reach(RATE, step) > reach(RATE, step + 1) for step in range(1, 50)] == [True] * 49
    assert gain(100, 100) < 0.5
    assert reach(Tunable("whole", 5, 0, 9, 1, whole=True), 10**6) == 0.5


def test_the_result_is_the_mean_of_the_last_half() -> None:
    points = [{"rate": float(value), "depth": float(value)} for value in (0, 0, 4, 5)]
    assert settled(NUMBERS, points) == {"rate": 4.5, "depth": 5}
    assert settled(NUMBERS, points[-1:]) == {"rate": 5, "depth": 5}
