"""A client of Circuit Wars in Python with requests."""

import os
import random
import sys
import time
from typing import Any

import requests

SERVER, TEAM = sys.argv[1:]
PAUSE = float(os.environ["PAUSE"])
BORDERS = {"top": 1, "right": 2, "bottom": 4, "left": 8}


def get(path: str) -> Any:
    time.sleep(PAUSE)
    return requests.get(f"{SERVER}/{path}").json()


def free(board: list[list[int]]) -> list[tuple[int, int, str]]:
    return [
        (x, y, border)
        for y in range(7)
        for x in range(7)
        for border, bit in BORDERS.items()
        if board[y][x] < 16 and not board[y][x] & bit
    ]


answer = get(f"reg/{TEAM}")
if answer["response"] != "OK":
    sys.exit(f"not registered: {answer}")
mine = 200 + answer["player"]
status = get("status")
while status["status_code"] < 300:
    if status["status_code"] == mine:
        x, y, border = random.choice(free(status["board"]))
        status = get(f"move/{TEAM}/{x},{y},{border}")
    else:
        status = get("status")
print(status["status_code"])  # noqa: T201
