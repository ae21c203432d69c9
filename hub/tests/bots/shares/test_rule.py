"""The rule by which places are shared: halves, turns, and that something may always begin."""

from __future__ import annotations

import random

import pytest

from cw_hub.bots.shares import Load, Use, refusal
from tests.effort import amount

ANN, BEN, CLEO = 1, 2, 3


def match(*accounts: int) -> Use:
    return Use("match", frozenset(accounts))


def run(account: int) -> Use:
    return Use("test", frozenset([account]))


def test_where_no_worker_reports_its_places_nothing_is_refused() -> None:
    load = Load(0, waiting=(match(BEN), run(BEN)), expects_matches=True)
    assert refusal(run(ANN), load) is None
    assert refusal(match(ANN), load, is_experiment=True) is None


@pytest.mark.parametrize("places", range(2, 9))
def test_tests_leave_half_of_the_places_to_matches_that_are_expected(places: int) -> None:
    running = tuple(run(10 + number) for number in range(places // 2))
    assert refusal(run(ANN), Load(places, running[1:], expects_matches=True)) is None
    assert refusal(run(ANN), Load(places, running, expects_matches=True)) == "kind"
    assert refusal(run(ANN), Load(places, running, waiting=(match(BEN),))) == "kind"
    assert refusal(run(ANN), Load(places, running)) is None
    assert refusal(match(ANN), Load(places, running, waiting=(run(BEN),))) is None


def test_matches_leave_the_other_half_to_tests_that_wait() -> None:
    running = (match(ANN, BEN), match(CLEO))
    assert refusal(match(CLEO), Load(4, running, waiting=(run(4),))) == "kind"
    assert refusal(match(CLEO), Load(4, running)) is None
    assert refusal(match(CLEO), Load(5, running, waiting=(run(4),))) is None


def test_an_account_uses_at_most_half_of_the_places_while_others_wait() -> None:
    running = (match(ANN, BEN), run(ANN))
    strangers = Load(4, running, waiting=(match(CLEO),))
    assert refusal(match(ANN), strangers) == "account"
    assert refusal(match(ANN, BEN), strangers) == "account"
    assert refusal(match(BEN), strangers) is None
    assert refusal(match(ANN), Load(4, running, waiting=(match(ANN, CLEO),))) is None
    assert refusal(match(ANN), Load(4, running)) is None


def test_with_one_place_kinds_and_accounts_take_turns() -> None:
    after_match = Load(1, waiting=(run(BEN), match(ANN)), expects_matches=True, last=match(ANN))
    assert refusal(match(ANN), after_match) == "kind"
    assert refusal(run(BEN), after_match) is None
    after_run = Load(1, waiting=(run(BEN), match(ANN)), expects_matches=True, last=run(CLEO))
    assert refusal(run(BEN), after_run) == "kind"
    assert refusal(match(ANN), after_run) is None
    own = Load(1, waiting=(match(ANN), match(BEN)), last=match(ANN))
    assert refusal(match(ANN), own) == "account"
    assert refusal(match(BEN), own) is None
    assert refusal(run(ANN), Load(1, expects_matches=True, last=run(ANN))) is None


def test_experiments_begin_while_nothing_else_waits() -> None:
    assert refusal(run(ANN), Load(4, waiting=(match(BEN),)), is_experiment=True) == "idle"
    assert refusal(run(ANN), Load(4, waiting=(run(BEN),)), is_experiment=True) == "idle"
    assert refusal(run(ANN), Load(4), is_experiment=True) is None


def test_what_is_tried_last_begins_where_a_place_is_free() -> None:
    """Who is refused gives up its message: so no place stays free for ever, whatever waits."""
    for _ in range(amount(300, 20_000)):
        places = random.randint(1, 6)
        running = [anything() for _ in range(random.randint(0, places - 1))]
        waiting = [anything() for _ in range(random.randint(1, 6))]
        last = random.choice([None, anything()])
        while waiting:
            wanted = waiting[0]
            load = Load(places, running, waiting, last=last)
            if refusal(wanted, load) is None:
                break
            waiting.pop(0)
        assert waiting, (places, running, last)


def test_half_of_the_places_stay_with_matches_whoever_asks_for_what() -> None:
    """Everybody always wants more: neither kind nor any account gets more than its share."""
    for _ in range(amount(30, 1000)):
        places = random.randint(2, 6)
        waiting = [run(account) for account in range(4)] + [match(account) for account in range(4)]
        running: list[Use] = []
        for _ in range(200):
            wanted = random.choice(waiting)
            load = Load(places, running, waiting, expects_matches=True)
            if len(running) < places and refusal(wanted, load) is None:
                running.append(wanted)
            elif running:
                running.pop(random.randrange(len(running)))
            after = Load(places, running)
            assert after.used("test") <= places // 2
            assert after.used("match") <= places - places // 2
            assert all(after.used_by(account) <= places // 2 for account in range(4))


def anything() -> Use:
    if random.random() < 0.5:
        return run(random.randint(1, 3))
    return match(*random.sample((1, 2, 3), random.randint(0, 2)))
