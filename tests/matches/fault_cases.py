"""The faults of each game as real programs make them, and their lists in docs/faults.md.

`python -m tests.matches.fault_cases` plays them all and writes the lists again.
"""

from __future__ import annotations

import asyncio
import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Final

import pytest

from cw.arena.bots import read_bots
from cw.games.rules import Json
from cw.matches.run import run_match
from cw.matches.spec import Isolation, MatchFault, MatchSpec
from tests.matches.bots_of_games import SOURCES, write
from tests.patience import FOR_PAINTERS, LIMITS, SECONDS, be_patient

PAGE: Final = Path(__file__).parents[2] / "docs" / "faults.md"
ALL_LIMITS: Final = {**LIMITS, **FOR_PAINTERS}
LATE: Final = 2
"""Turns that every bot plays well before it does something wrong in a turn."""

OPPONENT: Final = {
    "circuit-wars": "random",
    "code-battle": "random",
    "end-of-codes": "idle",
    "hexagon": "random",
    "paint": "walker",
}
OPTIONS: Final[Mapping[str, Mapping[str, Json]]] = {
    "circuit-wars": {"size": 5, "timeout": 1.0},
    "code-battle": {"max_turns": 14},
    "end-of-codes": {"M": 2, "MAX_HP": 5, "max_rounds": 6, "timeout": 1.0, "connect_timeout": 1.0},
    "hexagon": {"size": 4},
    "paint": {"turns": 5},
}
LONGEST_SENTENCE: Final = 76
"""Characters of a sentence in a list."""


