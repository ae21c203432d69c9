"""Which processes live, when a scheduler last ticked, and who is told."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from math import inf

import pytest
from sqlalchemy import text

from cw.errors import Failure
from cw_hub.accounts import mail as accounts_mail
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.mail import Claim
from cw_hub.context import Clock
from cw_hub.operation import heartbeats, scheduler
from cw_hub.operation.doctor import ClockCheck, Finding, look_at_processes
from cw_hub.operation.heartbeats import Process, Role
from cw_hub.operation.resources import Resources
from cw_hub.operation.scheduler import Steps, Ticker
from cw_hub.site.figures import present
from cw_hub.site.monitoring import Metrics
from cw_hub.store.database import Database
from cw_hub.store.models import Heartbeat
from cw_hub.store.replica import Replica
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.program import make_admin
from hub.tests.sites import Site, words_of


@pytest.fixture(autouse=True)
def right_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of these tests stands still, which a database's does not."""
    monkeypatch.setattr(ClockCheck, "is_right", lambda *_: True)


def beat(resources: Resources, name: str, *roles: Role) -> None:
    Process(name, "1", roles, resources.clock()).beat(resources)


def tick(resources: Resources) -> None:
    Ticker(Steps([], [])).tick(resources)


def figure(resources: Resources, name: str) -> float | None:
    """Return a figure without labels, as a page server tells it now."""
    return Metrics(resources).registry.get_sample_value(f"cw_{name}")


def examined(resources: Resources, clock: Clock) -> Finding:
    return look_at_processes(resources.database, clock)


def test_each_role_lives_for_a_minute_after_it_was_seen(
    resources: Resources, hub_clock: StillClock
) -> None:
    beat(resources, "a:1", *heartbeats.ROLES)
    hub_clock.advance(40)
    beat(resources, "b:2", "worker")
    hub_clock.advance(21)
    with resources.database.reading() as session:
        beats = heartbeats.live(session)
        assert heartbeats.by_role(beats) == {"pages": 0, "scheduler": 0, "worker": 1}
        assert present(session).processes[0].figures.disk_free_bytes > 0
    hub_clock.advance(86_400)
    with resources.database.writing() as session:
        scheduler.sweep(session)
        assert not session.query(Heartbeat).count()


def test_a_tick_is_noted_once_all_is_done(resources: Resources, hub_clock: StillClock) -> None:
    def fail(_: Resources) -> None:
        raise ValueError

    assert figure(resources, "tick_age_seconds") == inf
    with pytest.raises(Failure, match="1 of 1 steps"):
        Ticker(Steps([], [fail])).tick(resources)
    assert figure(resources, "tick_age_seconds") == inf
    tick(resources)
    hub_clock.advance(61)
    assert figure(resources, "tick_age_seconds") == 61


def test_doctor_and_the_page_of_admins_name_a_scheduler_that_does_not_tick(
    site: Site, hub_clock: StillClock
) -> None:
    resources = site.resources
    assert examined(resources, hub_clock).needed is False
    beat(resources, "a:1", "pages")
    finding = examined(resources, hub_clock)
    assert (finding.ok, finding.found) == (False, "1 pages; the last tick was never")
    root = site.player("Root")
    make_admin(site, "Root")
    alarm = "No scheduler is running"
    assert alarm in words_of(root.open("/admin"))
    tick(resources)
    assert examined(resources, hub_clock).ok
    assert alarm not in words_of(root.open("/admin"))
    page = words_of(root.open("/admin/matches"))
    assert alarm not in page
    assert "a:1" in page
    hub_clock.advance(61)
    beat(resources, "a:1", "pages")
    assert examined(resources, hub_clock).found.endswith("61 s ago")
    assert alarm in words_of(root.open("/admin"))


def test_mails_that_could_not_be_sent_are_shown_and_sent_again(
    site: Site, hub_clock: StillClock
) -> None:
    resources = site.resources
    root = site.player("Root")
    make_admin(site, "Root")
    with resources.database.writing() as session:
        user, _ = accounts_service.register(session, "Ada", "ada@example.org", "hash")
        mail_id = accounts_mail.put(session, "verify", user)
        mail = accounts_mail.claim(session, mail_id)
        assert mail is not None
        accounts_mail.fail(session, replace(mail, attempt=1), "SMTPDataError")
        accounts_mail.end(session, Claim(mail_id, 1, "", "verify", user), "dead", "refused")
    sample = Metrics(resources).registry.get_sample_value
    assert sample("cw_mails", {"state": "dead"}) == 1
    assert sample("cw_mails_failed_total") == 1
    assert "1 mail could not be sent." in words_of(root.open("/admin"))
    page = words_of(root.open(mails := "/admin/mails"))
    assert "Ada confirm the address could not be sent refused" in page
    assert "example.org" not in page
    assert root.fill(f"{mails}/{mail_id}/send", mails).status_code == 303
    assert "Nothing has changed: tick the box to confirm." in words_of(root.open(mails))
    assert root.fill(f"{mails}/{mail_id}/send", mails, sure="yes").status_code == 303
    site.do_jobs()
    assert len(site.mails()) == 1
    assert root.fill(f"{mails}/{mail_id}/send", mails, sure="yes").status_code == 303
    assert "The mail has changed since you loaded the page." in words_of(root.open(mails))
    assert f"Root send mail mail:{mail_id}" in words_of(root.open("/admin/log"))


@pytest.mark.thorough
@ON_SQLITE
def test_the_lag_of_a_replica_is_that_of_its_last_tick(
    resources: Resources, hub_clock: StillClock, postgresql_url: str
) -> None:
    assert figure(resources, "replica_up") is None
    with closing(Replica(postgresql_url, resources.database)) as replica:
        with_replica = replace(resources, replica=replica)
        with closing(Database(postgresql_url)) as copy, copy.writing() as session:
            heartbeats.record(session, heartbeats.TICK, hub_clock())
        hub_clock.advance(30)
        tick(resources)
        assert figure(with_replica, "replica_lag_seconds") == 30
    away = Replica("postgresql://postgres@127.0.0.1:9/x", resources.database)
    assert figure(replace(resources, replica=away), "replica_up") == 0


WRITTEN = ('{"languages": "x"}', "[1]", "null", '"x"', '{"memory_bytes": "much"}')
"""What a worker that was taken over may write of itself: its role in the database allows that."""


@ON_SQLITE
@pytest.mark.parametrize("written", WRITTEN)
def test_what_no_process_writes_of_itself_breaks_no_page(site: Site, written: str) -> None:
    beat(site.resources, "a:1", "worker")
    with site.resources.database.writing() as session:
        session.execute(text("UPDATE heartbeats SET figures = :written"), {"written": written})
    admin = site.player("Adam")
    make_admin(site, "Adam")
    pages = ("/bots/new", "/admin", "/admin/matches", "/metrics")
    assert [admin.open(path).status_code for path in pages] == [200] * len(pages)
