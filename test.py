"""Plays a fixed list of moves for both players, to be watched in the monitor.

Start the server, open the monitor in a browser, then run `python test.py`. After the last move
nobody moves, so that the monitor shows player 1 running out of time.
"""

import os
import sys
import time

import requests

SERVER = os.environ.get("CW_SERVER", "http://127.0.0.1:5000")
PAUSE = float(os.environ.get("CW_PAUSE", "0.5"))
TEAMS = ("team1", "team2")
MOVES = (
    "1,0,top",
    "3,0,top",
    "2,0,top",
    "3,2,left",
    "5,1,left",
    "2,2,top",
    "2,0,left",
    "4,3,left",
    "3,1,left",
    "3,1,top",
    "5,2,left",
    "2,2,left",
    "3,3,top",
    "4,3,top",
    "1,3,top",
    "2,1,left",
    "4,0,left",
    "4,0,bottom",
)

session = requests.Session()
session.trust_env = False


def ask(path: str) -> dict:
    """Request one of the server's routes and give its JSON; exit with a message if it is gone."""
    try:
        return session.get(f"{SERVER}/{path}", timeout=10).json()
    except requests.exceptions.ConnectionError:
        sys.exit(f"There is no server at {SERVER}. Start it with: python cw/game_server.py")


def main() -> None:
    """Register both teams and make the moves, player 1 first."""
    for team in TEAMS:
        answer = ask(f"reg/{team}")
        if answer["response"] != "OK":
            sys.exit(f"{team}: {answer['message']}\nStart a new match with {SERVER}/restart")
    for turn, move in enumerate(MOVES):
        time.sleep(PAUSE)
        team = TEAMS[turn % 2]
        status = ask(f"move/{team}/{move}")
        print(f"{team} {move:<12} {status['score_1']}:{status['score_2']}  {status['status']}")
        if status["status_code"] >= 300:
            sys.exit("The match has ended early.")
    print(f"No more moves: {SERVER}/ now shows player 1 running out of time.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped.")
