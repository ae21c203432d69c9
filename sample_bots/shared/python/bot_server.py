"""An HTTP server for bots: each reply leaves in one write, each request is logged in one line."""

from __future__ import annotations

import io
import os
import signal
import socketserver
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NoReturn
from urllib.parse import parse_qsl, urlsplit

MAX_BODY = 16 * 1024 * 1024
"""Bytes that the body of a request may have."""


MAX_WORDS = 1000
"""Characters of an exception that are sent."""

TEXT = {"Content-Type": "text/plain; charset=utf-8"}


@dataclass(frozen=True)
class Request:
    """What came; names of headers may be asked for in any case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """What goes back."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def serve(handle: Callable[[Request], Reply], default_port: int) -> NoReturn:
    """Answer requests with `handle` until SIGTERM or Ctrl-C.

    Listens on PORT or BOT_PORT (0 for any free port) of BOT_HOST, which is 127.0.0.1 by default.
    """
    host = os.environ.get("BOT_HOST") or "127.0.0.1"
    port = int(os.environ.get("PORT") or os.environ.get("BOT_PORT") or default_port)
    # What the bot prints is there at once, also if its program is killed.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    try:
        server = _Server((host, port), _handler(handle))
    except OSError as error:
        sys.exit(f"cannot listen on {host}:{port}: {error}")
    print(f"listening on http://{host}:{server.server_address[1]}", flush=True)
    server.serve_forever()
    sys.exit(0)


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


def _in_words(error: Exception) -> str:
    """Give an exception, its message, and the innermost line of the program's own file."""
    frames = traceback.extract_tb(error.__traceback__)
    main = Path(sys.argv[0]).resolve()
    own = [frame for frame in frames if Path(frame.filename).resolve() == main]
    at = [*frames, *own][-1]
    what = traceback.format_exception_only(type(error), error)[-1].strip()
    return f"{what[:MAX_WORDS]} ({Path(at.filename).name}, line {at.lineno})"


def _leave(code: object) -> NoReturn:
    """End the program: in a thread, sys.exit ends no more than the thread."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def _handler(handle: Callable[[Request], Reply]) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        def answer(self, request: Request) -> Reply:
            return handle(request)

    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, request: Request) -> Reply:
        raise NotImplementedError

    def respond(self) -> None:
        started = time.monotonic()
        refusal, length = self.body_length()
        if refusal:
            self.close_connection = True
            self.send(Reply(refusal), started)
            return
        self.send(self.safely(self.rfile.read(length)), started)

    do_GET = do_POST = do_PUT = do_DELETE = respond  # noqa: N815

    def body_length(self) -> tuple[int, int]:
        """Give the status that refuses the body, or 0, and the length of the body."""
        text = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers:
            return 411, 0
        if not (text.isascii() and text.isdigit()):
            return 400, 0
        return (413 if len(text) > 9 or int(text) > MAX_BODY else 0), int(text[:10])

    def safely(self, body: bytes) -> Reply:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        try:
            return self.answer(Request(self.command, parts.path, query, self.headers, body))
        except SystemExit as leaving:
            _leave(leaving.code)
        except Exception as error:
            traceback.print_exc()
            return Reply(500, _in_words(error).encode(errors="replace"), TEXT)

    def send(self, reply: Reply, started: float) -> None:
        """Write head and body at once: two writes would cost 40 ms on a kept connection."""
        closing = {"Connection": "close"} if self.close_connection else {}
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(reply.body)),
            **reply.headers,
            **closing,
        }
        lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        # Logged first, so that whoever has the reply can rely on the line.
        path = self.path.partition("?")[0]
        milliseconds = (time.monotonic() - started) * 1000
        self.log_message("%s %s %d %.1f ms", self.command, path, reply.status, milliseconds)
        self.wfile.write(head + reply.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        sys.stderr.write(format % args + "\n")
        sys.stderr.flush()
