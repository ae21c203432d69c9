"""What deploy/Caddyfile does for who asks while the processes behind it are started anew."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import requests

from tests.hub.caddy import new_caddy, running
from tests.ports import free_port


class Answering(BaseHTTPRequestHandler):
    """Answers all that it is asked."""

    def do_GET(self) -> None:
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
            asked = threads.submit(ask)
            # Long enough for it to be refused at least once.
            time.sleep(1)
            assert not asked.done()
            with pages(port):
                assert asked.result().status_code == 200
