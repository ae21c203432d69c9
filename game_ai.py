"""Your player of Circuit Wars: set TEAM_ID, rewrite `choose`, run `python game_ai.py`.

`python game_ai.py --against greedy` brings an opponent, one of those that `cw bots` lists.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import requests

from cw.game import Board

SERVER = os.environ.get("CW_SERVER", "http://127.0.0.1:5000")
TEAM_ID = "myTeam"


def choose(board: Board, player: int) -> tuple[int, int, str]:
    """Return the free segment to draw, as (x, y, border). You are player 1 or 2.

    Try a move on a copy: `trial = board.copy()`, `trial.add_border(x, y, border, player)`, and
    see what it wins with `trial.get_colored()`. docs/first-game-ai.md shows the next steps.
    """
    return random.choice(board.free_borders())


# ---------------------------------------------------------------------------------------------
# Below this line is the loop that plays a match over HTTP. You need not change it.

PAUSE = float(os.environ.get("CW_PAUSE", "0.2"))
"""Seconds to wait before each request after the first one."""

PATIENCE = 10
"""Seconds that an opponent has to see that the match is over."""

session = requests.Session()
session.trust_env = False


def ask(path: str) -> dict:
    """Return the JSON answer of a route of the server; exit with a message if there is none."""
    try:
        return session.get(f"{SERVER}/{path}", timeout=10).json()
    except requests.exceptions.ConnectionError:
        sys.exit(f"There is no server at {SERVER}. Start it with: python cw/game_server.py")
    except requests.exceptions.RequestException as error:
        sys.exit(f"The server at {SERVER} did not answer /{path} as it should: {error}")


def register(team_id: str) -> int:
    """Register the team and return its player number; exit with a message if it is refused.

    If a match is going on, wait for its end; then start a new one.
    """
    answer = ask(f"reg/{team_id}")
    if answer.get("error_code") == 3:
        if ask("status")["status_code"] < 300:
            print(f"Waiting for the end of the match at {SERVER}/.", flush=True)
        while ask("status")["status_code"] < 300:
            time.sleep(max(PAUSE, 0.2))
        ask("restart")
        answer = ask(f"reg/{team_id}")
    if answer.get("response") != "OK":
        sys.exit(
            f"Not registered as {team_id!r} (error {answer.get('error_code')}):"
            f" {answer.get('message', answer.get('error'))}"
        )
    return answer["player"]


def play(team_id: str, player: int) -> dict:
    """Play until the match is over, and return the last status."""
    while True:
        time.sleep(PAUSE)
        status = ask("status")
        if status["status_code"] == 200 + player:
            x, y, border = choose(Board.from_status(status), player)
            time.sleep(PAUSE)
            status = ask(f"move/{team_id}/{x},{y},{border}")
        if status["status_code"] == 100:
            sys.exit("The server has started a new match without you: run this again.")
        if status["status_code"] >= 300:
            return status


def leave(team_id: str) -> NoReturn:
    """Give the seat back if nobody else has come, and exit."""
    if ask("status")["status_code"] == 101:
        ask("restart")
    sys.exit(f"{team_id} has left.")


def built_in() -> list[str]:
    """Return the names of the built-in strategies."""
    # In a championship a program finds only cw.game, so this is looked up when it is asked for.
    from cw.packages import packages_expected

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
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield
            process.wait(PATIENCE)
        finally:
            process.terminate()


def winner(status_code: int) -> int:
    """Return the player who won: 301 means that player 1 won, 401 and 501 that player 1 lost."""
    return status_code % 10 if status_code < 400 else 3 - status_code % 10


def main() -> None:
    """Register, play one match and print how it ended."""
    parser = argparse.ArgumentParser(description="Play one match of Circuit Wars.")
    parser.add_argument("team", nargs="?", default=os.environ.get("BOT_USERNAME", TEAM_ID))
    parser.add_argument("--against", metavar="NAME", help="bring a built-in opponent: greedy, ...")
    wanted = parser.parse_args()
    if wanted.against is not None and wanted.against not in built_in():
        parser.error(f"there is no {wanted.against!r}; there are: {', '.join(built_in())}")
    if wanted.team == wanted.against:
        parser.error(f"you and your opponent cannot both be {wanted.team}: take another name")
    player = register(wanted.team)
    try:
        print(f"{wanted.team} is player {player}. Watch the game at {SERVER}/", flush=True)
        if player == 1 and wanted.against is None:
            print(f"Waiting for an opponent: cw bots join {SERVER} greedy", flush=True)
        with opponent(wanted.against if player == 1 else None):
            status = play(wanted.team, player)
    except KeyboardInterrupt:
        leave(wanted.team)
    print(f"{status['status']}, {status['score_1']} to {status['score_2']}.")
    print("You won." if winner(status["status_code"]) == player else "You lost.")


if __name__ == "__main__":
    main()
