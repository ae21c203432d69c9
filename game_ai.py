"""Your player of Circuit Wars: set TEAM_ID, rewrite `choose`, run `python game_ai.py`.

`python game_ai.py --against greedy` brings an opponent, one of those that `cw bots` lists.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, NoReturn

import requests

from cw.game import Board

SERVER = os.environ.get("CW_SERVER", "http://127.0.0.1:5000")
TEAM_ID = "myTeam"


def choose(board: Board, player: int) -> tuple[int, int, str]:
    """Return the free segment to draw, as (x, y, border). You are player 1 or 2.

    Try a move on a copy: `trial = board.copy()`, `trial.add_border(x, y, border, player)`, and
    see what it wins with `trial.get_colored()`. docs/first-bot.md shows the next steps.
    """
    return random.choice(board.free_borders())


# ---------------------------------------------------------------------------------------------
# Below this line is the loop that plays a match over HTTP. You need not change it.

PAUSE = float(os.environ.get("CW_PAUSE", "0.2"))
"""Seconds to wait before each request."""

FAREWELL = 1
"""Seconds in which the players of a match can see that it is over, before it is cleared away."""

PATIENCE = 10
"""Seconds that an opponent has to see that the match is over."""

session = requests.Session()
session.trust_env = False


class Seat(NamedTuple):
    """Your place at the server."""

    player: int
    tag: str | None
    """The ETag of the status while you wait for an opponent: any other one is not your match."""


def request(path: str, **query: str | None) -> requests.Response:
    """Return the answer of a route of the server; exit with a message if it is not JSON."""
    time.sleep(PAUSE)
    try:
        answer = session.get(f"{SERVER}/{path}", params=query, timeout=10)
        answer.json()
    except requests.exceptions.ConnectionError:
        sys.exit(f"There is no server at {SERVER}. Start it with: python cw/game_server.py")
    except requests.exceptions.RequestException as error:
        sys.exit(f"The server at {SERVER} gave an unexpected answer to /{path}: {error}")
    return answer


def register(team_id: str) -> Seat:
    """Register the team and return its seat; exit with a message if it is refused.

    If a match is going on, wait for its end; then start a new one.
    """
    while True:
        answer = request(f"reg/{team_id}")
        document = answer.json()
        if document.get("response") == "OK":
            return Seat(document["player"], answer.headers.get("ETag"))
        if document.get("error_code") != 3:
            sys.exit(
                f"Not registered as {team_id!r} (error {document.get('error_code')}):"
                f" {document.get('message', document.get('error'))}"
            )
        clear_board()


def clear_board() -> None:
    """Wait until the match of others is over, and restart if nobody else has; exit if refused."""
    status = request("status")
    if 200 <= status.json()["status_code"] < 300:
        print(f"Waiting for the end of the match at {SERVER}/.", flush=True)
    while 200 <= status.json()["status_code"] < 300:
        time.sleep(max(0.2 - PAUSE, 0))
        status = request("status")
    if status.json()["status_code"] < 200:
        return
    time.sleep(FAREWELL)
    # Only if the match is still the one that we saw: otherwise a new one has begun.
    answer = request("restart", seen=status.headers.get("ETag"))
    if answer.status_code not in (200, 409):
        reason = answer.json().get("error")
        sys.exit(f"The match at {SERVER}/ is over, and no new one can start: {reason}")


def announce(team_id: str, seat: Seat) -> None:
    """Say that the team is registered."""
    print(f"{team_id} is player {seat.player}. Watch the game at {SERVER}/", flush=True)


def play(team_id: str, seat: Seat) -> dict | None:
    """Play until the match is over, and return the last status.

    None if somebody restarted the server before your first move; exit with a message if that was
    later.
    """
    has_moved = False
    while True:
        answer = request("status")
        status = answer.json()
        if status["status_code"] == 200 + seat.player:
            x, y, border = choose(Board.from_status(status), seat.player)
            status = request(f"move/{team_id}/{x},{y},{border}").json()
            has_moved = has_moved or "error" not in status
        is_same = seat.tag in (None, answer.headers.get("ETag"))
        waits = status["status_code"] == 101 and is_same
        # An error says that a match is going on, and that you are not in it.
        if "error" in status or (status["status_code"] < 200 and not waits):
            if has_moved:
                sys.exit("Somebody has restarted the server during your match: run this again.")
            return None
        if status["status_code"] >= 300:
            return status


def leave(team_id: str, seat: Seat | None) -> NoReturn:
    """Give the seat back if nobody else has come since, and exit."""
    if seat is not None and seat.player == 1 and seat.tag is not None:
        request("restart", seen=seat.tag)
    sys.exit(f"{team_id} has left.")


def built_in() -> list[str]:
    """Return the names of the built-in strategies."""
    # In a championship a program finds only cw.game, so this is looked up when it is asked for.
    from cw.version import packages_expected

    with packages_expected():
        from cw.games.registry import load_strategies

        return list(load_strategies("circuit-wars"))


@contextmanager
def opponent(strategy: str | None) -> Iterator[None]:
    """Let a built-in strategy play at the server while the block runs; None for no opponent."""
    if strategy is None:
        yield
        return
    command = [sys.executable, "-m", "cw", "bots", "join", SERVER, strategy, "--pause", str(PAUSE)]
    # Ctrl-C waits until the opponent has started, and does not reach it: it is ended below.
    pressed: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            signal.signal(signal.SIGINT, handler)
            if pressed:
                raise KeyboardInterrupt
            yield
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            process.kill()


def winner(status_code: int) -> int:
    """Return the player who won: 301 means that player 1 won, 401 and 501 that player 1 lost."""
    return status_code % 10 if status_code < 400 else 3 - status_code % 10


def main() -> None:
    """Register, play one match and print how it ended."""
    parser = argparse.ArgumentParser(description="Play one match of Circuit Wars.")
    parser.add_argument("team", nargs="?", default=os.environ.get("BOT_USERNAME", TEAM_ID))
    parser.add_argument("--against", metavar="NAME", help="add a built-in opponent: greedy, ...")
    wanted = parser.parse_args()
    if wanted.against is not None and wanted.against not in built_in():
        parser.error(f"there is no {wanted.against!r}; choose one of: {', '.join(built_in())}")
    if wanted.team == wanted.against:
        parser.error(f"you and your opponent cannot both be {wanted.team}: choose another name")
    seat = None
    try:
        seat = register(wanted.team)
        announce(wanted.team, seat)
        if seat.player == 1 and wanted.against is None:
            print(f"Waiting for an opponent: cw bots join {SERVER} greedy", flush=True)
        with opponent(wanted.against if seat.player == 1 else None):
            while (status := play(wanted.team, seat)) is None:
                seat = register(wanted.team)
                announce(wanted.team, seat)
            print(f"{status['status']}, {status['score_1']} to {status['score_2']}.")
            has_won = winner(status["status_code"]) == seat.player
            print("You won." if has_won else "You lost.", flush=True)
    except KeyboardInterrupt:
        leave(wanted.team, seat)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped.")
