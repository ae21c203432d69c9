"""Every kit answers the vectors over its real transport, and leaves when it is told to."""

from __future__ import annotations

import json
import re
import signal
import socket
import struct
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlencode

import pytest

from cw.kits import LANGUAGES, WEB_SERVICES, games, languages_of
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.fixtures import Serve
from tests.kits import matrix
from tests.kits.judging import ROOT, Document, check, vectors
from tests.kits.make_vectors import MAKERS, VECTORS, text
from tests.kits.running import PATIENCE, Kit, built, running, serving
from tests.kits.steps import API_KEY
from tests.ports import free_port
from tests.tools import require

FAST = {
    "circuit-wars": "python",
    "code-battle": "python",
    "end-of-codes": "python",
    "hexagon": "javascript",
    "paint": "python",
}
"""The kit of each game that the fast suite has: with one, each protocol is spoken."""
TURN = r"turn \d+ \d+\.\d ms \d+ moves"
"""What a bot of Code Battle logs for each turn."""
ANY_REQUEST = {
    "code-battle": b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
    "end-of-codes": f"GET /bot?api_key={API_KEY} HTTP/1.1\r\nHost: x\r\n\r\n".encode(),
    "hexagon": b"DELETE /games/x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
}


def kits_of(*games: str) -> pytest.MarkDecorator:
    """Run a test for every kit of these games; the fast suite has one of each game."""
    kits = [
        pytest.param(
            (game, language),
            id=f"{game}-{language}",
            marks=() if FAST[game] == language else pytest.mark.thorough,
        )
        for game in games
        for language in LANGUAGES
    ]
    return pytest.mark.parametrize("kit", kits, indirect=True, scope="module")


@pytest.fixture(scope="module")
def kit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kit:
    game, language = request.param
    require(language)
    return built(tmp_path_factory, game, language)


@pytest.mark.parametrize("game", MAKERS)
def test_the_vectors_are_those_of_the_rules(game: str) -> None:
    assert (VECTORS / f"{game}.jsonl").read_text(encoding="utf-8") == text(game)


def test_the_signatures_are_those_of_the_document() -> None:
    signatures = [each["signatures"] for each in vectors("code-battle") if "signatures" in each]
    assert signatures == [
        {
            "request": "49ea321d6cd6cbc6406a7bcc4585921f0cc79107a9b3cbd51b8dd7515b347474",
            "reply": "142b87dffcad9eae1ec2cc2a26ee430ac9f67e89a1f87f4ae9ce0167f9ba420c",
        }
    ]


@kits_of(*WEB_SERVICES)
def test_a_server_answers_all_vectors_at_once_and_stops(kit: Kit) -> None:
    with serving(kit) as server:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(server.follow, vectors(kit.game)))
        assert server.stop() == 0
    logged = [re.match(r"(\S+ \S+) \d{3} \d+\.\d ms$", line) for line in kit.log()]
    assert Counter(line[1] for line in logged if line) == Counter(server.asked)
    if kit.game == "code-battle":
        turns = [line for line in kit.log() if re.fullmatch(TURN, line)]
        assert len(turns) == sum(line.startswith("POST /turn 200 ") for line in kit.log()) > 0


@kits_of(*WEB_SERVICES)
def test_each_reply_leaves_in_one_piece(kit: Kit) -> None:
    with serving(kit) as server:
        peer = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        for number in range(1, 21):
            peer.sendall(ANY_REQUEST[kit.game])
            head, _, body = peer.recv(65536).partition(b"\r\n\r\n")
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            assert length, head
            assert len(body) == int(length[1]) > 0
            if sys.platform == "linux":
                assert data_segments(peer) == number
        peer.close()


def data_segments(peer: socket.socket) -> int:
    """Count the segments with data that have come: `tcpi_data_segs_in` of Linux."""
    (count,) = struct.unpack_from(
        "I", peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160), 152
    )
    return int(count)


