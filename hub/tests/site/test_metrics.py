"""`/metrics`: what it tells, whom, and how often the rows are asked."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy.exc import OperationalError

from cw_hub.operation import heartbeats, scheduler
from cw_hub.operation.heartbeats import Process
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.site import figures
from cw_hub.site.monitoring import FRESH, FRESH_TOTALS, Metrics
from cw_hub.site.processes import begin_site
from cw_hub.store.database import Database
from cw_hub.store.models import Bot, BotStatus, Count, Match
from cw_hub.store.replica import Replica
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.ladder_hub import Tournament
from hub.tests.operation.test_upkeep import add_match
from hub.tests.sites import Site, Visitor, site_on
from tests.fixtures import FakeClock

ROOT = Path(__file__).resolve().parents[3]

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read(visitor: Visitor, **more: object) -> Samples:
    """Return the samples that are served, as a reader of the format sees them."""
    answer = visitor.open("/metrics", **more)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.text)
    samples = [sample for family in families for sample in family.samples]
    return {(one.name, frozenset(one.labels.items())): one.value for one in samples}


def at(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


def add_bot(number: int, status: BotStatus, failures: int, hours: float, now: StillClock) -> Bot:
    """Return a bot that was well so many hours ago."""
    return Bot(
        bot_id=f"b_{number:08x}",
        game="code-battle",
        user_id=1,
        name=f"Bot {number}",
        name_key=f"bot {number}",
        kind="url",
        endpoint="https://bots.example",
        status=status,
        failures=failures,
        failures_total=failures,
        healthy_at=now() - timedelta(hours=hours),
        created_at=now(),
    )


def test_rows_are_counted(site: Site, hub_clock: StillClock) -> None:
    begin_site(site.resources)
    site.player("Ada")
    with site.resources.database.writing() as session:
        scheduler.see_worker(session, "here:1", "0", 1)
        hub_clock.advance(90)
        scheduler.see_worker(session, "here:2", "0", 1)
        bots: list[tuple[BotStatus, int, float]] = [
            ("ACTIVE", 0, 0),
            ("ACTIVE", 2, 1),
            ("INACTIVE", 3, 2),
            ("INACTIVE", 9, 30),
            ("RETIRED", 1, 1),
        ]
        for number, (status, failures, hours) in enumerate(bots):
            session.add(add_bot(number, status, failures, hours, hub_clock))
        for number in range(3):
            add_match(session, "rated", number, hub_clock(), competition_id=None)
        add_match(session, "practice", 9, hub_clock())
        session.flush()
        session.query(Match).filter(Match.key == "9").update({"state": "queued"})
        session.add(Count(name=heartbeats.UNREADABLE, value=4))
    metrics = read(site.visitor())
    assert metrics[at("cw_messages_unreadable_total")] == 4
    assert metrics[at("cw_threads_ended_total")] == 0
    assert metrics[at("cw_workers_live")] == 1
    assert metrics[at("cw_bots", status="INACTIVE")] == 2
    assert metrics[at("cw_bots", status="SUSPENDED")] == 0
    assert metrics[at("cw_bots_failing")] == 2
    assert metrics[at("cw_bot_health_failures_total")] == 15
    assert metrics[at("cw_queue_depth")] == 1
    assert metrics[at("cw_matches_done_total", game="code-battle", kind="rated")] == 3
    # What has begun is told before its first match: from nothing to one is not an increase.
    assert metrics[at("cw_matches_done_total", game="end-of-codes", kind="daily")] == 0
    assert metrics[at("cw_replay_quota_bytes")] == 10 * 2**30
    assert at("cw_replay_bytes") in metrics
    assert metrics[at("cw_database_up")] == 1
    assert metrics[at("cw_matches", state="queued")] == 1
    assert metrics[at("cw_queue_wait_seconds")] == 0


def test_matches_that_a_tournament_holds_back_wait_for_no_worker(
    resources: Resources, hub_clock: StillClock
) -> None:
    teams = dict.fromkeys(("ann", "bob", "cid", "dan"), "random")
    tournament = Tournament(resources, {"all": teams}, {"parallel": 2})
    tournament.happens("start")
    with resources.database.reading() as session:
        assert len(tournament.matches()) == 6
        assert figures.present(session).queued == 0
    assert len(tournament.send()) == 2
    with resources.database.reading() as session:
        assert figures.present(session).queued == 2


@ON_SQLITE
def test_requests_are_counted_by_route_and_status(site: Site) -> None:
    visitor = site.visitor()
    for path in ("/health", "/health", "/bot/one", "/bot/other", "/no/such", "/nor/such"):
        visitor.open(path)
    visitor.post(f"{site.address}/no/such", data="x" * 1_000_000)
    metrics = read(visitor)
    assert metrics[at("cw_http_requests_total", route="/health", status="200")] == 2
    assert metrics[at("cw_http_requests_total", route="/bot/<name>", status="404")] == 2
    assert metrics[at("cw_http_requests_total", route="none", status="404")] == 2
    assert metrics[at("cw_http_requests_total", route="none", status="413")] == 1
    assert metrics[at("cw_http_request_seconds_count", route="/health")] == 2
    assert metrics[at("cw_http_request_seconds_bucket", route="/health", le="+Inf")] == 2
    assert not any(name.endswith("_created") for name, _ in metrics)


@ON_SQLITE
def test_each_metric_of_alerts_and_panels_is_served(
    resources: Resources, hub_clock: StillClock
) -> None:
    begin_site(resources)
    Process("a:1", "1", ("pages",), hub_clock()).beat(resources)
    with resources.database.writing() as session:
        heartbeats.record(session, heartbeats.CERTIFICATE, hub_clock() + timedelta(days=90))
    settings = replace(resources.settings, backup_objects="copies")
    replica = Replica(settings.database, resources.database)
    whole = replace(resources, settings=settings, replica=replica)
    with site_on(whole, hub_clock) as site:
        site.visitor().open("/health")
        served = {name for name, _ in read(site.visitor())}
    replica.close()
    families = {re.sub("_(bucket|count|sum)$", "", name) for name in served}
    for file in ("prometheus/alerts.yml", "prometheus/alerts_test.yml", "grafana.json"):
        named = set(
            re.findall(r"\bcw_\w+", (ROOT / "hub" / "deploy" / file).read_text(encoding="utf-8"))
        )
        assert named <= served | families, file
        if file == "grafana.json":
            assert {re.sub("_bucket$", "", name) for name in named} == families


@ON_SQLITE
def test_rows_are_asked_every_5_seconds_at_most_and_whole_tables_every_60(
    resources: Resources,
) -> None:
    elapsed, addresses = FakeClock(), []
    with (
        patch.object(figures, "present", side_effect=figures.present, autospec=True) as present,
        patch.object(figures, "totals", side_effect=figures.totals, autospec=True) as totals,
    ):
        metrics = Metrics(resources, elapsed)
        for pause in (0.0, FRESH - 0.1, 0.1, FRESH_TOTALS - FRESH - 0.1, 0.1):
            elapsed.advance(pause)
            list(metrics.registry.collect())
            addresses.append((present.call_count, totals.call_count))
    assert addresses == [(1, 1), (1, 1), (2, 1), (3, 1), (3, 2)]


@ON_SQLITE
def test_requests_are_told_also_while_the_database_is_away(
    resources: Resources, hub_clock: StillClock
) -> None:
    away = OperationalError("SELECT", {}, Exception("no connection"))
    with (
        patch.object(Database, "reading", side_effect=away),
        site_on(resources, hub_clock) as site,
    ):
        assert site.visitor().open("/matches").status_code == 503
        metrics = read(site.visitor())
    assert metrics[at("cw_http_requests_total", route="/matches", status="503")] == 1
    assert at("cw_workers_live") not in metrics


@ON_SQLITE
@pytest.mark.parametrize(
    ("settings", "forwarded", "status"),
    [
        ({}, None, 200),
        ({}, "127.0.0.1", 404),
        ({"metrics_network": ("10.0.0.0/8",)}, None, 404),
        ({"metrics_network": ("10.0.0.0/8", "127.0.0.0/8")}, None, 200),
        ({"trusted_proxy": ("127.0.0.0/8",)}, "203.0.113.9", 404),
        ({"trusted_proxy": ("127.0.0.0/8",)}, "127.0.0.1", 200),
        ({"trusted_proxy": ("127.0.0.0/8",)}, "127.0.0.1, 203.0.113.9", 404),
        ({"trusted_proxy": ("127.0.0.0/8",), "metrics_network": ("10.0.0.0/8",)}, "10.1.2.3", 200),
        ({"trusted_proxy": ("127.0.0.0/8",)}, "::1", 200),
        ({"trusted_proxy": ("127.0.0.0/8",)}, "::ffff:127.0.0.1", 200),
        ({"trusted_proxy": ("127.0.0.0/8",)}, "no address", 404),
        ({"public_url": "https://hub.example"}, None, 200),
    ],
)
def test_others_find_no_such_page(
    resources: Resources,
    hub_clock: StillClock,
    settings: dict[str, object],
    forwarded: str | None,
    status: int,
) -> None:
    set_so: HubSettings = replace(resources.settings, **settings)  # type: ignore[arg-type]
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    with site_on(replace(resources, settings=set_so), hub_clock) as site:
        answer = site.visitor().open("/metrics", headers=headers)
        assert answer.status_code == status
        assert ("cw_queue_depth" in answer.text) == (status == 200)
