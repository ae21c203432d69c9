"""Replies that are nearly right, over the real wire: no match and no replay is lost by them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Lock, Thread
from time import time
from typing import Any

import pytest

from cw.games.code_battle.protocol import signature
from cw.games.registry import load_bot_handler, load_strategies
from cw.games.wire import BotContext, BotHandler, Reply, Request
from tests import mutations
from tests.effort import amount
from tests.matches.playing import play_match
from tests.mutations import spoiled

REPLIES = amount(50, 150, "CW_CASES")
"""Mutated replies of each game."""

SECRET = "abc"
Spoil = Callable[[Random, Request, Reply], Reply]


def spoiled_body(rng: Random, call: Request, reply: Reply) -> Reply:
    """Return a reply with another body, seldom with another status or a strange header."""
    if rng.random() < 0.05:
        return replace(reply, status=rng.choice((201, 301, 404, 500, 599)))
    if rng.random() < 0.05:
        return replace(reply, headers={**reply.headers, "Content-Encoding": "\xff\xfe"})
    return replace(reply, body=spoiled(rng, json.loads(reply.body)))


def signed_again(rng: Random, call: Request, reply: Reply) -> Reply:
    """Spoil a reply of Code Battle, and mostly sign what came of it."""
    other = spoiled_body(rng, call, reply)
    if rng.random() < 0.1:
        return other
    head = f"{call.headers['X-ACB-Match-Id']}.{call.headers['X-ACB-Turn']}"
    return replace(
        other, headers={**other.headers, "X-ACB-Signature": signature(SECRET, head, other.body)}
    )


class Service:
    """A web service that plays a built-in strategy, and spoils some of its replies."""

    def __init__(self, game: str, strategy: str, spoil: Spoil, path: str) -> None:
        """Spoil half of the replies to requests whose path begins like this."""
        make = load_strategies(game)[strategy]
        self.game = game
        self.context = BotContext(lambda player: make(player, Random(1)), {}, time)
        self.handlers: dict[str, BotHandler] = {}
        self.spoil, self.path = spoil, path
        self.rng, self.lock, self.sent = Random(game), Lock(), 0

    def bot(self, name: str) -> BotHandler:
        """Return the bot of this name, which is its username."""
        if name not in self.handlers:
            settings = {"secret": SECRET, "username": name}
            context = replace(self.context, settings=settings)
            self.handlers[name] = load_bot_handler(self.game, context)
        return self.handlers[name]

    def answer(self, call: Request) -> Reply:
        """Answer a request; bots have the first part of the path as their name."""
        _, name, rest = call.path.split("/", 2)
        call = replace(call, path=f"/{rest}")
        with self.lock:
            reply = self.bot(name).answer(call)
            assert reply is not None
            if not call.path.startswith(self.path) or self.rng.random() < 0.5:
                return reply
            self.sent += 1
            return self.spoil(self.rng, call, reply) if reply.body else reply


class Server(ThreadingHTTPServer):
    """A server whom many bots may ask at once."""

    daemon_threads = True
    request_queue_size = 64


@contextmanager
def listening(service: Service) -> Iterator[str]:
    """Serve while the block runs; gives the address without the name of a bot."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            call = Request(self.command, self.path, self.rfile.read(size), dict(self.headers))
            reply = service.answer(call)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Say nothing."""

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


WEB: dict[str, tuple[str, Spoil, str, int, dict[str, Any]]] = {
    "code-battle": ("gatherer", signed_again, "/turn", 3, {"max_turns": 12}),
    "end-of-codes": ("sample", spoiled_body, "/round", 12, {"M": 2, "MAX_HP": 5, "max_rounds": 6}),
    "hexagon": ("random", spoiled_body, "/games", 2, {"size": 3}),
}
"""Strategy, how its replies are spoiled, where, how many bots play, and options."""


@pytest.mark.parametrize("game", WEB)
def test_garbage_of_web_services_ends_no_match_otherwise(game: str) -> None:
    strategy, spoil, path, number, options = WEB[game]
    service = Service(game, strategy, spoil, path)
    names = [f"bot{seat}" for seat in range(number)]
    secrets = [f"{name}.secret={SECRET}" for name in names]
    seed = faults = 0
    with listening(service) as address:
        bots = [f"{name}={address}/{name}" for name in names]
        while service.sent < REPLIES:
            played = play_match(game, bots, seed, options, secrets)
            faults += len(played.result.faults)
            seed += 1
    assert faults > REPLIES / 4


PAINTER = """
import json, sys
for line in sys.stdin:
    state = json.loads(line)
    if "player_id" in state:
        rng = Random(state["player_id"] + SEED)
        print('{"ready":true}', flush=True)
        continue
    answer = {"turns_left": state["turns_left"], "type": "walk", "direction": [1, 0]}
    sys.stdout.buffer.write(spoiled(rng, answer) + b"\\n" + json.dumps(answer).encode() + b"\\n")
    sys.stdout.flush()
"""
"""A bot that answers each turn with garbage, then well, so that nobody waits for it."""


@pytest.mark.usefixtures("patient_painters")
def test_garbage_in_lines_ends_no_match_otherwise(tmp_path: Path) -> None:
    source = Path(mutations.__file__).read_text(encoding="utf-8")
    for seed in range(-(-REPLIES // 200)):
        bot = tmp_path / f"bot{seed}.py"
        bot.write_text(f"{source}\nSEED = '{seed}'\n{PAINTER}", encoding="utf-8")
        bots = [f"{name}={bot}" for name in ("a", "b")]
        played = play_match("paint", bots, seed, {"turns": 100, "width": 4, "height": 4})
        assert played.result.turns == 100
        assert played.result.faults
        kinds = {fault.kind for fault in played.result.faults}
        assert kinds <= {"illegal", "malformed", "timeout"}


CLIENT = """
import http.client, os, sys
from urllib.parse import urlsplit

server = urlsplit(os.environ["CW_SERVER"])

def get(path):
    link = http.client.HTTPConnection(server.hostname, server.port)
    link.putrequest("GET", "/", skip_host=False)
    link._buffer[0] = b"GET " + path + b" HTTP/1.1"
    link.endheaders()
    try:
        return json.loads(link.getresponse().read())
    except (ValueError, http.client.HTTPException, OSError):
        return {}

rng = Random(SEED)
me = get(b"/reg/tester")["player"]
while get(b"/status")["status_code"] != 200 + me:
    pass
for _ in range(EACH - 1):
    get(broken(rng, rng.choice((b"/reg/tester", b"/status", b"/history", b"/move/nobody/0,0,top"))))
said = "/move/tester/" + str(changed(rng, {"m": "0,0,top"}).get("m"))
get(broken(rng, said.encode(errors="replace").replace(b" ", b"%20")))
"""
"""A client that asks for garbage, and at last makes a move that is nearly one."""

EACH = 25
"""Requests of a client."""


def test_garbage_of_a_client_ends_no_match_otherwise(tmp_path: Path) -> None:
    source = Path(mutations.__file__).read_text(encoding="utf-8")
    for seed in range(-(-REPLIES // EACH)):
        bot = tmp_path / f"bot{seed}.py"
        constants = f"SEED, EACH = {seed}, {EACH}"
        bot.write_text(f"{source}\n{constants}\n{CLIENT}", encoding="utf-8")
        bots = [f"me={bot}", "builtin:random"]
        played = play_match("circuit-wars", bots, seed, {"size": 3, "timeout": 60})
        assert played.result.winner == 1
        assert played.result.faults_of(1) == []
