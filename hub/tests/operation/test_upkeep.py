"""The upkeep of a day: replays that are too old, strays, and pictures of nobody."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select

from cw_hub.accounts.avatars import key_of
from cw_hub.competitions import service as competitions_service
from cw_hub.context import utc_now
from cw_hub.matches import lookup
from cw_hub.matches.stored_replays import STRONGEST, objects_of, replay_key
from cw_hub.operation import heartbeats
from cw_hub.operation.resources import Resources
from cw_hub.operation.scheduler import Daily
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import keep_in_order
from cw_hub.store.database import Session
from cw_hub.store.models import Battle, Competition, Match, MatchParticipant, User
from hub.tests.conftest import StillClock
from hub.tests.sites import by_clock

NOW = datetime(2026, 11, 20, 18, tzinfo=UTC)
A_DAY = 4
"""Rated matches of each day: 120 and more a month."""


def add_match(session: Session, kind: str, number: int, at: datetime, **more: object) -> str:
    """Add a match that was played at a moment; return the key of its replay."""
    match_id = f"m_{ord(kind[0]):02x}{number:06x}"
    key = replay_key(match_id, at, 1)
    match = Match(
        match_id=match_id,
        kind=kind,
        key=f"{number}",
        game="code-battle",
        players=2,
        seed=1,
        state="done",
        attempt=1,
        at=at,
        finished_at=at,
        **more,
    )
    session.add(match)
    session.flush()
    battle = Battle(
        match_id=match.id,
        number=1,
        first_slot=0,
        reason="turn_limit",
        ranks=[],
        scores=[],
        turns=5,
        replay_key=key,
        started_at=at,
        ended_at=at,
    )
    session.add(battle)
    return key


def store(resources: Resources, *keys: str) -> None:
    """Store the objects of some replays."""
    for key in keys:
        for one in objects_of(key):
            resources.objects.put_new(one, b"")


def replays(resources: Resources) -> set[str]:
    return {key for key in resources.objects.keys("replays") if ".cw." not in key}


@pytest.mark.thorough
def test_of_a_year_the_last_days_and_the_strongest_of_each_month_are_left(
    resources: Resources, hub_clock: StillClock
) -> None:
    with resources.database.writing() as session:
        rated = Competition(
            slug="code-battle", game="code-battle", format="rated", title="T", seed=1
        )
        rated.created_at = NOW
        session.add(rated)
        session.flush()
        competition = rated.id
        keys, survivors, levels = [], set(), defaultdict[str, list[tuple[float, int, str]]](list)
        for number in range(365 * A_DAY):
            at = NOW - timedelta(days=365) + timedelta(days=1) * number / A_DAY
            level = float(number * 7919 % 1000)
            key = add_match(session, "rated", number, at, level=level, competition_id=competition)
            levels[f"{at:%Y/%m}"].append((-level, number, key))
            others = {}
            if number % 40 == 0:
                others["practice"] = add_match(session, "practice", number, at)
                others["daily"] = add_match(session, "daily", number, at)
                survivors.add(others["daily"])
            keys += [key, *others.values()]
            if NOW - at <= timedelta(days=90):
                survivors |= {key, *others.values()}
    for of_month in levels.values():
        survivors |= {key for _, _, key in sorted(of_month)[:STRONGEST]}
    store(resources, *keys)
    for _ in range(2):
        keep_in_order(resources)
        assert replays(resources) == survivors
    with resources.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Match)) == len(keys)
        pruned = select(func.count()).select_from(Battle).where(Battle.pruned_at.is_not(None))
        assert session.scalar(pruned) == len(keys) - len(survivors)
        gone = session.scalars(
            select(Match.match_id).join(Battle).where(Battle.pruned_at.is_not(None))
        )
        view = lookup.find(session, MATCH_TYPES, gone.first() or "")
    assert view is not None
    assert view.replay_key is None


def test_challenges_and_matches_with_a_crash_stay_longer(resources: Resources) -> None:
    days = {"new": 89, "old": 91, "last": 364, "gone": 366}
    keys: dict[str, str] = {}
    with resources.database.writing() as session:
        for number, (word, age) in enumerate(days.items()):
            at = NOW - timedelta(days=age)
            for offset, kind in enumerate(("challenge", "practice", "practice")):
                key = add_match(session, kind, 10 * number + offset, at)
                keys[f"{word} {kind} {offset}"] = key
                (match,) = session.scalars(
                    select(Match.id).where(Match.key == f"{10 * number + offset}")
                )
                session.add(MatchParticipant(match_id=match, slot=0, name="x", crashed=offset == 2))
    store(resources, *keys.values())
    then = by_clock(resources, lambda: NOW)
    for _ in range(2):
        keep_in_order(then)
        left = {word for word, key in keys.items() if key in replays(resources)}
        long = {
            f"{word} {name}"
            for word in ("new", "old", "last")
            for name in ("challenge 0", "practice 2")
        }
        assert left == {*long, "new practice 1"}
    short = replace(resources.settings, replay_days=30, replay_days_long=1)
    keep_in_order(replace(then, settings=short))
    assert replays(resources) == set()


def test_objects_that_no_match_names_go_after_two_days(resources: Resources) -> None:
    now = utc_now()
    with resources.database.writing() as session:
        survivors = add_match(session, "daily", 1, now)
    store(resources, survivors)
    stray = survivors.replace(".json.gz", "-2.json.gz")
    for key in (*objects_of(stray), "replays/2026/11/m_ffffffff.json.gz"):
        resources.objects.put_new(key, b"")
    keep_in_order(by_clock(resources, lambda: now + timedelta(days=1)))
    assert len([*resources.objects.keys("replays")]) == 5
    keep_in_order(by_clock(resources, lambda: now + timedelta(days=3)))
    assert set(resources.objects.keys("replays")) == {*objects_of(survivors)}


def test_what_replays_take_is_summed_once_a_day(resources: Resources) -> None:
    with resources.database.writing() as session:
        for number, size in enumerate((1000, 234)):
            add_match(session, "rated", number, utc_now())
            session.flush()
            last = session.scalars(select(Battle).order_by(Battle.match_id.desc())).first()
            assert last is not None
            last.bytes = size
        assert heartbeats.value_of(session, heartbeats.REPLAY_BYTES) is None
    keep_in_order(resources)
    keep_in_order(resources)
    with resources.database.reading() as session:
        assert heartbeats.value_of(session, heartbeats.REPLAY_BYTES) == 1234


def test_pictures_of_nobody_go(resources: Resources) -> None:
    with resources.database.writing() as session:
        for name in ("shown", "alike"):
            session.add(User(username=name, username_key=name, avatar="a" * 64, created_at=NOW))
        cup = competitions_service.new(session, "cup", "paint")
        competitions_service.set_picture(session, cup.id, "c" * 64)
    for digest in ("a" * 64, "b" * 64, "c" * 64):
        resources.objects.put_new(key_of(digest), b"")
    keep_in_order(by_clock(resources, lambda: utc_now() + timedelta(days=3)))
    assert {*resources.objects.keys("avatars")} == {key_of("a" * 64), key_of("c" * 64)}


def test_it_is_done_at_the_start_and_once_for_each_day(
    resources: Resources, hub_clock: StillClock
) -> None:
    done: list[datetime] = []

    def note(resources: Resources) -> int:
        done.append(resources.clock())
        return 0

    daily, hub_clock.now = Daily({"notes": note}), datetime(2026, 11, 20, 2, 59, tzinfo=UTC)
    for seconds in (0, 30, 30, 3600, 86_400 - 3600, 60):
        hub_clock.advance(seconds)
        daily.do(resources)
    assert [f"{at:%d %H:%M}" for at in done] == ["20 02:59", "20 03:00", "21 03:00"]
