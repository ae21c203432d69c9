"""Places of matches that pages begin: who has how many, what waits, and what makes way for what."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from cw.web.live_matches import MOST_WAITING, MOST_WAITING_OF_ONE, UNMOVED, UNWATCHED
from tests.fixtures import FakeClock
from tests.web.live.live_pages import AGAINST_RANDOM, TWO, Served, begin, ended, part, wait_for_turn


def test_a_match_that_nobody_looks_at_makes_way(served: Served, clock: FakeClock) -> None:
    client = served(matches=1)
    first = begin(client, "hexagon", AGAINST_RANDOM)
    second = begin(client, "hexagon", AGAINST_RANDOM)
    assert place_of(client, second) == 1
    clock.advance(UNWATCHED)
    wait_for_turn(client, second)
    assert "aborted: the server needed its place" in ended(client, first)["live"]["trouble"]


def from_address(client: FlaskClient, address: str) -> FlaskClient:
    """Return a client of the same server at another address."""
    other = client.application.test_client()
    other.environ_base["REMOTE_ADDR"] = address
    return other


def place_of(client: FlaskClient, address: str) -> int:
    """Return the place of a match in the queue, 0 if it does not wait."""
    document = client.get(part(address, "document")).get_json()
    place = re.search(r"number (\d+) in the queue", document.get("waiting", ""))
    return int(place[1]) if place else 0


def test_one_visitor_has_a_third_of_the_places_and_others_do_not_wait(served: Served) -> None:
    ann = served(matches=6)
    bob = from_address(ann, "10.0.0.2")
    matches = [begin(ann, "hexagon", AGAINST_RANDOM) for _ in range(4)]
    assert [place_of(ann, match) for match in matches] == [0, 0, 1, 2]
    of_bob = begin(bob, "hexagon", AGAINST_RANDOM)
    assert place_of(bob, of_bob) == 0
    wait_for_turn(bob, of_bob)
    ann.post(part(matches[0], "resign"))
    ended(ann, matches[0])
    wait_for_turn(ann, matches[2])
    assert [place_of(ann, match) for match in matches[1:]] == [0, 0, 1]


def test_who_lets_too_many_matches_wait_is_refused_and_others_are_not(served: Served) -> None:
    ann = served(matches=1)
    matches = [begin(ann, "hexagon", AGAINST_RANDOM) for _ in range(1 + MOST_WAITING_OF_ONE)]
    answer = ann.post("/games/hexagon/matches", data=AGAINST_RANDOM)
    assert answer.status_code == 429
    assert "matches of yours are waiting" in answer.text
    bob = from_address(ann, "10.0.0.2")
    assert place_of(bob, begin(bob, "hexagon", AGAINST_RANDOM)) == len(matches)
    ann.post(part(matches[-1], "resign"))
    assert ended_early(ann, matches[-1])
    begin(ann, "hexagon", AGAINST_RANDOM)


def ended_early(client: FlaskClient, address: str) -> bool:
    """Return whether a match was over before it began."""
    answer = client.get(part(address, "document"))
    return answer.status_code == 202 and answer.get_json()["over"]


def test_the_queue_is_bounded_and_who_looks_away_leaves_it(
    served: Served, clock: FakeClock
) -> None:
    clients = [served(matches=1)]
    clients += [from_address(clients[0], f"10.0.0.{number}") for number in range(MOST_WAITING)]
    matches = [begin(client, "hexagon", AGAINST_RANDOM) for client in clients]
    late = from_address(clients[0], "10.0.1.1")
    assert late.post("/games/hexagon/matches", data=AGAINST_RANDOM).status_code == 503
    clock.advance(UNWATCHED - 1)
    wait_for_turn(clients[0], matches[0])
    assert place_of(clients[-1], matches[-1]) == MOST_WAITING
    clock.advance(1)
    begin(late, "hexagon", AGAINST_RANDOM)
    assert ended_early(clients[1], matches[1])
    assert place_of(clients[-1], matches[-1]) == 1


def test_a_person_who_does_not_move_makes_way_however_long_the_page_is_open(
    served: Served, clock: FakeClock
) -> None:
    ann = served(matches=1)
    bob = from_address(ann, "10.0.0.2")
    first, second = (begin(one, "hexagon", AGAINST_RANDOM) for one in (ann, bob))
    for _ in range(round(UNMOVED / 50)):
        wait_for_turn(ann, first)
        assert place_of(bob, second) == 1
        clock.advance(50)
        ann.get(part(first, "document"))
    wait_for_turn(bob, second)
    assert ended(ann, first)["live"]["trouble"]


def test_whose_matches_are_kept_most_are_forgotten_first(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cw.web.live_matches.CAPACITY", 3)
    ann = served()
    bob = from_address(ann, "10.0.0.2")
    of_bob = begin(bob, "hexagon", TWO | {"size": "3"})
    ended(bob, of_bob)
    for _ in range(4):
        ended(ann, begin(ann, "hexagon", TWO | {"size": "3"}))
    assert bob.get(of_bob).status_code == 200


def test_the_owner_may_have_all_places(served: Served) -> None:
    client = served(matches=3, owner=True)
    matches = [begin(client, "hexagon", AGAINST_RANDOM) for _ in range(3)]
    assert [place_of(client, match) for match in matches] == [0, 0, 0]


def test_old_matches_are_forgotten(
    served: Served, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cw.web.live_matches.CAPACITY", 2)
    client = served()
    addresses = []
    for _ in range(3):
        addresses.append(begin(client, "hexagon", TWO | {"size": "3"}))
        ended(client, addresses[-1])
    assert [client.get(address).status_code for address in addresses] == [404, 200, 200]
