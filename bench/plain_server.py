"""Circuit Wars as a plain Flask app on Flask's development server: `python -m bench.plain_server`.

It stands in for the original assignment's server: the same routes and JSON, but only one match,
without rooms, timeouts, ETags, limits, or checks of the caller.
"""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from random import Random
from threading import Thread
from time import monotonic
from typing import Any, Final

from flask import Flask, Response, jsonify
from werkzeug.serving import make_server

from cw.errors import GameStarted
from cw.games.circuit_wars import protocol
from cw.games.circuit_wars.rules import CircuitWars

PLAIN: Final = "bench.plain_server"
PLAIN_SERVER: Final = "plain Flask development server"

TEAMS: Final = 2

LIMIT: Final = 3600.0
"""Seconds for a turn that the status counts down from."""


class OneMatch:
    """The match of the server: its teams, its position and its moves."""

    def __init__(self) -> None:
        """Wait for two teams."""
        self.rules = CircuitWars()
        self.restart()

    def restart(self) -> None:
        """Forget the teams and begin again."""
        self.start = self.state = self.rules.new(TEAMS, 0)
        self.teams: list[str] = []
        self.turns: list[protocol.Turn] = []
        self.began = monotonic()

    def move(self, team: str, move: str) -> None:
        """Apply a move."""
        self.turns.append({self.teams.index(team) + 1: move})
        self.state = self.rules.step(self.state, self.turns[-1])
        self.began = monotonic()

    def status(self) -> dict[str, Any]:
        """Return the status document."""
        left = LIMIT - (monotonic() - self.began)
        return protocol.status_document(len(self.teams), self.state, left)


def make_app(match: OneMatch) -> Flask:
    """Make the app with the routes that clients use."""
    app = Flask(__name__)

    @app.get("/status")
    def status() -> Response:
        return jsonify(match.status())

    @app.get("/reg/<team>")
    def reg(team: str) -> Response:
        if len(match.teams) == TEAMS:
            return jsonify(protocol.not_registered(GameStarted("the match has begun")))
        match.teams.append(team)
        return jsonify(protocol.registered(len(match.teams)))

    @app.get("/move/<team>/<move>")
    def move(team: str, move: str) -> Response:
        match.move(team, move)
        return jsonify(match.status())

    @app.get("/restart")
    def restart() -> Response:
        match.restart()
        return jsonify(match.status())

    @app.get("/history")
    def history() -> Response:
        return jsonify(protocol.history_document(match.start, match.turns))

    return app


def played(moves: int) -> OneMatch:
    """Return a match with two teams after so many random moves; without teams after none."""
    match, rng = OneMatch(), Random(1)
    if moves:
        match.teams = ["alice", "bob"]
    for turn in range(moves):
        player = turn % 2 + 1
        match.move(match.teams[player - 1], match.rules.sample(match.state, player, rng))
    return match


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until standard input ends, as it does when the parent is gone."""
    parser = ArgumentParser(prog="python -m bench.plain_server", description=__doc__)
    parser.add_argument("--moves", type=int, default=0)
    app = make_app(played(parser.parse_args(arguments).moves))
    # A line for each request would make the yardstick slower.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.port}", flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
