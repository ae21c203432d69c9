"""Bots that are web services: every way to misbehave ends in a fault that names it."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from aiohttp.resolver import ThreadedResolver

from cw.arena.transports.base_address import check_base
from cw.arena.transports.http import Cause, HttpBot
from cw.arena.transports.networks import is_public
from cw.arena.transports.resolver import NOT_HERE, REFUSED_AFTER
from cw.arena.transports.sockets import Reachable
from cw.errors import FaultKind, UsageError
from cw.games.rules import Fault
from cw.games.wire import QueryLimits, Reply, Request
from tests.arena.zoo import PATIENCE, fault_of, serving_bot
from tests.ports import free_port

SHORT = 0.3
CAP = 64 * 1024
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs the sockets of Linux")


async def get(bot: HttpBot, path: str = "/", seconds: float = PATIENCE) -> Reply | Fault:
    return await bot.request(Request("GET", path), QueryLimits(seconds))


async def post(bot: HttpBot, body: bytes, seconds: float = PATIENCE) -> Reply | Fault:
    headers = {"Content-Type": "application/json"}
    return await bot.request(Request("POST", "/turn", body, headers), QueryLimits(seconds))


def ask(name: str, seconds: float = PATIENCE) -> Reply | Fault:
    async def play() -> Reply | Fault:
        async with serving_bot(name) as base, HttpBot(base) as bot:
            return await get(bot, seconds=seconds)

    return asyncio.run(play())


def answer_of(answer: Reply | Fault) -> Reply:
    assert isinstance(answer, Reply), answer
    return answer


def fault_parts(answer: Reply | Fault) -> tuple[str, str, str]:
    """Return kind, cause and sentence of what must be a fault."""
    fault_of(answer)
    assert isinstance(answer, Fault)
    return answer.kind, answer.cause, answer.detail


@pytest.mark.parametrize(
    ("name", "seconds", "kind", "cause", "says"),
    [
        ("accepts_and_hangs", SHORT, "timeout", "timeout", "connected, but no answer to GET /"),
        ("reads_nothing", SHORT, "timeout", "timeout", "within 0.3 s"),
        ("drips_its_headers", SHORT, "timeout", "timeout", "no answer to GET / came"),
        ("drips_its_body", 5, "timeout", "timeout", r"headers and [1-9]\d* bytes of its body"),
        ("sends_headers_without_end", PATIENCE, "oversize", "oversize", "Too many headers"),
        ("sends_a_header_without_end", PATIENCE, "oversize", "oversize", "more than 32768 bytes"),
        ("sends_many_long_headers", PATIENCE, "oversize", "oversize", "more than 32768 bytes"),
        ("sends_a_gigabyte", PATIENCE, "oversize", "oversize", "longer than 65536 bytes"),
        ("promises_a_gigabyte", PATIENCE, "oversize", "oversize", "longer than 65536 bytes"),
        ("sends_chunks_without_end", PATIENCE, "oversize", "oversize", "longer than 65536"),
        ("sends_a_bomb", PATIENCE, "malformed", "compressed", "Content-Encoding: gzip"),
        ("promises_too_much", PATIENCE, "disconnected", "broken", "before the answer .* complete"),
        ("promises_too_little", PATIENCE, "malformed", "not_http", "is not HTTP"),
        ("hangs_up", PATIENCE, "disconnected", "broken", "closed before the answer to GET /"),
        ("resets", PATIENCE, "disconnected", "broken", "closed before the answer to GET /"),
        ("speaks_no_http", PATIENCE, "malformed", "not_http", "not HTTP: .*welcome to the bot"),
    ],
)
def test_misbehaviour_is_a_fault_that_names_it(
    name: str, seconds: float, kind: FaultKind, cause: Cause, says: str
) -> None:
    *fault, detail = fault_parts(ask(name, seconds))
    assert fault == [kind, cause], detail
    assert re.search(says, detail), detail


@pytest.mark.parametrize(
    "name",
    ["drips_its_headers", "drips_its_body", "sends_interim_answers", "sends_trailers_without_end"],
)
def test_the_deadline_holds_whatever_comes(name: str) -> None:
    async def play() -> float:
        async with serving_bot(name) as base, HttpBot(base) as bot:
            began = time.monotonic()
            fault_of(await get(bot, seconds=SHORT))
            return time.monotonic() - began

    assert asyncio.run(play()) < PATIENCE


@pytest.mark.parametrize(
    ("name", "status", "body"),
    [
        ("answers_html", 200, b"<h1>It works!</h1>"),
        ("answers_500", 500, b'{"status":"ok"}'),
        ("answers_in_http_1_0", 200, b'{"status":"ok"}'),
        ("answers_in_chunks", 200, b'{"status":"ok"}'),
    ],
)
def test_what_is_http_is_for_the_protocol_to_judge(name: str, status: int, body: bytes) -> None:
    answer = answer_of(ask(name))
    assert (answer.status, answer.body) == (status, body)
    assert 0 < answer.seconds < PATIENCE


def test_a_redirect_is_not_followed() -> None:
    async def play() -> list[Reply]:
        async with serving_bot("redirects") as base, HttpBot(base) as bot:
            return [answer_of(await get(bot)) for _ in range(2)]

    answers = asyncio.run(play())
    assert [(answer.status, answer.headers["asked"]) for answer in answers] == [
        (302, "1"),
        (302, "2"),
    ]


def test_headers_keep_their_spelling_and_no_others_are_sent() -> None:
    async def play() -> bytes:
        async with serving_bot("tells_what_came") as base, HttpBot(f"{base}/arena/") as bot:
            headers = {"X-ACB-Match-Id": "m_7f3a9b2c", "x-lower": "yes", "User-Agent": "Grader"}
            request = Request("POST", "/turn?a=%2F", b"{}", headers)
            answer = await bot.request(request, QueryLimits(PATIENCE))
            return answer_of(answer).body

    first, *lines, _, body = asyncio.run(play()).decode().split("\r\n")
    assert (first, body) == ("POST /arena/turn?a=%2F HTTP/1.1", "{}")
    names = [line.partition(":")[0] for line in lines]
    assert sorted(names) == sorted(
        ["Host", "Accept-Encoding", "X-ACB-Match-Id", "x-lower", "User-Agent", "Content-Length"]
    )
    assert "Accept-Encoding: identity" in lines
    assert "Content-Length: 2" in lines


def test_a_connection_is_kept_or_not_as_asked() -> None:
    async def play(keep: bool) -> list[str]:
        async with serving_bot("tells_what_came") as base, HttpBot(base, keep=keep) as bot:
            answers = [answer_of(await post(bot, b"{}")) for _ in range(3)]
            return [answer.headers["Connection-Number"] for answer in answers]

    assert asyncio.run(play(keep=True)) == ["1", "1", "1"]
    assert asyncio.run(play(keep=False)) == ["1", "2", "3"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_kept_connection_that_is_closed_is_opened_once_more(method: str) -> None:
    async def play() -> list[bytes]:
        async with serving_bot("hangs_up_on_the_second_request") as base, HttpBot(base) as bot:
            asking = [await (get(bot) if method == "GET" else post(bot, b"{}")) for _ in range(4)]
            return [answer_of(answer).body for answer in asking]

    assert asyncio.run(play()) == [b"1", b"2", b"3", b"4"]


@LINUX
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_answer_that_breaks_off_is_not_asked_again(method: str) -> None:
    async def play() -> tuple[str, bytes]:
        async with serving_bot("hangs_up_in_the_second_answer") as base, HttpBot(base) as bot:
            await get(bot)
            kind, _, _ = fault_parts(await (get(bot) if method == "GET" else post(bot, b"{}")))
            return kind, answer_of(await get(bot)).body

    assert asyncio.run(play()) == ("disconnected", b"2")


def test_a_bot_that_hangs_up_is_asked_once() -> None:
    async def play() -> bytes:
        async with serving_bot("hangs_up") as base, HttpBot(base) as bot:
            fault_of(await get(bot))
            fault_of(await get(bot))
            return answer_of(await get(bot, "/count")).body

    assert asyncio.run(play()) == b"3"


def test_after_a_timeout_the_late_answer_is_gone_with_its_connection() -> None:
    async def play() -> str:
        async with serving_bot("tells_what_came") as base, HttpBot(base) as bot:
            answer_of(await post(bot, b"early"))
            fault_parts(await post(bot, b"x" * 60000, seconds=0))
            answer = answer_of(await post(bot, b"newest"))
            assert answer.body.endswith(b"newest")
            return answer.headers["Connection-Number"]

    assert asyncio.run(play()) in ("1", "2")


def test_requests_to_one_bot_wait_for_each_other_without_a_clock() -> None:
    async def play() -> list[str]:
        async with serving_bot("accepts_and_hangs") as base, HttpBot(base) as bot:
            return [
                fault_parts(answer)[1]
                for answer in await asyncio.gather(*(get(bot, seconds=SHORT) for _ in range(3)))
            ]

    assert asyncio.run(play()) == ["timeout"] * 3


def test_a_large_request_arrives_and_one_that_is_not_read_times_out() -> None:
    body = b"x" * (3 * 2**20)

    async def play(name: str, seconds: float) -> Reply | Fault:
        async with serving_bot(name) as base, HttpBot(base) as bot:
            limits = QueryLimits(seconds, most_body=2**22)
            return await bot.request(Request("POST", "/", body), limits)

    assert answer_of(asyncio.run(play("tells_what_came", PATIENCE))).body.endswith(body)
    assert fault_parts(asyncio.run(play("reads_nothing", SHORT)))[:2] == ("timeout", "timeout")


@LINUX
def test_no_stall_when_head_and_body_come_apart() -> None:
    """A delayed acknowledgement costs 40 ms each time: one answer that costs less has had none."""

    async def play() -> None:
        async with serving_bot("sends_in_two_writes") as base, HttpBot(base) as bot:
            answer_of(await get(bot))
            async with asyncio.timeout(PATIENCE):
                while answer_of(await get(bot)).seconds >= 0.03:
                    pass

    asyncio.run(play())


def ask_at(base: str, *, private: bool = True, connect: float | None = None) -> tuple[str, ...]:
    async def play() -> Reply | Fault:
        async with HttpBot(base, reachable=Reachable(private=private)) as bot:
            limits = QueryLimits(PATIENCE, connect_seconds=connect)
            return await bot.request(Request("GET", "/"), limits)

    return fault_parts(asyncio.run(play()))


def test_nobody_listens() -> None:
    port = free_port()
    kind, cause, detail = ask_at(f"http://127.0.0.1:{port}")
    assert (kind, cause) == ("disconnected", "refused")
    assert f"nothing listens at 127.0.0.1:{port}" in detail


def test_a_name_without_address() -> None:
    kind, cause, detail = ask_at(f"http://{'a' * 70}.example")
    assert (kind, cause) == ("disconnected", "unresolved"), detail


def test_a_server_without_tls() -> None:
    async def play() -> tuple[str, str, str]:
        async with serving_bot("greets_first") as base:
            bot = HttpBot(base.replace("http:", "https:"))
            async with bot:
                return fault_parts(await get(bot))

    assert asyncio.run(play())[:2] == ("disconnected", "tls")


@contextmanager
def full_server() -> Iterator[int]:
    """Listen, but let no further connection be made."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            with suppress(BlockingIOError):
                one.connect(server.getsockname())
        try:
            yield server.getsockname()[1]
        finally:
            for one in waiting:
                one.close()


