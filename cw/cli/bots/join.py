"""`cw bots join`: runs a built-in strategy as a client of any Circuit Wars server."""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple

import click
import requests

from cw.errors import Failure
from cw.games.circuit_wars.rules import State
from cw.matches.run import strategy_for

GAME = "circuit-wars"
ANSWER_TIME = 10.0
"""Seconds to wait for a response of the server."""

LONGEST_ANSWER = 1 << 20
"""Maximum bytes read from a response."""

ALONE = 101
"""The status code of a game with one registered team."""

STARTED = 200
"""The first status code of a game with both teams registered."""

OVER = 300
"""The first status code of a finished game."""

FORFEIT = 400
"""The first status code of a game ended by a fault."""

LOOKING = 1.0
"""Seconds between two attempts to get a free seat."""

GAME_STARTED = 3
"""The error code of a registration attempt when no seat is free."""


class Answer(NamedTuple):
    """A response of a server."""

    document: dict[str, Any]
    tag: str | None
    """The ETag of the response, or None if it has none."""


class Seat(NamedTuple):
    """A seat at a server."""

    player: int
    tag: str | None
    """The ETag of the status while the team waits for an opponent."""


class Server:
    """A client for the routes of a Circuit Wars server, or of one of its rooms."""

    def __init__(self, address: str) -> None:
        """Use the server at a base URL."""
        self.address = address.rstrip("/")
        self._session = requests.Session()
        self._session.trust_env = False

    def ask(self, path: str, **query: str) -> Answer:
        """Return a route's JSON response; raise Failure if there is none."""
        try:
            with self._session.get(
                f"{self.address}/{path}", params=query, timeout=ANSWER_TIME, stream=True
            ) as reply:
                body = reply.raw.read(LONGEST_ANSWER, decode_content=True)
                tag = reply.headers.get("ETag")
            document = json.loads(body)
        except requests.exceptions.ConnectionError:
            raise Failure(
                f"there is no server at {self.address}: start it with `cw serve`"
            ) from None
        except (requests.exceptions.RequestException, OSError, ValueError) as error:
            raise Failure(f"{self.address} did not answer /{path} with JSON: {error}") from None
        if not isinstance(document, dict):
            raise Failure(f"{self.address} did not answer /{path} with a JSON object")
        return Answer(document, tag)


@click.command()
@click.argument("url")
@click.argument("name")
@click.option("--team", help="Team id to register as.  [default: NAME]")
@click.option(
    "--games",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many matches to play, one after the other.",
)
@click.option("--seed", default=0, show_default=True, help="Seed for all random choices.")
@click.option(
    "--pause",
    type=click.FloatRange(0, 60),
    default=0.2,
    show_default=True,
    help="Seconds before each request.",
)
def join(url: str, name: str, team: str | None, games: int, seed: int, pause: float) -> None:
    """Let the strategy NAME play on the Circuit Wars server at URL.

    It takes a free seat, or waits until one is free, plays, and prints how each match ended. URL is
    the address of a server or of one of its rooms.

    \b
      cw bots join http://127.0.0.1:5000 greedy
      cw bots join http://127.0.0.1:5000/rooms/table-4 search --games 10
    """
    strategy_for(GAME, name, 1, seed)
    server, team_id = Server(url), team or name
    for number in range(games):
        status = None
        while status is None:
            seat = take_seat(server, team_id, pause)
            try:
                click.echo(
                    f"{team_id} is player {seat.player}. Watch the game at {server.address}/"
                )
                status = play(server, team_id, name, seat, seed + number, pause)
            except KeyboardInterrupt:
                leave(server, seat)
                raise
        click.echo(f"{team_id} {ending(status, seat.player)}.")


def take_seat(server: Server, team_id: str, pause: float) -> Seat:
    """Register and return the seat; wait while a game is in progress.

    Raises Failure if the name is refused.
    """
    announced = False
    time.sleep(pause)
    while True:
        answer, tag = server.ask(f"reg/{team_id}")
        if answer.get("response") == "OK":
            return Seat(int(answer["player"]), tag)
        if answer.get("error_code") != GAME_STARTED:
            reason = answer.get("message") or answer.get("error") or "no reason given"
            raise Failure(f"{server.address} refuses {team_id!r}: {reason}")
        if not announced:
            click.echo(f"No seat is free at {server.address}: waiting for a new match.", err=True)
            announced = True
        time.sleep(LOOKING)


def play(
    server: Server, team_id: str, name: str, seat: Seat, seed: int, pause: float
) -> dict[str, Any] | None:
    """Play until the game is over, and return its last status.

    Returns None if the server was restarted before this team's first move. Raises Failure if it was
    restarted later.
    """
    strategy = strategy_for(GAME, name, seat.player, seed)
    has_moved = False
    while True:
        time.sleep(pause)
        status, tag = server.ask("status")
        if status.get("status_code") == STARTED + seat.player:
            move = strategy.act(position(status, seat.player))
            time.sleep(pause)
            status = server.ask(f"move/{team_id}/{move}").document
            has_moved = has_moved or "error" not in status
        code = status.get("status_code")
        if not isinstance(code, int):
            raise Failure(f"{server.address} has no status code in its status")
        waits = code == ALONE and seat.tag in (None, tag)
        # An error means that a game is in progress in which this team does not play.
        if "error" in status or (code < STARTED and not waits):
            if has_moved:
                raise Failure(f"{server.address} has ended this game: join again")
            return None
        if code >= OVER:
            return status


def leave(server: Server, seat: Seat) -> None:
    """Give the seat back unless another team has joined since."""
    if seat.player == 1 and seat.tag is not None:
        server.ask("restart", seen=seat.tag)


def position(status: dict[str, Any], player: int) -> State:
    """Return the position in a status response; raise Failure if it has none."""
    try:
        squares = tuple(tuple(int(square) for square in row) for row in status["board"])
        scores = (int(status["score_1"]), int(status["score_2"]))
        last_move = str(status["last_move"])
    except (KeyError, TypeError, ValueError) as error:
        raise Failure(f"cannot read the board in the server's status: {error!r}") from None
    return State(len(squares), squares, player, scores, last_move, None, None)


def ending(status: dict[str, Any], player: int) -> str:
    """Return whether a player won or lost, and how."""
    code = status["status_code"]
    came = "won" if winner(code) == player else "lost"
    if code >= FORFEIT:
        return f"{came} by forfeit: {status['status']}"
    score, other = status[f"score_{player}"], status[f"score_{3 - player}"]
    return f"{came} by score: {score} to {other} squares"


def winner(code: int) -> int:
    """Return the winner: 301 means that player 1 won, 401 and 501 that player 1 lost."""
    return code % 10 if code < 400 else 3 - code % 10
