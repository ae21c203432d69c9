"""Clients of Circuit Wars that take the assignment at its word: 7 x 7, one id of their own."""

from __future__ import annotations

from typing import Final

PYTHON: Final = """
import os
import random
import time

import requests

SERVER = os.environ.get("CW_SERVER", "http://127.0.0.1:5000")
TEAM_ID = "myTeam"
PAUSE = 0.2
BORDERS = {"top": 1, "right": 2, "bottom": 4, "left": 8}


def ask(path):
    time.sleep(PAUSE)
    return requests.get(f"{SERVER}/{path}").json()


player = ask(f"reg/{TEAM_ID}")["player"]
status = ask("status")
while status["status_code"] < 300:
    if status["status_code"] == 200 + player:
        free = []
        for y in range(7):
            for x in range(7):
                square = status["board"][y][x]
                for border, bit in BORDERS.items():
                    if square < 16 and not square & bit:
                        free.append(f"{x},{y},{border}")
        ask(f"move/{TEAM_ID}/{random.choice(free)}")
    status = ask("status")
"""

JAVASCRIPT: Final = """
const SERVER = process.env.CW_SERVER || "http://127.0.0.1:5000";
const TEAM_ID = "myTeam";
const PAUSE = 200;
const BORDERS = { top: 1, right: 2, bottom: 4, left: 8 };

async function ask(path) {
  await new Promise((done) => setTimeout(done, PAUSE));
  return (await fetch(`${SERVER}/${path}`)).json();
}

async function main() {
  const { player } = await ask(`reg/${TEAM_ID}`);
  let status = await ask("status");
  while (status.status_code < 300) {
    if (status.status_code === 200 + player) {
      const free = [];
      for (let y = 0; y < 7; y += 1) {
        for (let x = 0; x < 7; x += 1) {
          const square = status.board[y][x];
          for (const [border, bit] of Object.entries(BORDERS)) {
            if (square < 16 && !(square & bit)) free.push(`${x},${y},${border}`);
          }
        }
      }
      await ask(`move/${TEAM_ID}/${free[Math.floor(Math.random() * free.length)]}`);
    }
    status = await ask("status");
  }
}

main();
"""

QUICK_PYTHON: Final = PYTHON.replace("PAUSE = 0.2", "PAUSE = 0")
QUICK_JAVASCRIPT: Final = JAVASCRIPT.replace("PAUSE = 200", "PAUSE = 0")
