"""Kits built and run as a participant would: their own commands, over the real transport."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, Any

import pytest

from cw.kits import LANGUAGES, new_bot
from tests.kits.judging import Document, check
from tests.kits.steps import API_KEY, SECRET
from tests.once import once

ENVIRONMENT = {"API_KEY": API_KEY, "BOT_SECRET": SECRET, "BOT_USERNAME": "alice", "PORT": "0"}
PATIENCE = 120
"""Seconds after which a kit that does not answer has failed."""


@dataclass(frozen=True)
class Kit:
    """A copy of a kit, built."""

    game: str
    language: str
    folder: Path
    command: tuple[str, ...] = ()
    """What runs the bot; if empty, the command of its language."""

    def start(self, **environment: str) -> subprocess.Popen[bytes]:
        """Run the bot; its standard error goes to the file `log`, anew each time."""
        with (self.folder / "log").open("wb") as log:
            return subprocess.Popen(
                self.command or LANGUAGES[self.language].run.split(),
                cwd=self.folder,
                env=os.environ | ENVIRONMENT | environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def log(self) -> list[str]:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace").splitlines()


def build(game: str, language: str, folder: Path) -> Kit:
    """Copy a kit as `cw new-bot` does and build it by its own command."""
    new_bot(game, language, folder)
    if command := LANGUAGES[language].build:
        shell(command, folder)
    return Kit(game, language, folder)


def built(factory: pytest.TempPathFactory, game: str, language: str) -> Kit:
    """Return a kit of one's own that was built once in this run of the tests."""
    name = f"{game}-{language}"
    sources = once(factory, name, partial(build, game, language))
    return Kit(game, language, shutil.copytree(sources, factory.mktemp(name) / "bot"))


def shell(command: str, folder: Path) -> None:
    """Run a command that builds a bot."""
    # Go keeps what it has compiled where the environment says, and must have a place.
    home = {"HOME": os.environ.get("HOME") or str(folder)}
    subprocess.run(
        ["sh", "-c", command], cwd=folder, check=True, env=os.environ | home, timeout=600
    )


@dataclass
class Server:
    """A bot that serves."""

    port: int
    process: subprocess.Popen[bytes]
    kit: Kit
    asked: list[str] = field(default_factory=list)

    def follow(self, vector: Document) -> None:
        """Send the requests of a vector on one connection, and check each reply."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            for number, step in enumerate(vector["steps"]):
                status, body = self.ask(connection, step["request"])
                place = f"{vector['name']}, step {number}: {str(step)[:600]}"
                place += f" -> {status} {body[:300]!r}"
                assert status == step["reply"]["status"], place
                try:
                    check(step["reply"], body)
                except (AssertionError, ValueError) as error:
                    raise AssertionError(place) from error

    def ask_once(self, request: Document) -> tuple[int, bytes]:
        """Send a request on a connection of its own; give status and body of the reply."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            return self.ask(connection, request)

    def ask(self, connection: HTTPConnection, request: Document) -> tuple[int, bytes]:
        """Send a request of a vector; a signed one is signed now, and its reply is checked."""
        body = request.get("body", "").encode()
        headers = {"Content-Type": request["type"]} if "type" in request else {}
        if "sign" in request:
            headers |= signed_headers(request["sign"], body)
        changes: dict[str, str | None] = request.get("headers", {})
        headers = {name: text for name, text in (headers | changes).items() if text is not None}
        connection.request(request["method"], request["path"], body, headers)
        self.asked.append(f"{request['method']} {request['path'].partition('?')[0]}")
        reply = connection.getresponse()
        answer = reply.read()
        if "sign" in request and reply.status == 200:
            fields = request["sign"]
            expected = sign(f"{fields['match_id']}.{fields['turn']}", answer)
            assert reply.getheader("X-ACB-Signature") == expected
        return reply.status, answer

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def sign(text: str, body: bytes) -> str:
    whole = f"{text}.{hashlib.sha256(body).hexdigest()}"
    return hmac.new(SECRET.encode(), whole.encode("latin-1"), hashlib.sha256).hexdigest()


def signed_headers(fields: Document, body: bytes) -> dict[str, Any]:
    timestamp = int(time.time()) + fields["offset"]
    return {
        "X-ACB-Match-Id": fields["match_id"],
        "X-ACB-Turn": fields["turn"],
        "X-ACB-Timestamp": str(timestamp),
        "X-ACB-Bot-Id": "b_4e8c1d2f",
        "X-ACB-Signature": sign(f"{fields['match_id']}.{fields['turn']}.{timestamp}", body),
    }


@contextmanager
def running(
    kit: Kit, **environment: str
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    """Run a bot; give it with its standard input and output, and leave nothing of it."""
    process = kit.start(**environment)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process, process.stdin, process.stdout
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.close()


@contextmanager
def serving(kit: Kit, **environment: str) -> Iterator[Server]:
    """Run a bot that serves; give it when it says where it listens."""
    with running(kit, **environment) as (process, _, output):
        line = output.readline().decode()
        match = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line)
        assert match, (line, kit.log())
        yield Server(int(match[1]), process, kit)
