"""A team of a championship that names a service that only the organiser's machine can reach."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler, TCPServer
from threading import Thread

import pytest

from tests.championship.contests import cw

SECRET = "it-is-told-to-this-machine-alone"
REFUSED = "eve: team.toml cannot name a web service"


class Service(TCPServer):
    """A service that counts its requests, and tells everybody a secret."""

    requests = 0


class Answer(StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, Service)
        self.server.requests += 1
        self.wfile.write(f"HTTP/1.0 200 OK\r\n\r\n{SECRET}".encode())


@contextmanager
def serving() -> Iterator[Service]:
    with Service(("127.0.0.1", 0), Answer) as service:
        thread = Thread(target=service.serve_forever)
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate",),
        ("run", "--out", "out"),
        ("run", "--out", "out", "--no-validate"),
        ("run", "--out", "out", "--skip-broken", "--handouts"),
    ],
)
def test_it_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving() as service:
        address = f"http://127.0.0.1:{service.server_address[1]}/latest/meta-data"
        for team, bot in (("ann", "builtin:greedy"), ("bob", "builtin:random"), ("eve", address)):
            folder = tmp_path / "teams" / team
            folder.mkdir(parents=True)
            (folder / "team.toml").write_text(f'bot = "{bot}"\n')
        command, *more = arguments
        told = cw(command, "teams", "--game", "hexagon", "--option", "size=3", *more)
        assert service.requests == 0
    assert REFUSED in told.output + told.stderr
    assert told.exit_code == (0 if "--skip-broken" in arguments else 1)
    written = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert SECRET not in "".join(file.read_text(errors="replace") for file in written)
