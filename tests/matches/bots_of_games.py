"""Small bots of the games, written to files; each fault is a line that is changed."""

from __future__ import annotations

from pathlib import Path

from tests.interpreter import PYTHON

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
TURNS = {}

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
        TURNS[said["id"]] = 0
        self.reply({"status": "ok"})

    def do_GET(self):
        if self.game() not in GAMES:
            return self.reply({"status": "error"}, 404)
        turn = TURNS[self.game()]
        start, target = choose(GAMES[self.game()], int(self.path[-1]))
        self.reply({"status": "ok", "move_from": start, "move_to": target})

    def do_PUT(self):
        TURNS[self.game()] += 1
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


END_OF_CODES = """
import json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

HELLO = {"botname": "still", "version": "1", "username": os.environ["BOT_USERNAME"]}

class Bot(BaseHTTPRequestHandler):
    def reply(self, document, status=200):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(HELLO)

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if self.path == "/game":
            return self.reply([])
        turn, me = int(form["round"][0]), int(form["myid"][0])
        world = json.loads(form["map"][0])
        mine = [c["creatureid"] for c in world if c["userid"] == me and c["hp"] > 0]
        others = [c["creatureid"] for c in world if c["userid"] != me]
        intents = [{"creatureid": c, "action": "attack", "direction": "north"} for c in mine]
        answer = {"intent": intents}
        self.reply(answer)

    def log_message(self, *args):
        pass

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Bot).serve_forever()
"""

CODE_BATTLE = """
import hashlib, hmac, json, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["BOT_SECRET"].encode()
SEEN = set()

def signature(*parts):
    return hmac.new(SECRET, ".".join(parts).encode(), hashlib.sha256).hexdigest()

class Bot(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, body, status=200, mark=""):
        self.send_response(status)
        self.send_header("X-ACB-Signature", mark)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        status = 200 if self.path == "/health" else 404
        self.reply(b'{"status": "ok"}', status)

    def do_POST(self):
        said = self.rfile.read(int(self.headers["Content-Length"]))
        match, turn, sent, mark = (
            self.headers["X-ACB-" + name] for name in ("Match-Id", "Turn", "Timestamp", "Signature")
        )
        digest = hashlib.sha256(said).hexdigest()
        try:
            old = abs(time.time() - int(sent)) > 30
        except ValueError:
            return self.reply(b"", 401)
        if old or not hmac.compare_digest(mark, signature(match, turn, sent, digest)):
            return self.reply(b"", 401)
        try:
            state = json.loads(said)
        except ValueError:
            return self.reply(b"", 400)
        turn = state["turn"]
        mine = [bot for bot in state["bots"] if bot["owner"] == 0]
        moves = [{"row": bot["row"], "col": bot["col"], "direction": "N"} for bot in mine]
        answer = {"moves": moves}
        body = json.dumps(answer).encode()
        mark = signature(match, str(turn), hashlib.sha256(body).hexdigest())
        self.reply(body, 200, mark)

    def log_message(self, *args):
        pass

ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Bot).serve_forever()
"""

CIRCUIT_WARS = """
import json, os, sys, time
from urllib.request import urlopen

SERVER = os.environ["CW_SERVER"]
BITS = {"top": 1, "right": 2, "bottom": 4, "left": 8}
BESIDE = {"top": (0, -1), "right": (1, 0), "bottom": (0, 1), "left": (-1, 0)}

def get(path):
    with urlopen(SERVER + path) as answer:
        return json.load(answer)

def free(board):
    size = len(board)
    for y, row in enumerate(board):
        for x, square in enumerate(row):
            for border, bit in BITS.items():
                a, b = x + BESIDE[border][0], y + BESIDE[border][1]
                inner = 0 <= a < size and 0 <= b < size
                owned = square >> 4 and (not inner or board[b][a] >> 4 == square >> 4)
                if not square & bit and not owned:
                    return f"{x},{y},{border}"

me = get("/reg/tester")["player"]
turn = 0
while (status := get("/status"))["status_code"] < 300:
    if status["status_code"] != 200 + me:
        time.sleep(0.01)
        continue
    move = free(status["board"])
    get("/move/tester/" + move)
    turn += 1
"""

SOURCES = {
    "circuit-wars": CIRCUIT_WARS,
    "code-battle": CODE_BATTLE,
    "end-of-codes": END_OF_CODES,
    "hexagon": HEXAGON,
    "paint": PAINT,
}


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
    return f"exec:{PYTHON} -m cw bots serve {game} {strategy}"
