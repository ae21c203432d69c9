"""Messages that nobody of the hub has sent: dropped and counted, and those after them are read."""

from __future__ import annotations

import json
import os
import subprocess
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest
from redis import Redis

from cw_hub.operation import heartbeats
from cw_hub.operation import queue as operation_queue
from cw_hub.operation.heartbeats import Counts
from cw_hub.operation.queue import CeleryQueue, JobTaker
from cw_hub.operation.resources import Resources, Threads
from cw_hub.store.database import Database
from hub.tests.conftest import ON_SQLITE
from hub.tests.patience import PROGRAM
from hub.tests.services import new_redis

PATIENCE = 300.0
"""Seconds in which what is waited for must have come."""

KEY = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def body_of(content: Any) -> str:
    return b64encode(json.dumps(content).encode()).decode()


NOTHING_FOLLOWS = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}


def message(**changed: Any) -> dict[str, Any]:
    """Return a message as a hub sends it, but for what is changed."""
    return {
        "body": body_of([["play_match", 7], {}, NOTHING_FOLLOWS]),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"task": "cw.job", "id": "1", "lang": "py"},
        "properties": {
            "delivery_tag": "t1",
            "delivery_info": {"exchange": "", "routing_key": "jobs"},
            "body_encoding": "base64",
        },
    } | changed


UNREADABLE: list[Any] = [
    7,
    [],
    {},
    message(body="no base64!"),
    message(body=b64encode(b"{").decode()),
    message(body=b64encode(b"[" * 20_000).decode()),
    message(body="A" * 100_000),
    message(body=body_of([[], {}, NOTHING_FOLLOWS])),
    message(body=body_of([[["a", "list"]], {}, NOTHING_FOLLOWS])),
    message(body=body_of([["play_match"], {}, {"chain": [{"task": "cw.job"}]}])),
    message(**{"content-type": "application/x-python-serialize"}),
    message(headers=None),
    message(headers={"task": "another", "id": "1"}),
    message(headers={"task": "cw.job", "id": "1", "eta": 5}),
    message(properties={}),
    message(properties={**message()["properties"], "delivery_tag": None}),
]
BYTES = [
    b"",
    b"no JSON",
    b"\xff\xfe",
    b"[" * 100_000,
    *(json.dumps(m).encode() for m in UNREADABLE),
]
"""What is pushed into a queue."""


HOSTILE = {
    **message()["headers"],
    "timelimit": ["a", "b"],
    "shadow": [],
    "stamps": 7,
    "stamped_headers": [1],
    "group": {},
}
"""Headers that Celery would read, and a hub never sends."""


def test_what_the_hub_sends_is_read() -> None:
    assert operation_queue.read(message())["body"] == message()["body"]


def test_no_other_header_is_passed_on_to_celery() -> None:
    headers = operation_queue.read(message(headers=HOSTILE | {"request_id": "abc"}))["headers"]
    assert {name for name, value in headers.items() if value} == {"task", "id", "request_id"}


@pytest.mark.parametrize("payload", UNREADABLE)
def test_what_the_hub_does_not_send_is_no_message(payload: Any) -> None:
    with pytest.raises((ValueError, RecursionError)) as refused:
        operation_queue.read(payload)
    assert isinstance(refused.value, (msgspec.DecodeError, ValueError, RecursionError))


@ON_SQLITE
def test_counts_are_written_down_once_and_kept_while_the_database_is_away(
    resources: Resources,
) -> None:
    mine, others = Counts(), Counts()
    for one in (mine, mine, others):
        one.add(heartbeats.UNREADABLE)
    away = replace_engine(resources)
    with pytest.raises(RuntimeError, match="away"):
        mine.write(away)
    for one in (mine, others, mine):
        one.write(resources.database)
    with resources.database.reading() as session:
        assert heartbeats.totals(session)[heartbeats.UNREADABLE] == 3
        assert heartbeats.totals(session)[heartbeats.ENDED] == 0


