"""What hub/deploy/Caddyfile does for who asks while the processes behind it are started anew."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Semaphore, Thread

import pytest
import requests

from hub.tests.caddy import new_caddy, running
from tests.ports import free_port


class Answering(BaseHTTPRequestHandler):
    """Answers all that it is asked, unless it hangs."""

    goes_on = Event()
    asked = Semaphore(0)

    def do_GET(self) -> None:
        if self.path != "/":
            self.asked.release()
            self.goes_on.wait()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def pages(port: int) -> Iterator[None]:
    """Serve pages while the block runs."""
    with ThreadingHTTPServer(("127.0.0.1", port), Answering) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield
        server.shutdown()
        thread.join()


@pytest.mark.thorough
def test_who_asks_during_a_restart_waits_for_its_end(tmp_path: Path) -> None:
    port, caddy = free_port(), new_caddy(tmp_path)
    ask = partial(requests.get, caddy.address, verify=str(caddy.authority), timeout=60)
    with ThreadPoolExecutor() as threads, ExitStack() as before:
        before.enter_context(pages(port))
        with running(caddy, f"127.0.0.1:{port}"):
            assert ask().status_code == 200
            before.close()
            answer = threads.submit(ask)
            # Long enough for it to be refused at least once.
            time.sleep(1)
            assert not answer.done()
            with pages(port):
                assert answer.result().status_code == 200


@pytest.mark.thorough
def test_a_page_that_hangs_is_given_up_and_a_file_is_awaited(tmp_path: Path) -> None:
    port, caddy = free_port(), new_caddy(tmp_path)
    Answering.goes_on.clear()

    def ask(path: str) -> requests.Response:
        return requests.get(f"{caddy.address}{path}", verify=str(caddy.authority), timeout=60)

    with (
        ThreadPoolExecutor() as threads,
        pages(port),
        running(caddy, f"127.0.0.1:{port}", HUB_LONG_PATIENCE="600s"),
    ):
        files = [
            threads.submit(ask, path)
            for path in ("/settings/data.zip", "/match/m_1/replay", "/objects/a/b.json.gz")
        ]
        for _ in files:
            assert Answering.asked.acquire(timeout=60)
        try:
            page = ask("/leaderboard")
            assert (page.status_code, page.headers["Retry-After"]) == (504, "10")
            assert page.text == "The site does not answer. Please try again soon."
            assert not any(file.done() for file in files)
        finally:
            Answering.goes_on.set()
        assert [file.result().status_code for file in files] == [200] * 3
