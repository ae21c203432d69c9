"""The server that is measured, in a separate process: `python -m bench.server`."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

from flask import Flask, Response

from bench.rows import NotMeasured
from cw.games.circuit_wars.board import free_moves
from cw.server.rooms import Room, RoomRegistry
from cw.server.wsgi import listen, serving
from cw.web import create_app
from cw.web.settings import SiteSettings

FIXED: Final = "/fixed"
"""The route of the yardstick: the same bytes each time, and nothing to work out."""

STOPPING: Final = 5.0
"""Seconds that the server has to end by itself."""

ROOT: Final = Path(__file__).resolve().parents[1]


@contextmanager
def running(*options: str, module: str = "bench.server") -> Iterator[str]:
    """Run a server while the block runs; gives its first line, the base address of this one."""
    command = [sys.executable, "-m", module, *options]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield first_line(process)
        finally:
            stop(process)


def first_line(process: subprocess.Popen[str]) -> str:
    """Wait for the line in which a process says that it is ready; raise NotMeasured if it ends."""
    line = process.stdout.readline().strip() if process.stdout else ""
    if not line:
        raise NotMeasured("a process of the benchmark has ended too early: see above")
    return line


def stop(process: subprocess.Popen[str]) -> None:
    """Ask the server to end by closing its input, and end it if it does not."""
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(STOPPING)
    except subprocess.TimeoutExpired:
        process.kill()


def make_app(timeout: float, size: int, moves: int) -> Flask:
    """Make the app with this many moves played at the root, and the route of fixed bytes."""
    app = create_app(SiteSettings(timeout=timeout, size=size))
    rooms: RoomRegistry = app.extensions["rooms"]
    table = rooms.find(None)
    if moves:
        play(table, moves)
    status = table.page.render(table.session.look()).encode()
    app.add_url_rule(FIXED, view_func=lambda: Response(status, content_type="application/json"))
    return app


def play(table: Room, moves: int) -> None:
    """Seat two teams and play random moves."""
    rng = Random(1)
    teams = ("alice", "bob")
    for team in teams:
        table.session.register(team)
    for turn in range(moves):
        squares = table.session.look().snapshot.state.board
        table.session.move(teams[turn % 2], str(rng.choice(list(free_moves(squares)))))


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until standard input ends, as it does when the parent is gone."""
    parser = ArgumentParser(prog="python -m bench.server", description=__doc__)
    parser.add_argument("--timeout", type=float, default=3)
    parser.add_argument("--size", type=int, default=7)
    parser.add_argument("--moves", type=int, default=0)
    app = make_app(**vars(parser.parse_args(arguments)))
    with serving(app, listen("127.0.0.1", 0)) as address:
        print(address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
