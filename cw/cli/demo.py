"""`cw demo`: plays a whole match between two real clients, in the browser and the terminal."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from flask import Flask
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cw.arena.sandbox.cgroups import prefix
from cw.assets import asset, is_checkout
from cw.drawing import color
from cw.errors import UsageError
from cw.games.circuit_wars.protocol import STATUS, status_code
from cw.games.circuit_wars.terminal import draw_state
from cw.server.rooms import CircuitObservation, RoomRegistry
from cw.server.wsgi import listen, serving
from cw.web import create_app
from cw.web.settings import SiteSettings

TEAMS = ("alice", "bob")
FRAME = 0.1
"""Seconds between two frames in the terminal."""

STOPPING = 2.0
"""Seconds to wait for the clients to exit before they are killed."""

LINGER = 3.0
"""Seconds to keep the server running for a browser to show the end, if there is no terminal."""


NEXT = """
Next, your own: rewrite choose() in game_ai.py.

  . .venv/bin/activate                      (Windows: .venv\\Scripts\\activate)
  python cw/game_server.py                  the server, in a terminal of its own
  python game_ai.py alice --against greedy  your AI against a built-in one

Or in the browser, with the match next to the code:

  cw workshop circuit-wars
"""

NEXT_WITHOUT_CHECKOUT = """
Next, your own: rewrite choose() in mybot/bot.py.

  cw new-bot circuit-wars python mybot      a starter bot
  cw play circuit-wars builtin:greedy mybot/bot.py
  cw serve                                  the server, in a terminal of its own

Or in the browser, with the match next to the code:

  cw workshop circuit-wars mybot
"""


class ClientFailed(click.ClickException):
    """A client exited before the match was over."""


@click.command()
@click.option("--browser", is_flag=True, help="Open the monitor in the browser.")
@click.option("--fast", is_flag=True, help="Play without the pauses of 0.2 s between requests.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=5000,
    show_default=True,
    help="Port of the server, 0 for any.",
)
def demo(browser: bool, fast: bool, port: int) -> None:
    """Play a match of Circuit Wars between two clients over HTTP.

    Starts the server and two processes of game_ai.py, shows the match here and in the monitor,
    and ends with the result. In a terminal the page stays until a key is pressed. Nothing is left
    running.
    """
    app = create_app(SiteSettings())
    listener = listen_somewhere(port)
    with serving(app, listener) as server:
        click.echo(f"Watch the match in the browser: {server}/")
        if browser:
            webbrowser.open(f"{server}/")
        with clients(server, fast) as processes:
            observation = watch(app, processes)
        click.echo(result(observation))
        click.echo(NEXT if is_checkout() else NEXT_WITHOUT_CHECKOUT)
        if sys.stdin.isatty() and sys.stdout.isatty():
            click.pause(f"The match stays at {server}/ until you press a key.")
        elif browser:
            time.sleep(LINGER)


def listen_somewhere(port: int) -> socket.socket:
    """Listen on the port, or on any free one if another program uses it."""
    try:
        return listen("127.0.0.1", port)
    except UsageError as error:
        click.echo(f"{error}\nTaking a free port instead.", err=True)
        return listen("127.0.0.1", 0)


@contextmanager
def clients(server: str, fast: bool) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run a client for each team during the block, and stop them at its end."""
    with TemporaryDirectory(prefix=prefix("demo")) as folder:
        processes = [start(team, server, fast, Path(folder)) for team in TEAMS]
        try:
            yield processes
        except ClientFailed as failure:
            output = "".join(
                log.read_text(encoding="utf-8", errors="replace") for log in Path(folder).iterdir()
            )
            raise ClientFailed(f"{failure.message}\n{output}") from None
        finally:
            stop(processes)


def start(team: str, server: str, fast: bool, folder: Path) -> subprocess.Popen[bytes]:
    """Start game_ai.py for a team, with its output redirected to a file."""
    environment = os.environ | {"CW_SERVER": server, "CW_PAUSE": "0" if fast else "0.2"}
    with (folder / f"{team}.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, str(asset("game_ai.py")), team],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Wait up to STOPPING seconds for the clients to exit, then kill them."""
    until = time.monotonic() + STOPPING
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def watch(app: Flask, processes: Sequence[subprocess.Popen[bytes]]) -> CircuitObservation:
    """Show the match in the terminal until it is over.

    Raises ClientFailed if a client exits before.
    """
    rooms: RoomRegistry = app.extensions["rooms"]
    console = Console(stderr=True)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        while True:
            # Before the match is looked at, since its end makes the clients exit.
            exit_codes = [process.poll() for process in processes]
            observation = rooms.find(None).session.look()
            live.update(picture(observation), refresh=console.is_terminal)
            if observation.snapshot.state.ended:
                return observation
            for team, code in zip(TEAMS, exit_codes, strict=True):
                if code is not None:
                    raise ClientFailed(f"{team} has ended with exit code {code}.")
            time.sleep(FRAME)


def picture(observation: CircuitObservation) -> RenderableType:
    """Render the board, the scores and the clock."""
    snapshot = observation.snapshot
    state = snapshot.state
    scores = Table.grid(padding=(0, 2))
    teams = (*snapshot.teams, "", "")
    for player, (team, score) in enumerate(zip(teams, state.scores, strict=False), start=1):
        scores.add_row(Text(f" {player} ", color(player - 1)), team, str(score))
    clock = "" if observation.time_left is None else f"{observation.time_left:.1f} s left"
    status = STATUS[status_code(len(snapshot.teams), state)]
    return Panel(Group(draw_state(state), scores, Text(f"{status}  {clock}")), expand=False)


def result(observation: CircuitObservation) -> str:
    """Return one line about how the match ended."""
    snapshot = observation.snapshot
    state, turns = snapshot.state, len(snapshot.turns)
    winner = snapshot.teams[(state.winner or 1) - 1]
    if state.ended != "finished":
        status = STATUS[status_code(len(snapshot.teams), state)]
        return f"{winner} won by forfeit in turn {turns}: {status}."
    most, least = sorted(state.scores, reverse=True)
    return f"{winner} won by score in turn {turns}: {most} to {least} squares."
