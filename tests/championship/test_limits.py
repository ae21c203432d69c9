"""What a runner asks of bots and workers: how many matches at once, and what when one dies."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Condition, Thread
from typing import Final

import pytest

from cw.matches import workers
from tests.championship.contests import built_in, cw, lines_of, report_of

PATIENCE: Final = 120.0
"""Seconds that a service waits for a second match; it waits that long only if none comes."""

TOO_MANY: Final = 0.3
"""Seconds in which one match more would come, if it were begun."""


class Service(ThreadingHTTPServer):
    """A web service of Hexagon that counts its matches, and gives up each at its first move."""

    daemon_threads = True

    def __init__(self, wanted: int) -> None:
        """Begin to play when so many matches have come at the same time."""
        super().__init__(("127.0.0.1", 0), Handler)
        self.wanted = wanted
        self.changed = Condition()
        self.active = 0
        self.most = 0

    def count(self, change: int) -> None:
        """Note the start or the end of a match."""
        with self.changed:
            self.active += change
            self.most = max(self.most, self.active)
            self.changed.notify_all()

    def wait_for_others(self) -> None:
        """Wait until enough matches have been there at the same time, and whether more come."""
        with self.changed:
            self.changed.wait_for(lambda: self.most >= self.wanted, PATIENCE)
            self.changed.wait_for(lambda: self.most > self.wanted, TOO_MANY)


class Handler(BaseHTTPRequestHandler):
    """Answers a match's requests."""

    server: Service

    def do_POST(self) -> None:
        self.server.count(1)
        self.reply()

    def do_GET(self) -> None:
        self.server.wait_for_others()
        self.reply()

    def do_PUT(self) -> None:
        self.reply()

    def do_DELETE(self) -> None:
        self.server.count(-1)
        self.reply()

    def reply(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps({"status": "ok"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def serving(wanted: int) -> Iterator[Service]:
    with Service(wanted) as service:
        Thread(target=service.serve_forever, daemon=True).start()
        yield service
        service.shutdown()


@pytest.mark.parametrize(
    ("about", "wanted"),
    [("", 1), pytest.param("parallel = 2", 2, marks=pytest.mark.thorough)],
)
def test_a_web_service_plays_as_many_matches_at_once_as_it_says(
    tmp_path: Path, about: str, wanted: int
) -> None:
    file = built_in(tmp_path / "teams.toml", ("greedy", "random", "expert"))
    with serving(wanted) as service:
        address = f"http://127.0.0.1:{service.server_address[1]}"
        with file.open("a") as teams:
            teams.write(f'[teams.a-service]\nbot = "{address}"\n{about}\n')
        result = cw(
            "run", file, "--game", "hexagon", "--format", "gauntlet", "--jobs", 3, "--no-validate",
            "--option", "timeout=60", "--out", tmp_path / "out",
        )  # fmt: skip
    assert result.exit_code == 0, result.output + result.stderr
    lines = lines_of(tmp_path / "out")
    assert len(lines) == 6
    assert {fault["kind"] for line in lines for fault in line["faults"]} == {"malformed"}
    assert service.most == wanted


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit('no memory')", "no memory"),
        pytest.param(
            "input(); print('{}{'); input()",
            "it wrote an unreadable line",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "import json; [print(json.dumps({'error': {'kind': 'capacity', 'message': 'full'}}),"
            " flush=True) for _ in iter(input, '')]",
            "full",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_worker_that_fails_ends_no_championship(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, reason: str
) -> None:
    monkeypatch.setattr(workers, "WORKER", (sys.executable, "-c", program))
    file = built_in(tmp_path / "teams.toml", ("random", "greedy"))
    out = tmp_path / "out"
    result = cw(
        "run", file, "--no-validate", "--game", "paint", "--option", "turns=5", "--out", out
    )
    assert result.exit_code == 1
    assert f"could not be played; continue with: cw championship resume {out}" in result.stdout
    assert [reason in match["why"] for match in report_of(out)["failed"]] == [True, True]
    assert lines_of(out) == []
    monkeypatch.undo()
    assert cw("resume", out).exit_code == 0
    assert len(lines_of(out)) >= 2


NOISY = """
import sys, cw.matches.worker
print("random: it has no walls", file=sys.stderr)
print("greedy: it has no walls", file=sys.stderr)
print("\\x1b[31mno room in /tmp" + "." * 5000, file=sys.stderr)
cw.matches.worker.main()
"""


@pytest.mark.thorough
def test_what_workers_warn_of_is_told_once_at_the_end_and_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WORKER", (sys.executable, "-c", NOISY))
    file = built_in(tmp_path / "teams.toml", ("random", "greedy", "still"))
    out = tmp_path / "out"
    arguments = ("--game", "paint", "--option", "turns=5", "--jobs", 2, "--out", out)
    result = cw("run", file, *arguments, "--format", "double-round-robin", "--no-validate")
    assert result.exit_code == 0, result.output + result.stderr
    warning_lines = [line for line in result.stderr.splitlines() if line.startswith("Warning: ")]
    assert warning_lines[0] == "Warning: random, greedy: it has no walls"
    assert warning_lines[1].startswith("Warning: \\x1b[31mno room in /tmp...")
    assert (
        warning_lines[2]
        == "Warning: still: faults in 4 of 4 matches: 20 illegal moves; the last: stands still"
    )
    assert len(warning_lines) == 3
    warnings = report_of(out)["warnings"]
    assert warnings[0] == "random, greedy: it has no walls"
    assert len(warnings[1]) <= 1000
    monkeypatch.undo()
    again = cw("resume", out)
    assert "Warning: random, greedy: it has no walls" in again.stderr
    assert report_of(out)["warnings"] == warnings
