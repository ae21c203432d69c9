"""Your player of Circuit Wars: set TEAM_ID, rewrite `choose`, run `python game_ai.py`."""

import os
import random
import sys
import time

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
# Below this line is the loop that plays a game over HTTP. There is no need to change it.

PAUSE = float(os.environ.get("CW_PAUSE", "0.2"))
"""Seconds to wait before each request after the first one."""

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
    """Register the team and return its player number; exit with a message if it is refused."""
    answer = ask(f"reg/{team_id}")
    if answer.get("response") != "OK":
        sys.exit(
            f"Not registered as {team_id!r} (error {answer.get('error_code')}):"
            f" {answer.get('message', answer.get('error'))}"
        )
    return answer["player"]


def play(team_id: str, player: int) -> dict:
    """Play until the game is over, and return the last status."""
    while True:
        time.sleep(PAUSE)
        status = ask("status")
        if status["status_code"] == 200 + player:
            x, y, border = choose(Board.from_status(status), player)
            time.sleep(PAUSE)
            status = ask(f"move/{team_id}/{x},{y},{border}")
        if status["status_code"] >= 300:
            return status


def winner(status_code: int) -> int:
    """Return the player who won: 301 means that player 1 won, 401 and 501 that player 1 lost."""
    return status_code % 10 if status_code < 400 else 3 - status_code % 10


def main() -> None:
    """Register, play one game and print how it ended."""
    team_id = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("BOT_USERNAME", TEAM_ID)
    player = register(team_id)
    print(f"{team_id} is player {player}. Watch the game at {SERVER}/", flush=True)
    status = play(team_id, player)
    print(f"{status['status']}, {status['score_1']} to {status['score_2']}.")
    print("You won." if winner(status["status_code"]) == player else "You lost.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped.")
