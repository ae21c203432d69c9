"""Small bots of the games, written to files; each fault is a line that is changed."""

from __future__ import annotations

import sys
from pathlib import Path

PAINT = """
import json, sys
for line in sys.stdin:
    state = json.loads(line)
    if "player_id" in state:
        print('{"ready":true}', flush=True)
        continue
    turn = state["turns_left"]
    answer = {"turns_left": turn, "type": "walk", "direction": [1, 0]}
    print(json.dumps(answer), flush=True)
"""

HEXAGON = """
import json, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EVEN = [(-1, -1), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 0)]
ODD = [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, 0), (1, 1)]
FAR_EVEN = [
    (-2, -1), (-2, 0), (-2, 1), (-1, -2), (-1, 1), (0, -2), (0, 2), (1, -2), (1, 1), (2, -1),
    (2, 0), (2, 1),
]
FAR_ODD = [
    (-2, -1), (-2, 0), (-2, 1), (-1, -1), (-1, 2), (0, -2), (0, 2), (1, -1), (1, 2), (2, -1),
    (2, 0), (2, 1),
]
GAMES = {}

def choose(cells, color):
    for near, far in ((EVEN, ODD), (FAR_EVEN, FAR_ODD)):
        for i, row in enumerate(cells):
            for j, value in enumerate(row):
                if value == color:
                    for di, dj in (far if i % 2 else near):
                        a, b = i + di, j + dj
                        if 0 <= a < len(cells) and 0 <= b < len(cells) and cells[a][b] == 0:
                            return [i, j], [a, b]

class Bot(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, document, status=200):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def read(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")

    def game(self):
        return self.path.split("/")[2].split("?")[0]

    def do_POST(self):
        said = self.read()
        GAMES[said["id"]] = said["board"]["cells"]
        self.reply({"status": "ok"})

    def do_GET(self):
        if self.game() not in GAMES:
            return self.reply({"status": "error"}, 404)
        start, target = choose(GAMES[self.game()], int(self.path[-1]))
        self.reply({"status": "ok", "move_from": start, "move_to": target})

    def do_PUT(self):
        for i, j, old, new in self.read()["changes"]:
            GAMES[self.game()][i][j] = new
        self.reply({"status": "ok"})

    def do_DELETE(self):
        self.read()
        GAMES.pop(self.game(), None)
        self.reply({"status": "ok"})

    def log_message(self, *args):
        pass

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Bot).serve_forever()
"""


def write(folder: Path, source: str, *changes: tuple[str, str]) -> str:
    """Write a bot with some of its text changed; give its path."""
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    path = folder / "bot.py"
    path.write_text(source, encoding="utf-8")
    return str(path)


def served(game: str, strategy: str) -> str:
    """Return the bot argument of a built-in strategy in a process of its own, over the wire."""
    return f"exec:{sys.executable} -m cw bots serve {game} {strategy}"