@dataclass(frozen=True)
class Case:
    """What a bot does wrong: some of its text is changed, or it has an address of its own."""

    did: str
    change: tuple[str, str] | None = None
    address: str | None = None
    public: bool = False
    """Whether only public addresses may be asked."""
    opponent: str | None = None
    """Another built-in than usual."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """Further options of the match."""
    has_no_answer: bool = False
    """Whether its lines are none, so that in Paint another is waited for to the end of the time."""

    @property
    def is_late(self) -> bool:
        """Return whether the bot lets a limit pass."""
        return self.change is not None and "sleep(600)" in self.change[1]


def late(line: str, instead: str, turn: str = "turn") -> tuple[str, str]:
    """Return a line, and one that does something else after the first turns."""
    return line, f"{line.rstrip()} if {turn} < {LATE} else {instead}" + "\n" * line.count("\n")


MOVE: Final = 'move = free(status["board"])'
JOIN: Final = 'me = get("/reg/tester")["player"]'

SLOW: Final = "slow"
"""Stands for a program that takes its time."""

CIRCUIT_WARS: Final = (
    Case("its program ends at once", (JOIN, "sys.exit(3)")),
    Case("a text that is not a segment", late(MOVE, '"0,0,up"')),
    Case("a square that is not on the board", late(MOVE, '"9,9,top"')),
    Case("a segment that is drawn already", late(MOVE, 'status["last_move"]')),
    Case("no move in time", late(MOVE, "time.sleep(600)")),
    Case(
        "moves when it is the opponent's turn",
        (
            MOVE,
            f'{MOVE}\n    get("/move/tester/" + move)\n    move = free(get("/status")["board"])',
        ),
        opponent=SLOW,
    ),
    Case("its program ends in the middle", late(MOVE, "sys.exit(3)")),
)

ANSWER: Final = 'answer = {"moves": moves}'
SIGN: Final = "self.reply(body, 200, mark)"
HEALTH: Final = "status = 200 if self.path"

CODE_BATTLE: Final = (
    Case("nobody listens at its address", address="http://127.0.0.1:9"),
    Case("its program ends at once", ("import hashlib,", "raise SystemExit(3)\nimport hashlib,")),
    Case("`GET /health` has another status than 200", (HEALTH, "status = 503 if self.path")),
    Case("another status than 200", late(SIGN, "self.reply(b'', 500)", "int(turn)")),
    Case(
        "no signature",
        late(
            'self.send_header("X-ACB-Signature", mark)',
            "None",
            "int(self.headers['X-ACB-Turn'] or 0)",
        ),
    ),
    Case("a wrong signature", late(SIGN, "self.reply(body, 200, mark[::-1])", "int(turn)")),
    Case("no JSON", late("body = json.dumps(answer).encode()", "b'hm'")),
    Case("no object", late(ANSWER, "[]")),
    Case("`moves` is null", late(ANSWER, '{"moves": None}')),
    Case("`moves` is not a list", late(ANSWER, '{"moves": 7}')),
    Case("an entry that is not an object", late(ANSWER, '{"moves": [7]}')),
    Case("an entry without a tile", late(ANSWER, '{"moves": [{"direction": "N"}]}')),
    Case(
        "a tile without a bot of its own",
        late(ANSWER, '{"moves": [{"row": 0, "col": 0, "direction": "N"}]}'),
    ),
    Case("an unknown direction", late(ANSWER, '{"moves": [{**moves[0], "direction": "up"}]}')),
    Case("two entries for one bot", late(ANSWER, '{"moves": moves + moves[:1]}')),
    Case("a body above 256 KiB", late(ANSWER, '{"moves": [], "x": "x" * 300_000}')),
    Case(
        "no answer in time",
        late(SIGN, "time.sleep(600)", "int(turn)"),
        options={"max_turns": LATE + 1},
    ),
    Case("closes the connection", late(SIGN, "self.connection.shutdown(2)", "int(turn)")),
    Case("its program ends in the middle", late(SIGN, "os._exit(3)", "int(turn)")),
)

HELLO: Final = "self.reply(HELLO)"
CREATED: Final = "return self.reply([])"
INTENT: Final = 'answer = {"intent": intents}'
SENT: Final = "self.reply(answer)"
FIRST: Final = "intents[0]"


def hello(did: str, reply: str) -> Case:
    """Return a bot with another reply to `GET /bot`."""
    return Case(f"`GET /bot`: {did}", (HELLO, reply))


def created(did: str, reply: str) -> Case:
    """Return a bot with another reply to `POST /game`."""
    return Case(f"`POST /game`: {did}", (CREATED, f"return {reply}"))


def intent(did: str, reply: str) -> Case:
    """Return a bot with another reply to a late `POST /round`."""
    return Case(f"`POST /round`: {did}", late(INTENT, reply))


def changed(did: str, member: str) -> Case:
    """Return a bot whose first intent of a late round is changed."""
    return intent(did, f'{{"intent": [{{**{FIRST}, {member}}}]}}')


def without(member: str) -> Case:
    """Return a bot whose first intent of a late round lacks a member."""
    return changed(f"an intent without `{member}`", f'"{member}": None')


END_OF_CODES: Final = (
    Case("the name of its host has no address", address="http://nowhere.invalid:9"),
    Case("its address is private, and only public ones may be asked", public=True, address="PLAIN"),
    Case("nobody listens at its address", address="http://127.0.0.1:9"),
    Case("`https://`, and no TLS there", address="https://127.0.0.1:PLAIN"),
    Case("its program ends at once", ("import json,", "raise SystemExit(3)\nimport json,")),
    hello("no answer in time", "__import__('time').sleep(600)"),
    hello("closes the connection", "self.connection.shutdown(2)"),
    hello("another status than 200", "self.reply(HELLO, 404)"),
    hello("a body above 64 KiB", 'self.reply({**HELLO, "version": "1" * 70_000})'),
    hello("no JSON", "self.wfile.write(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nhm')"),
    hello("only the key `error`", 'self.reply({"error": "full"})'),
    hello("no `botname`", 'self.reply({**HELLO, "botname": None})'),
    hello("no `version`", 'self.reply({**HELLO, "version": None})'),
    hello("no `username`", 'self.reply({**HELLO, "username": None})'),
    hello("a member that is not text", 'self.reply({**HELLO, "version": 1})'),
    hello("a fourth member", 'self.reply({**HELLO, "color": "red"})'),
    hello("another username", 'self.reply({**HELLO, "username": "eve"})'),
    created("anything but `[]` or `{}`", 'self.reply(["ok"])'),
    created("no answer in time", "__import__('time').sleep(600)"),
    created("only the key `error`", 'self.reply({"error": "full"})'),
    Case("`POST /round`: no answer in time", late(SENT, "__import__('time').sleep(600)")),
    Case("`POST /round`: closes the connection", late(SENT, "self.connection.shutdown(2)")),
    Case("`POST /round`: status 500", late(SENT, "self.reply(answer, 500)")),
    Case("`POST /round`: status 201", late(SENT, "self.reply(answer, 201)")),
    intent("a body above 256 KiB", '{"intent": [], "x": "x" * 300_000}'),
    intent("null", "None"),
    intent("only the key `error`", '{"error": "full"}'),
    intent("no key `intent`", "{}"),
    intent("`intent` is null", '{"intent": None}'),
    intent("a second key", '{"intent": [], "say": "hi"}'),
    intent("`intent` is not a list", '{"intent": {}}'),
    intent("an intent that is not an object", '{"intent": [7]}'),
    without("creatureid"),
    without("direction"),
    without("action"),
    changed("a fourth member of an intent", '"speed": 2'),
    changed("`creatureid` is not an integer", '"creatureid": "1"'),
    changed("an unknown creature", '"creatureid": 99'),
    changed("a creature of somebody else", '"creatureid": others[0]'),
    Case(
        "`POST /round`: a creature that is dead",
        (
            'mine = [c["creatureid"] for c in world if c["userid"] == me and c["hp"] > 0]',
            'mine = [c["creatureid"] for c in world if c["userid"] == me]',
        ),
        opponent="sample",
        options={"M": 10, "MAX_HP": 1, "max_rounds": 60},
    ),
    changed("an unknown action", '"action": "JUMP"'),
    changed("an unknown direction", '"direction": "up"'),
    intent("two intents for a creature", '{"intent": [intents[0], intents[0]]}'),
    Case("its program ends in the middle", late(SENT, "os._exit(3)")),
)

TELL: Final = 'self.reply({"status": "ok", "move_from": start, "move_to": target})'
DISTANT: Final = """next(
    [i, j]
    for i, row in enumerate(GAMES[self.game()])
    for j, value in enumerate(row)
    if value == 0 and abs(i - start[0]) > 2
)"""
TAKE: Final = 'GAMES[said["id"]] = said["board"]["cells"]\n'
CHANGED: Final = 'GAMES[self.game()][i][j] = new\n        self.reply({"status": "ok"})'


def late_get(did: str, reply: str) -> Case:
    """Return a bot with another answer to a late GET."""
    return Case(did, late(TELL, reply))


HEXAGON: Final = (
    Case("nobody listens at its address", address="http://127.0.0.1:9"),
    Case("its program ends at once", ("import json,", "raise SystemExit(3)\nimport json,")),
    Case(
        "`POST`: another status than 2xx",
        (TAKE, f'{TAKE}        return self.reply({{"status": "ok"}}, 500)\n'),
    ),
    Case(
        '`PUT`: no `"status": "ok"`',
        (CHANGED, CHANGED.replace('"ok"', '"no"')),
    ),
    late_get(
        "no JSON", "self.wfile.write(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nhm')"
    ),
    late_get('no `"status": "ok"`', "self.reply({})"),
    late_get("no `move_from`", 'self.reply({"status": "ok", "move_to": target})'),
    late_get(
        "a cell that is not on the board",
        'self.reply({"status": "ok", "move_from": start, "move_to": [9, 9]})',
    ),
    late_get(
        "moves from a cell that is not its own",
        'self.reply({"status": "ok", "move_from": target, "move_to": start})',
    ),
    late_get(
        "moves to a cell that is taken",
        'self.reply({"status": "ok", "move_from": start, "move_to": start})',
    ),
    Case(
        "moves too far",
        late(TELL, f'self.reply({{"status": "ok", "move_from": start, "move_to": {DISTANT}}})'),
    ),
    late_get("a body above 64 KiB", 'self.reply({"status": "ok", "x": "x" * 70_000})'),
    late_get("no answer in time", "__import__('time').sleep(600)"),
    late_get("closes the connection", "self.connection.shutdown(2)"),
    late_get("its program ends in the middle", "os._exit(3)"),
)

PAINTED: Final = 'answer = {"turns_left": turn, "type": "walk", "direction": [1, 0]}'
REPLY: Final = "print(json.dumps(answer), flush=True)"
PLAYED: Final = 'len(state["previous_actions"])'
READY: Final = "print('{\"ready\":true}', flush=True)"


def line(did: str, answer: str) -> Case:
    """Return a bot that does something else in place of a late answer."""
    return Case(did, late(REPLY, answer, PLAYED), has_no_answer="print" in answer)


PAINT: Final = (
    Case("its program ends at once", ("import json, sys", "import json, sys\nsys.exit(3)")),
    Case("no ready line", (READY, "__import__('time').sleep(600)")),
    line("no answer in time", "__import__('time').sleep(600)"),
    line("a line that is no JSON", "print('hm', flush=True)"),
    line("no number `turns_left`", "print('{}', flush=True)"),
    Case("an unknown type", late(PAINTED, '{"turns_left": turn, "type": "run"}', PLAYED)),
    Case(
        "an unknown direction",
        late(PAINTED, '{"turns_left": turn, "type": "walk", "direction": [2, 0]}', PLAYED),
    ),
    line("a line above 64 KiB", "print('x' * 70_000, flush=True)"),
    line("exits with code 0", "sys.exit(0)"),
    line(
        "closes its output and runs on",
        "(__import__('os').close(1), __import__('time').sleep(600))",
    ),
    line("exits with another code", "sys.exit(3)"),
)

CASES: Final = {
    "circuit-wars": CIRCUIT_WARS,
    "code-battle": CODE_BATTLE,
    "end-of-codes": END_OF_CODES,
    "hexagon": HEXAGON,
    "paint": PAINT,
}


class Plain(BaseRequestHandler):
    """Answers whoever connects with something that is no TLS."""

    def handle(self) -> None:
        self.request.recv(1)
        self.request.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
        self.request.recv(65536)


@contextmanager
def plain_server() -> Iterator[int]:
    """Listen for a while on a port where nobody speaks TLS."""
    with ThreadingTCPServer(("127.0.0.1", 0), Plain) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def faults(game: str, case: Case, folder: Path) -> tuple[MatchFault, ...]:
    """Play a match against a built-in; return the faults of it."""
    with plain_server() as port, pytest.MonkeyPatch.context() as patch:
        source = SOURCES[game]
        bot = case.address or write(folder, source, *([case.change] if case.change else []))
        bot = bot.replace("https://127.0.0.1:PLAIN", f"https://127.0.0.1:{port}")
        bot = bot.replace("PLAIN", f"http://127.0.0.1:{port}")
        read = read_bots([f"good={opponent(game, case, folder)}", f"bad={bot}"], ["bad.secret=s"])
        isolation = Isolation(addresses="public" if case.public else "any")
        options = {**OPTIONS[game], **case.options}
        if not case.is_late:
            be_patient(patch.setattr, LIMITS if case.has_no_answer else ALL_LIMITS)
            options |= {name: SECONDS for name in options if name == "timeout"}
        spec = MatchSpec("fault", game, tuple(read.bots), 3, options, isolation=isolation)
        return asyncio.run(run_match(spec, secrets=read.secrets)).faults


def opponent(game: str, case: Case, folder: Path) -> str:
    """Return the bot argument of the opponent."""
    if case.opponent == SLOW:
        (folder / SLOW).mkdir()
        named = ("tester", "slow"), (MOVE, f"time.sleep(0.5); {MOVE}")
        return write(folder / SLOW, SOURCES[game], *named)
    return f"builtin:{case.opponent or OPPONENT[game]}"


def row(game: str, case: Case) -> str:
    """Return a line of a list: the kind and the sentence of the bot's first fault."""
    with TemporaryDirectory() as folder:
        row_faults = faults(game, case, Path(folder))
    assert row_faults, f"{game}: {case.did}: no fault was told"
    assert {fault.bot for fault in row_faults} == {1}, row_faults
    return f"{row_faults[0].kind:<13} {line_text(row_faults[0].detail)}\n"


def line_text(sentence: str) -> str:
    """Return a sentence, shortened, without the numbers of ports and battles."""
    text = re.sub(r"127\.0\.0\.1:\d\d+", "127.0.0.1:PORT", sentence)
    text = re.sub(r"_ssl\.c:\d+", "_ssl.c", text)
    text = re.sub("/games/[0-9a-f]{16}", "/games/ID", text)
    return textwrap.shorten(text, LONGEST_SENTENCE, placeholder=" ...")


def rows(game: str) -> str:
    """Return the list of a game, each line once."""
    return "".join(dict.fromkeys(row(game, case) for case in CASES[game]))


def renewed(page: str, game: str) -> str:
    """Return the page with a new list of a game."""
    title = game.replace("-", " ").title().replace(" Of ", " of ")
    before, heading, after = page.partition(f"## {title}\n")
    old = re.search(r"^```text\n(.*?)^```$", after, re.MULTILINE | re.DOTALL)
    assert old is not None
    return before + heading + after[: old.start(1)] + rows(game) + after[old.end(1) :]


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    for name in CASES:
        text = renewed(text, name)
    PAGE.write_text(text, encoding="utf-8")
