"""Matches played by the jobs, with real bots: results, replays, and what goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from cw.arena.bots import BotSpec
from cw.errors import Failure
from cw.games.registry import load_game
from cw.matches.run import run_match
from cw.matches.spec import MatchSpec
from cw.replays.document import decode, encode, public_replay, unpacked
from cw.replays.verify import verify
from cw_hub.bots.addresses import ClaimedSeat
from cw_hub.matches import jobs as matches_jobs
from cw_hub.matches import planning, results
from cw_hub.matches.jobs import Attempt, Worker
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.stored_replays import own_key, replay_key, viewed_key
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, open_resources
from cw_hub.operation.settings import HubSettings
from cw_hub.players.players import Play
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Battle, Match, MatchParticipant
from cw_hub.store.objects import StoreAway, file_at
from cw_hub.store.sealing import new_master_key

ME = Worker("me", 1, MATCH_TYPES)


def planned(resources: Resources, game: str = "hexagon", *bots: str, **options: Any) -> int:
    bots = bots or ("random", "greedy")
    seats = tuple(Seat(f"bot{slot}", spec=f"builtin:{bot}") for slot, bot in enumerate(bots))
    with resources.database.writing() as session:
        return planning.plan(session, Plan("practice", "k", game, seats, options))


def row(resources: Resources, match: int) -> Match:
    with resources.database.reading() as session:
        return session.scalars(select(Match).where(Match.id == match)).one()


def battles(resources: Resources) -> list[Battle]:
    with resources.database.reading() as session:
        return list(session.scalars(select(Battle)))


def test_a_match_is_played_once_and_its_replay_proven(resources: Resources) -> None:
    match = planned(resources)
    ME.play(resources, match)
    ME.play(resources, match)
    played = row(resources, match)
    assert (played.state, played.attempt, played.troubles) == ("done", 1, 0)
    (battle,) = battles(resources)
    assert battle.replay_key == f"replays/2026/11/{played.match_id}.json.gz"
    data = resources.objects.get(battle.replay_key)
    assert data is not None
    assert len(data) == battle.bytes
    document = decode(data)
    assert verify(load_game("hexagon"), document) is None
    assert [player["bot"] for player in document["players"]] == ["builtin:random", "builtin:greedy"]
    assert [player["name"] for player in document["players"]] == ["bot0", "bot1"]
    assert all(turn["ms"] == {} for turn in document["turns"])
    assert document["seed"] == played.seed
    assert len(document["turns"]) == battle.turns == played.turn
    with resources.database.reading() as session:
        seats = session.scalars(select(MatchParticipant).order_by(MatchParticipant.slot)).all()
    assert [seat.rank for seat in seats] == battle.ranks
    assert seats[0].stats["answers"] > 0


def test_a_game_with_a_shorthand_is_one_object_that_gives_both_formats(
    resources: Resources,
) -> None:
    ME.play(resources, planned(resources, "code-battle", "rusher", "random", max_turns=5))
    (battle,) = battles(resources)
    assert battle.replay_key is not None
    assert [*resources.objects.keys("replays")] == [battle.replay_key]
    assert len(resources.objects.get(battle.replay_key) or b"") == battle.bytes
    own = msgspec.json.decode(
        unpacked(file_at(resources.objects, own_key(battle.replay_key)) or b"")
    )
    assert len(own["turns"]) == 5
    data = file_at(resources.objects, viewed_key("code-battle", battle.replay_key))
    assert data is not None
    assert verify(load_game("code-battle"), decode(data)) is None
    assert own["match_id"] in battle.replay_key
    assert own["players"][0]["bot_id"] == decode(data)["players"][0]["bot"]


def test_a_bot_that_nobody_reaches_loses_and_no_replay_names_its_address(
    resources: Resources,
) -> None:
    seats = (Seat("absent", spec="http://127.0.0.1:9"), Seat("here", spec="builtin:random"))
    plan = Plan("practice", "k", "code-battle", seats, {"max_turns": 12})
    with resources.database.writing() as session:
        match = planning.plan(session, plan)
    with resources.database.writing() as session:
        claim = results.claim(session, match, "me", timedelta(seconds=60))
    assert claim is not None
    secret = resources.sealer.seal(b"hush-hush", "b_00000001.1")
    seat = replace(claim.seats[0], bot_id="b_00000001", secret=secret, secret_row="b_00000001.1")
    Attempt(resources, replace(claim, seats=(seat, claim.seats[1])), MATCH_TYPES).run()
    assert row(resources, match).state == "done"
    with resources.database.reading() as session:
        absent = session.scalars(select(MatchParticipant).where(MatchParticipant.slot == 0)).one()
    assert absent.faults
    assert absent.crashed
    for key in resources.objects.keys("replays"):
        text = unpacked(resources.objects.get(key) or b"")
        for hidden in (b"localhost", b"127.0.0.1", b"hush-hush"):
            assert hidden not in text, key


def test_a_replay_keeps_kinds_of_faults_and_no_sentence() -> None:
    document = {
        "version": 1,
        "rules": 1,
        "game": "hexagon",
        "options": {},
        "seed": 1,
        "start": {},
        "result": {},
        "players": [{"player": 0, "name": "a", "bot": "http://10.0.0.1"}],
        "turns": [{"actions": {"0": {"fault": "crashed", "error": "10.0.0.1"}}, "ms": {"0": 1.5}}],
        "faults": [{"turn": 1, "player": 0, "kind": "crashed", "detail": "10.0.0.1"}],
    }
    public = public_replay(document, ["b_00000001"])
    assert "10.0.0.1" not in str(public)
    assert public["faults"] == [{"turn": 1, "player": 0, "kind": "crashed", "detail": ""}]
    assert public["turns"] == [{"actions": {"0": {"fault": "crashed"}}, "ms": {}}]
    assert document["players"][0]["bot"] == "http://10.0.0.1"  # type: ignore[index]


def test_no_frame_of_a_replay_tells_the_sentence_of_a_fault() -> None:
    bots = (BotSpec("a", "builtin", "greedy"), BotSpec("b", "http", "http://127.0.0.1:9"))
    result = asyncio.run(run_match(MatchSpec("m", "hexagon", bots, 7, {"size": 3})))
    assert "127.0.0.1:9" in str(result.replay["turns"][-1]["frame"])
    public = public_replay(result.replay, ["builtin:greedy", "b_00000001"])
    assert "127.0.0.1" not in str(public)
    assert verify(load_game("hexagon"), decode(encode(public, packed=False))) is None


def test_every_attempt_and_battle_has_a_key_of_its_own() -> None:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    assert replay_key("m_1", at, 1) == "replays/2026/01/m_1.json.gz"
    assert replay_key("m_1", at, 3, 2) == "replays/2026/01/m_1-b2-3.json.gz"


def test_a_fault_of_ours_is_a_trouble(resources: Resources) -> None:
    match = planned(resources, "hexagon", "random", "no-such-strategy")
    ME.play(resources, match)
    troubled = row(resources, match)
    assert (troubled.state, troubled.troubles) == ("interrupted", 1)
    assert (troubled.reason or "").startswith("hexagon has no strategy")


def test_a_replay_of_another_time_stays_and_the_next_attempt_has_a_key_of_its_own(
    resources: Resources,
) -> None:
    """As after a restore beside a store that is older."""
    match = planned(resources)
    key = f"replays/2026/11/{row(resources, match).match_id}.json.gz"
    resources.objects.put_new(key, b"of another time")
    ME.play(resources, match)
    assert row(resources, match).reason == f"{key} is already in the store"[:40]
    with resources.database.writing() as session:
        results.requeue(session)
    ME.play(resources, match)
    assert (row(resources, match).state, row(resources, match).troubles) == ("done", 1)
    (battle,) = battles(resources)
    assert battle.replay_key == key.replace(".json", "-2.json")
    assert resources.objects.get(key) == b"of another time"


def test_a_service_without_a_secret_is_absent_where_requests_are_signed() -> None:
    seat = ClaimedSeat("a", "http://127.0.0.1:9", "b_1")
    assert matches_jobs.bot_of(seat, "m_1", is_signed=True) == BotSpec(
        "a", "absent", "no secret yet"
    )
    assert matches_jobs.bot_of(seat, "m_1", is_signed=False).kind == "http"


@pytest.mark.parametrize(
    "address", ["http://bot.example:0", "http://[x]", "http://bötchen.example"]
)
def test_a_service_at_an_impossible_address_is_absent_and_its_match_is_played(address: str) -> None:
    seat = ClaimedSeat("a", address, "b_1")
    absent = BotSpec("a", "absent", "its address cannot be that of a server")
    assert matches_jobs.bot_of(seat, "m_1", is_signed=False) == absent


def test_a_match_that_was_taken_away_stops_and_leaves_nothing(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = planned(resources, "code-battle", "hunter", "swarm", "rusher", max_turns=1000)
    follow = Attempt.follow

    def taken_away(attempt: Attempt, play: Play) -> Any:
        with resources.database.writing() as session:
            results.interrupt_all_of(session, "me", "stopped")
        return follow(attempt, play)

    monkeypatch.setattr(Attempt, "follow", taken_away)
    monkeypatch.setattr(matches_jobs, "RENEWED", 0.01)
    ME.play(resources, match)
    assert row(resources, match).state == "interrupted"
    assert battles(resources) == []


def test_a_result_that_comes_too_late_leaves_no_object(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = planned(resources)
    end = Attempt.end

    def late(attempt: Attempt, battle: Any) -> None:
        assert [*resources.objects.keys("replays")]
        with resources.database.writing() as session:
            results.interrupt_all_of(session, "me", "stopped")
        end(attempt, battle)

    monkeypatch.setattr(Attempt, "end", late)
    ME.play(resources, match)
    assert row(resources, match).state == "interrupted"
    assert [*resources.objects.keys("replays")] == []


def test_a_store_that_is_away_interrupts_and_is_no_trouble(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    class AwayStore:
        tries = 0

        def put_new(self, key: str, data: bytes) -> bool:
            self.tries += 1
            raise StoreAway("the object store does not answer")

        def delete(self, key: str) -> None:
            raise StoreAway("the object store does not answer")

    assert matches_jobs.PAUSES == (1, 4, 16)
    store = AwayStore()
    monkeypatch.setattr(matches_jobs, "PAUSES", (0.001, 0.004, 0.016))
    match = planned(resources)
    ME.play(replace(resources, objects=store), match)  # type: ignore[arg-type]
    match_row = row(resources, match)
    assert (match_row.state, match_row.troubles) == ("interrupted", 0)
    assert store.tries == 4


def test_a_commit_whose_answer_was_lost_counts_once(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = planned(resources)
    database, writing = type(resources.database), type(resources.database).writing
    lost: list[bool] = []

    @contextmanager
    def losing(self: Any) -> Iterator[Any]:
        with writing(self) as session:
            yield session
        if row(resources, match).state == "done" and not lost:
            lost.append(True)
            raise OperationalError("COMMIT", {}, ConnectionResetError())

    monkeypatch.setattr(database, "writing", losing)
    ME.play(resources, match)
    assert lost
    assert row(resources, match).state == "done"
    assert len(battles(resources)) == 1
    assert len([*resources.objects.keys("replays")]) == 1


def test_a_message_waits_while_the_database_is_away(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = planned(resources)
    claim = results.claim
    tries: list[int] = []

    def away_at_first(*arguments: Any) -> Any:
        tries.append(1)
        if len(tries) < 4:
            raise OperationalError("UPDATE", {}, ConnectionResetError())
        return claim(*arguments)

    monkeypatch.setattr(matches_jobs, "AWAY_PAUSE", 0.0)
    monkeypatch.setattr(results, "claim", away_at_first)
    ME.play(resources, match)
    assert len(tries) == 4
    assert row(resources, match).state == "done"


def test_a_database_that_does_not_answer_is_said_in_a_sentence(tmp_path: Path) -> None:
    url = "postgresql://postgres@127.0.0.1:9/x"
    keys = new_master_key()
    settings = HubSettings(data=tmp_path, database_url=url, master_keys=keys, secret_key="0" * 64)
    with pytest.raises(Failure, match="the database does not answer"):
        open_resources(settings, CeleryQueue(settings))


def test_a_match_of_a_game_that_is_not_installed_is_left_to_others(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = planned(resources)
    with resources.database.writing() as session:
        assert [message.id for message in planning.to_send(session)] == [match]
    with monkeypatch.context() as without_games:
        without_games.setattr(planning, "game_entries", dict)
        ME.play(resources, match)
    left = row(resources, match)
    assert (left.state, left.attempt, left.worker, left.sent_at) == ("queued", 0, None, None)
    ME.play(resources, match)
    assert row(resources, match).state == "done"