@LINUX
def test_no_connection_in_time() -> None:
    with full_server() as port:
        kind, cause, detail = ask_at(f"http://127.0.0.1:{port}", connect=SHORT)
    assert (kind, cause) == ("timeout", "unreachable")
    assert detail == "no connection to the bot within 0.3 s"


UNUSUAL = ("127.1", "2130706433", "0177.0.0.1", "0")
"""Other ways to write an address of this machine."""


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("127.0.0.1", "forbidden"),
        ("localhost", "unresolved"),
        ("[::1]", "forbidden"),
        ("[::ffff:127.0.0.1]", "forbidden"),
        ("[::127.0.0.1]", "forbidden"),
        ("0x7f000001", "unresolved"),
        *((host, "unresolved") for host in UNUSUAL),
    ],
)
def test_private_addresses_can_be_refused(host: str, wanted: str) -> None:
    async def play() -> tuple[str, str, str]:
        async with serving_bot("answers_html") as base:
            port = base.rpartition(":")[2]
            async with HttpBot(f"http://{host}:{port}", reachable=Reachable(private=False)) as bot:
                return fault_parts(await get(bot))

    kind, cause, detail = asyncio.run(play())
    assert (kind, cause) == ("disconnected", wanted)
    sentences = {
        "forbidden": "is a private address, which is not allowed here",
        "unresolved": "is not a canonical IPv4 address" if host in UNUSUAL else NOT_HERE,
    }
    assert sentences[wanted] in detail


