"""The log of a hub: a JSON object a line, with the request that it goes back to, and no secret."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from cw_hub.operation import logs
from cw_hub.operation.logs import CLEARED, JsonLines, StatusLine, TextLines
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import read_settings
from hub.tests.campaign import Role, is_done, on_services, plan_matches, roles, wait_until
from hub.tests.conftest import ON_SQLITE
from hub.tests.services import new_redis
from hub.tests.sites import PASSWORD, Site, Visitor

PAGES_ALONE: Final = ["serve", "--no-worker", "--port", "0"]


@contextmanager
def log(formatter: logging.Formatter) -> Iterator[io.StringIO]:
    """Give what the log of this package writes while the block runs."""
    stream, logger = io.StringIO(), logging.getLogger("cw")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield stream
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@ON_SQLITE
def test_each_request_has_a_line_and_an_id_that_is_answered(site: Site) -> None:
    visitor = site.player("Ada")
    with log(JsonLines()) as stream:
        own = visitor.open("/settings?secret=x", headers={"X-Request-Id": "of-proxy.1"})
        ids = [
            visitor.open("/health", headers={"X-Request-Id": text}).headers["X-Request-Id"]
            for text in ("", "a b", "x" * 65, 'x"y')
        ]
        visitor.open("/reset/secret-ticket")
    assert own.headers["X-Request-Id"] == "of-proxy.1"
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in ids)
    assert len(set(ids)) == 4
    first, *others = lines(stream)
    assert first["event"] == "GET /settings 200"
    assert (first["address"], first["status"]) == ("127.0.0.1", 200)
    assert (first["level"], first["request_id"], first["user_id"]) == ("INFO", "of-proxy.1", 1)
    assert first["ms"] > 0
    assert [one["request_id"] for one in others[:4]] == ids
    # Threads are used again for others' requests.
    assert all("user_id" not in one for one in others[:4])
    assert others[4]["event"] == "GET /reset/... 410"
    assert "secret" not in stream.getvalue()


def test_on_a_terminal_one_line_counts_and_the_rest_is_told() -> None:
    stream = io.StringIO()
    handler = StatusLine(stream)
    handler.setFormatter(TextLines("%(message)s"))
    logger = logging.getLogger("of.this.test")
    logger.propagate, logger.level = False, logging.INFO
    logs.forget()
    logger.addHandler(handler)
    stream.write("Log in as ada, password 0123\n")
    for _ in range(1234):
        logger.info("GET / 200", extra={"counted": "requests"})
    logger.info("playing m_1", extra={"counted": "matches begun"})
    logger.warning("the database cannot be reached")
    texts = [line.rpartition(CLEARED)[2] for line in stream.getvalue().split("\n")]
    assert texts == [
        "Log in as ada, password 0123",
        "the database cannot be reached",
        "matches begun: 1  requests: 1,234",
    ]


def test_no_line_has_an_address_or_a_secret() -> None:
    messages = (
        "redis://:hunter2@db.example:6379/0 away",
        "mail for ada@example.org",
        "Cannot connect to host bot.example:443 ssl:default",
        "asked https://bot.example/path?key=hunter2",
    )
    with log(JsonLines()) as stream, log(TextLines("%(message)s")) as text:
        for words in messages:
            try:
                raise OSError(words)
            except OSError:
                logging.getLogger("cw.x").exception("%s\nforged", words, extra={"ms": 3})
    for secret in ("hunter2", "ada@", "bot.example", "db.example"):
        assert secret not in stream.getvalue()
        assert secret not in text.getvalue()
    assert len(lines(stream)) == len(messages)
    assert all("OSError" in one["error"] for one in lines(stream))


@pytest.mark.thorough
def test_a_hub_of_several_processes_says_which_request_led_to_what(
    tmp_path: Path, postgresql_url: str
) -> None:
    with new_redis(tmp_path) as broker:
        # No lease ends by itself on a busy machine: the match has one attempt.
        shared = on_services(tmp_path / "data", postgresql_url, broker) | {"CW_LEASE": "600"}
        several = [
            Role(command, shared, tmp_path / f"{number}.log")
            for number, command in enumerate(
                (PAGES_ALONE, PAGES_ALONE, ["scheduler"], ["worker", "--kinds", "practice"])
            )
        ]
        with roles(*several):
            one, other, scheduler, worker = several
            visitors = [Visitor(address_of(pages)) for pages in (one, other)]
            assert visitors[0].register("Ada").headers["Location"] == "/ranking"
            visitors[1].cookies = visitors[0].cookies
            assert visitors[1].is_player()
            forgetful = Visitor(address_of(other))
            forgetful.headers["X-Request-Id"] = "of-ada"
            assert forgetful.fill("/forgot", username="Ada").status_code == 303
            wait_until(lambda: "the job mail" in scheduler.log.read_text(), "the mail")
            (job,) = (
                line for line in log_lines(scheduler) if line["event"].startswith("the job mail")
            )
            assert job["request_id"] == "of-ada"
            assert job["ms"] > 0

            settings = read_settings(shared)
            with opened(settings, CeleryQueue(settings)) as resources:
                # A tick sends it, but it goes back to who has planned it.
                with logs.about(request_id="of-host"):
                    plan_matches(resources, 1)
                wait_until(lambda: is_done(resources, 1), "the match")
            wait_until(lambda: "the job play_match" in worker.log.read_text(), "the end")
            (playing,) = (line for line in log_lines(worker) if line["event"].startswith("playing"))
            assert (playing["attempt"], playing["request_id"]) == (1, "of-host")
            assert playing["match_id"] in playing["event"]
            assert playing["worker"]
            for figure in (
                'cw_matches_done_total{game="code-battle",kind="practice"} 1.0',
                "cw_workers_live 1.0",
            ):
                wait_until(lambda one=figure: one in visitors[0].open("/metrics").text, figure)  # type: ignore[misc]
            for role in several:
                role.stop()
        for role in several:
            assert "Traceback" not in role.log.read_text()
            assert PASSWORD not in role.log.read_text()
            assert "ada@example.org" not in role.log.read_text()


def log_lines(role: Role) -> list[dict[str, Any]]:
    """Return the lines of the log of a process, which is JSON from the first line on.

    Beside it, mails without a server and the farewell of Celery go to standard output.
    """
    text = role.log.read_text()
    assert text.startswith("{")
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def address_of(pages: Role) -> str:
    """Return where a process serves its pages."""
    wait_until(lambda: "Hub: " in pages.log.read_text(), "the hub")
    match = re.search(r"Hub: (\S+)/", pages.log.read_text())
    assert match
    return match[1]