def replace_engine(resources: Resources) -> Any:
    """Return a database that is away."""

    class Away:
        def writing(self) -> None:
            raise RuntimeError("away")

    return Away()


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    with new_redis(tmp_path) as url:
        yield url


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.thorough
@ON_SQLITE
def test_messages_of_strangers_are_dropped_and_counted_and_the_next_ones_are_read(
    resources: Resources, redis_url: str
) -> None:
    settings = replace(resources.settings, broker_url=redis_url)
    ended: list[int] = []
    queue = CeleryQueue(settings)
    hub_resources = replace(
        resources, settings=settings, queue=queue, threads=Threads(ended.append)
    )
    done: list[int] = []
    taker = JobTaker(hub_resources, {"note": lambda _, number: done.append(number)})
    taker.work_in_thread("jobs@test", ["jobs"], 2)
    with closing(Redis.from_url(redis_url)) as redis:
        stale = json.dumps([{"no": "message"}, "", "jobs"])
        redis.hset("unacked", mapping={"a": b"no JSON", "b": stale, "c": b"7"})
        redis.zadd("unacked_index", dict.fromkeys("abc", 1.0))
        for number, data in enumerate(BYTES):
            redis.lpush("jobs", data)
            assert queue.send("note", number)
        until(lambda: len(done) == len(BYTES))
        assert sorted(done) == list(range(len(BYTES)))
        # One of those that were never finished is put back into the queue, and read once more.
        until(lambda: (redis.hlen("unacked"), redis.llen("jobs")) == (0, 0))

    def unreadable() -> int:
        taker.counts.write(hub_resources.database)
        with hub_resources.database.reading() as session:
            return heartbeats.totals(session)[heartbeats.UNREADABLE]

    # A message is counted after it has left the queue.
    until(lambda: unreadable() >= len(BYTES) + 3)
    assert unreadable() == len(BYTES) + 3
    assert (hub_resources.threads.ended, ended) == ([], [])


@pytest.mark.thorough
@ON_SQLITE
def test_a_thread_that_can_take_no_more_ends_its_process(
    resources: Resources, redis_url: str
) -> None:
    settings, ended = replace(resources.settings, broker_url=redis_url), Event()
    threads = Threads(lambda _code: ended.set())
    hub_resources = replace(resources, settings=settings, threads=threads)
    with closing(Redis.from_url(redis_url)) as redis:
        redis.set("jobs", "no list")
        JobTaker(hub_resources, {}).work_in_thread("jobs@test", ["jobs"], 1)
        assert ended.wait(PATIENCE)
    assert threads.ended == ["jobs@test"]


@pytest.mark.thorough
@pytest.mark.parametrize("role", ["worker", "scheduler"])
def test_a_process_that_can_take_no_more_messages_ends(
    role: str, postgresql_url: str, redis_url: str, tmp_path: Path
) -> None:
    environment = {
        **{name: text for name, text in os.environ.items() if not name.startswith("CW_")},
        "CW_DATA": str(tmp_path / "data"),
        "CW_DATABASE_URL": postgresql_url,
        "CW_BROKER_URL": redis_url,
        "CW_STORE_URL": "",
        "CW_MASTER_KEYS": KEY,
        "CW_SECRET_KEY": "0" * 64,
    }
    queue = "jobs" if role == "scheduler" else "rated"
    # Its last words, among them that it has ended, are waited for on a busy machine too.
    command = [*PROGRAM, "hub", role]
    with (
        closing(Redis.from_url(redis_url)) as redis,
        closing(Database(postgresql_url)) as database,
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process,
    ):
        try:
            body = body_of(
                [["sweep" if role == "scheduler" else "play_match", -2], {}, NOTHING_FOLLOWS]
            )
            redis.lpush(queue, json.dumps(message(body=body, headers=HOSTILE)), b"no JSON")
            until(lambda: (redis.llen(queue), redis.hlen("unacked")) == (0, 0))
            assert process.poll() is None
            redis.set(queue, "no list")
            _, log = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        with database.reading() as session:
            # Of several threads that meet the same, each may be counted before the process ends.
            assert heartbeats.totals(session)[heartbeats.ENDED] >= 1
    assert process.returncode == 1
    assert "cannot be read is dropped" in log
    assert "this process exits" in log