@kits_of(*WEB_SERVICES)
def test_wrong_lengths_and_lost_clients_do_no_harm(kit: Kit) -> None:
    with serving(kit) as server:
        for wrong in ("x", "-1", "99999999999999999999", str(16 * 1024 * 1024 + 1)):
            assert raw(server.port, f"POST /games HTTP/1.1\r\nHost: x\r\nContent-Length: {wrong}")
        for nonsense in ("\0" * 5000, "GET", "GET /" + "x" * 100_000, "a b c d e\r\n: :"):
            raw(server.port, nonsense)
        for part in (b"POST /turn HT", b"POST /round HTTP/1.1\r\nContent-Length: 50\r\n\r\nabc"):
            peer = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
            peer.sendall(part)
            peer.close()
        for vector in vectors(kit.game)[:2]:
            server.follow(vector)


@kits_of(*WEB_SERVICES)
def test_a_port_that_is_taken_is_said(kit: Kit) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with running(kit, PORT=str(port)) as (process, _, _):
            assert process.wait(PATIENCE) == 1
    (line,) = kit.log()
    assert line.startswith(f"cannot listen on 127.0.0.1:{port}: ")
    assert "in use" in line


def raw(port: int, head: str) -> bool:
    """Return whether a request is refused with a status of 4xx."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as peer:
        try:
            peer.sendall(head.encode("latin-1") + b"\r\n\r\n")
            peer.shutdown(socket.SHUT_WR)
            return re.match(rb"HTTP/1\.[01] 4\d\d ", peer.recv(65536)) is not None
        except OSError:
            return False


@cache
def large_maps() -> tuple[tuple[str, str], ...]:
    """Return content type and body of a request with 150,000 creatures, in both encodings."""
    names = ("creatureid", "userid", "x", "y", "hp")
    world = [dict(zip(names, (i, 2, i % 700, i // 700, 0), strict=True)) for i in range(3, 150_000)]
    world += [dict(zip(names, (1, 1, 0, 699, 9), strict=True))]
    world += [dict(zip(names, (2, 2, 1, 699, 9), strict=True))]
    fields = {"method": "create", "api_key": API_KEY, "round": 5, "gameid": 9, "myid": 1}
    fields |= {"W": 700, "H": 700, "map": json.dumps(world, separators=(",", ":"))}
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n'
        for n, v in fields.items()
    ]
    return (
        ("application/x-www-form-urlencoded", urlencode(fields)),
        ("multipart/form-data; boundary=x", "".join([*parts, "--x--\r\n"])),
    )


@pytest.mark.thorough
@kits_of("end-of-codes")
def test_a_map_of_150000_creatures_is_read(kit: Kit) -> None:
    attack = {"intent": [{"creatureid": 1, "action": "attack", "direction": "east"}]}
    with serving(kit) as server:
        for kind, body in large_maps():
            assert len(body) <= 16 * 1024 * 1024
            request = {"method": "POST", "path": "/round", "type": kind, "body": body}
            status, reply = server.ask_once(request)
            assert (status, json.loads(reply)) == (200, attack)


@kits_of("code-battle")
def test_without_a_secret_nothing_is_served(kit: Kit) -> None:
    with running(kit, BOT_SECRET="") as (process, _, output):
        assert (output.read(), process.wait(PATIENCE)) == (b"", 1)
    assert any("BOT_SECRET" in line for line in kit.log())


@kits_of("end-of-codes")
def test_without_a_key_every_key_will_do(kit: Kit) -> None:
    with serving(kit, API_KEY="") as server:
        for path in ("/bot", "/bot?api_key=x"):
            assert server.ask_once({"method": "GET", "path": path})[0] == 200


@kits_of("paint")
def test_a_talker_answers_the_vectors_and_leaves_at_the_end(kit: Kit) -> None:
    for vector in vectors(kit.game):
        with running(kit) as (process, to_bot, from_bot):
            for step in vector["steps"]:
                to_bot.write(step["send"].encode() + b"\n")
                to_bot.flush()
                if "reply" in step:
                    check(step["reply"], from_bot.readline())
            to_bot.close()
            assert from_bot.read() == b""
            assert process.wait(PATIENCE) == 0
        assert len(kit.log()) >= sum("reply" in step for step in vector["steps"])


@kits_of("paint")
def test_a_talker_stops_at_a_signal(kit: Kit) -> None:
    with running(kit) as (process, to_bot, from_bot):
        to_bot.write(b'{"player_id":"p1"}\n')
        to_bot.flush()
        assert json.loads(from_bot.readline()) == {"ready": True}
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


class Script(HTTPServer):
    """A server of Circuit Wars that answers what a vector says."""

    def __init__(self, steps: list[Document]) -> None:
        super().__init__(("127.0.0.1", 0), ScriptedAnswer)
        self.steps = list(steps)
        self.wrong: list[str] = []


class ScriptedAnswer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        script = self.server
        assert isinstance(script, Script)
        step = script.steps.pop(0) if script.steps else {"paths": [], "answer": {}}
        if self.path not in step["paths"]:
            script.wrong.append(f"{self.path} is none of {step['paths']}")
        body = json.dumps(step["answer"]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@kits_of("circuit-wars")
def test_a_client_follows_the_vectors(kit: Kit) -> None:
    for vector in vectors(kit.game):
        with Script(vector["steps"]) as script:
            threading.Thread(target=script.serve_forever, args=(0.01,), daemon=True).start()
            server = f"http://127.0.0.1:{script.server_port}"
            with running(kit, CW_SERVER=server, CW_PAUSE="0", TEAM_ID="vector") as (
                process,
                _,
                output,
            ):
                out = output.read().decode().splitlines()
                process.wait(PATIENCE)
            script.shutdown()
        assert not script.wrong, (vector["name"], script.wrong, kit.log())
        assert not script.steps, (vector["name"], out, kit.log())
        assert process.returncode == vector["exit"], (out, kit.log())
        assert (out[-1] if out else "") == vector["says"]


@pytest.mark.thorough
@kits_of("circuit-wars")
def test_two_clients_play_a_whole_game(kit: Kit, serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=PATIENCE)))
    settings = {"CW_SERVER": server, "CW_PAUSE": "0.001"}
    with running(kit, **settings, TEAM_ID="a") as a, running(kit, **settings, TEAM_ID="b") as b:
        outputs = [output.read().decode() for _, _, output in (a, b)]
        assert [process.wait(PATIENCE) for process, _, _ in (a, b)] == [0, 0], (outputs, kit.log())
    assert sorted(each.splitlines()[-1] for each in outputs) == ["You lost.", "You won."]
    assert all("The game has finished" in each for each in outputs)


@kits_of("circuit-wars")
def test_a_client_without_a_server_says_so(kit: Kit) -> None:
    with running(kit, CW_SERVER=f"http://127.0.0.1:{free_port()}") as (process, _, _):
        assert process.wait(PATIENCE) == 1
    assert any("there is no server at" in line for line in kit.log())


def test_the_page_names_every_language_and_each_game_has_its_kit() -> None:
    *titles, last = (how.title for how in LANGUAGES.values())
    page = " ".join((ROOT / "docs" / "kits.md").read_text(encoding="utf-8").split())
    assert f"Every game has a kit in {', '.join(titles)} and {last}." in page
    for game in games():
        assert set(languages_of(game)) == set(LANGUAGES)


@pytest.mark.thorough
@pytest.mark.usefixtures("patient_painters")
@kits_of(*games())
def test_cw_check_is_content(kit: Kit) -> None:
    fine, printed = matrix.check(kit)
    assert fine, printed


@pytest.mark.usefixtures("patient_painters")
@pytest.mark.parametrize("kit", FAST.items(), ids="-".join, indirect=True, scope="module")
def test_a_match_is_played(kit: Kit) -> None:
    """One kit of each game: the check of every kit plays matches too."""
    fine, printed = matrix.play(kit)
    assert fine, printed
