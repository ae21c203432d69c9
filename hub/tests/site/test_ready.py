"""Whether a process can do its work, told at `/ready`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from unittest.mock import patch

import pytest

from cw.server.wsgi import listen, serving
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources
from cw_hub.site import monitoring
from cw_hub.site.application import create_hub
from cw_hub.store.database import Database
from cw_hub.store.objects import ObjectStore
from hub.tests.services import new_redis, new_swift
from hub.tests.sites import Site, Visitor


@contextmanager
def served(resources: Resources) -> Iterator[Visitor]:
    with serving(create_hub(resources), listen("127.0.0.1", 0)) as address:
        yield Visitor(address)


def asked(visitor: Visitor, path: str = "/ready") -> tuple[int, str]:
    answer = visitor.open(path)
    return answer.status_code, answer.text.strip()


def asked_all(visitor: Visitor) -> tuple[int, str]:
    return asked(visitor, "/ready?full=1")


def test_a_site_that_has_all_it_needs_is_ready(site: Site) -> None:
    assert asked(site.visitor()) == asked_all(site.visitor()) == (200, "ready")


def test_a_database_that_is_away_or_old_is_named(resources: Resources, tmp_path: Path) -> None:
    away = Database("postgresql://postgres@127.0.0.1:9/x")
    with served(replace(resources, database=away)) as visitor:
        assert asked_all(visitor) == (503, "no answer: database, migrations")
        assert asked(visitor) == (200, "ready")
    with served(resources) as visitor, patch.object(monitoring, "head", return_value="9999"):
        assert asked(visitor) == asked_all(visitor) == (503, "no answer: migrations")


def test_a_process_of_which_a_thread_has_ended_is_not_ready(site: Site) -> None:
    site.resources.threads.ended.append("jobs")
    assert asked(site.visitor()) == (503, "no answer: threads")


def test_whoever_asks_often_costs_nothing_more(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitoring, "READY_FRESH", 3600.0)
    asked_for: list[str] = []

    def needed(_: Resources) -> dict[str, Callable[[], bool]]:
        asked_for.append("database")
        return {"database": lambda: True}

    monkeypatch.setattr(monitoring, "needed", needed)
    with served(resources) as visitor:
        assert {asked_all(visitor) for _ in range(20)} == {(200, "ready")}
    assert asked_for == ["database"]


@pytest.mark.thorough
def test_a_queue_that_is_away_is_named_until_it_is_back(
    resources: Resources, tmp_path: Path
) -> None:
    with new_redis(tmp_path) as url:
        settings = replace(resources.settings, broker_url=url)
        queue = CeleryQueue(settings)
        with served(replace(resources, settings=settings, queue=queue)) as visitor:
            assert asked_all(visitor) == (200, "ready")
    with served(replace(resources, settings=settings, queue=queue)) as visitor:
        assert asked(visitor) == (200, "ready")
        assert asked_all(visitor) == (503, "no answer: broker")


@pytest.mark.thorough
def test_a_store_that_is_away_is_named_until_it_is_back(
    resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_swift(tmp_path) as swift:
        for name, value in swift.environment.items():
            monkeypatch.setenv(name, value)
        objects = ObjectStore(swift.new_bucket())
        with served(replace(resources, objects=objects)) as visitor:
            assert asked_all(visitor) == (200, "ready")
            swift.kill()
            assert asked(visitor) == (200, "ready")
            # Nothing else is asked, which might need longer on a busy machine.
            needed = monitoring.needed
            with (
                patch.object(
                    monitoring,
                    "needed",
                    lambda hub_resources: {"store": needed(hub_resources)["store"]},
                ),
                patch.object(monitoring, "PATIENCE", 0.5),
            ):
                assert asked_all(visitor) == (503, "no answer: store")
            swift.start()
            assert asked_all(visitor) == (200, "ready")


def test_what_hangs_is_given_up() -> None:
    with patch.object(monitoring, "PATIENCE", 0.1):
        never = Event()
        questions = {"a": lambda: True, "b": never.wait, "c": lambda: False}
        assert monitoring.absent(questions) == ["b", "c"]
        assert monitoring.refusals(questions) == ["c"]
        never.set()