def test_internal_names_are_refused_like_names_that_do_not_exist(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither the sentence nor the time tells which names exist in the network of the site."""
    lookups = {"vm.internal": 0.0, "slow.internal": 0.3, "nowhere.example": 0.0}

    async def resolve(_: object, host: str, port: int = 0, family: int = 0) -> list[Any]:
        await asyncio.sleep(lookups[host])
        if host == "nowhere.example":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        about = {"family": socket.AF_INET, "proto": 0, "flags": 0}
        return [{"hostname": host, "host": "10.0.0.1", "port": port, **about}]

    monkeypatch.setattr(ThreadedResolver, "resolve", resolve)
    seen = set()
    for host in lookups:
        began = time.monotonic()
        kind, cause, detail = ask_at(f"http://{host}:81", private=False)
        assert time.monotonic() - began >= REFUSED_AFTER
        seen.add((kind, cause, detail.replace(host, "HOST")))
    assert len(seen) == 1, seen


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("2001:4860:4860::8888", True),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::5db8:d822", True),
        ("2002:5db8:d822::", True),
        ("9.255.255.255", True),
        ("172.32.0.1", True),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("100.127.255.254", False),
        ("127.8.8.8", False),
        ("169.254.169.254", False),
        ("172.16.0.1", False),
        ("172.31.255.255", False),
        ("192.0.0.1", False),
        ("192.0.0.9", False),
        ("192.0.0.192", False),
        ("192.0.1.1", True),
        ("192.31.196.1", False),
        ("192.52.193.1", False),
        ("192.88.99.1", False),
        ("192.175.48.1", False),
        ("198.20.0.1", True),
        ("192.0.2.1", False),
        ("192.168.1.1", False),
        ("198.18.0.1", False),
        ("198.51.100.7", False),
        ("203.0.113.9", False),
        ("224.0.0.1", False),
        ("239.1.1.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("::7f00:1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:0:7f00:1", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b:1::7f00:1", False),
        ("100::1", False),
        ("2001::1", False),
        ("2001:1::1", False),
        ("2001:200::1", True),
        ("2620:4f:8000::1", False),
        ("64:ff9b::c000:c0", False),
        ("2001:db8::1", False),
        ("2002:7f00:1::", False),
        ("2002:a00:1::", False),
        ("3fff::1", False),
        ("5f00::1", False),
        ("fd00::1", False),
        ("fe80::1%eth0", False),
        ("fec0::1", False),
        ("ff02::1", False),
        ("ff0e::1", False),
    ],
)
def test_addresses_that_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize(
    "base",
    [
        "127.0.0.1:3000",
        "ftp://127.0.0.1",
        "http://",
        "http://me:secret@bot.example",
        "http://bot.example?x=1",
        "http://bot.example#x",
        "http://bot.example:0",
        "http://bot.example:99999",
        "http://bot .example",
        "http://[::1",
        "http://bot.example\r\nX: y",
    ],
)
def test_what_is_no_address_of_a_bot(base: str) -> None:
    with pytest.raises(UsageError, match="is not a base address of a bot"):
        check_base(base)


def test_the_last_slash_of_a_base_is_dropped() -> None:
    assert check_base("http://127.0.0.1:3000/bot/") == "http://127.0.0.1:3000/bot"


def test_cancelled_in_the_middle_of_a_request() -> None:
    async def play() -> None:
        async with serving_bot("accepts_and_hangs") as base, HttpBot(base) as bot:
            asking = asyncio.create_task(get(bot))
            await asyncio.sleep(0.1)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert fault_parts(await get(bot, seconds=SHORT))[1] == "timeout"

    asyncio.run(play())
