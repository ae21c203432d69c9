"""The hub of hub/deploy/compose.yaml, from its first start to a replay in a browser."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect, sync_playwright

from cw.cli import main
from cw_hub.competitions import service as competitions_service
from cw_hub.matches import results
from cw_hub.store.database import Database, Session
from hub.tests.campaign import wait_until
from hub.tests.soak.composed import DEPLOY, Composed, composed
from hub.tests.soak.hosts import MINE, Host, ip, joined
from tests.browser.conftest import ARGUMENTS, find_chromium

pytestmark = pytest.mark.thorough

SLOW = 120_000
"""Milliseconds for what a page does."""


def environment() -> dict[str, str]:
    """Return what .env beside the file holds: the example, new keys, and what differs here."""
    example = (DEPLOY / "compose.env.example").read_text()
    keys = CliRunner().invoke(main, ["hub", "keys", "new"]).output
    lines = (line.partition("=") for line in (example + keys).split())
    swift = {
        "AWS_ACCESS_KEY_ID": "test:tester",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_CONDITIONAL_PUT": "disabled",
    }
    return {name: value for name, _, value in lines} | swift | {"HUB_TLS": "tls internal"}


@contextmanager
def reading(hub: Composed) -> Iterator[Session]:
    """Ask the database of the hub."""
    (server,) = hub.of("postgresql")
    password = server.about["environment"]["POSTGRES_PASSWORD"]
    url = f"postgresql://cw:{password}@{server.host.address}/cw"
    with closing(Database(url)) as database, database.reading() as session:
        yield session


def has_begun(hub: Composed) -> bool:
    """Return whether the hub has the competitions that it begins with: a process makes them."""
    with reading(hub) as session:
        return any(row.format == "rated" for row in competitions_service.everything(session))


def done(hub: Composed) -> int:
    """Return how many matches are done."""
    with reading(hub) as session:
        return results.counts(session).get("done", 0)


def test_a_rated_match_is_played_and_its_replay_opened(tmp_path: Path) -> None:
    with composed(tmp_path, environment()) as hub:
        (scheduler,) = hub.of("acb-scheduler")
        wait_until(lambda: has_begun(hub), "the competitions of a new hub")
        # There is no player yet, and the strategies belong to one owner: the site.
        scheduler.type("competition", "set", "rated/code-battle", "house_plays=true", "rest=0")
        wait_until(lambda: done(hub) > 0, "a rated match")
        (web,) = hub.of("acb-web")
        with sync_playwright() as playwright:
            rules = f"--host-resolver-rules=MAP hub.example {web.host.address}"
            browser = playwright.chromium.launch(
                executable_path=find_chromium(), args=[*ARGUMENTS, rules]
            )
            context = browser.new_context(ignore_https_errors=True)
            visitor = context.new_page()
            visitor.goto("https://hub.example/matches", timeout=SLOW)
            visitor.locator("a[href*='/match/m_']").first.click(timeout=SLOW)
            viewer = visitor.locator("#viewer")
            expect(viewer).not_to_have_attribute("data-state", "empty", timeout=SLOW)
            expect(visitor.locator("#players > li")).not_to_have_count(0, timeout=SLOW)
            visitor.locator("#stage").press("End")
            expect(viewer).to_have_attribute("data-ended", "true", timeout=SLOW)
            visitor.screenshot(path=tmp_path / "match.png")
            browser.close()


def test_a_host_that_ends_leaves_no_process_and_no_network() -> None:
    host = Host(0)
    with joined([host]):
        # As PostgreSQL does, it leaves those who have started it.
        subprocess.run([*host.within, "setsid", "--fork", "sleep", "600"], check=True)
        wait_until(lambda: len(host.pids()) == 1, "a process")
        (pid,) = host.pids()
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "its end")
    names = ip("netns", "list") + ip("link")
    assert MINE not in names
