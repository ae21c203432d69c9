"""Bots that reply immediately: `python -m bench.echo lines` and `python -m bench.echo http`.

The web service serves all bots of a game: the first segment of the path is the bot's name.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Final

ANSWERS: Final = {
    "bot": b'{"botname":"echo","version":"1","username":"NAME"}',
    "game": b"[]",
    "round": b'{"intent":[]}',
}


def lines() -> None:
    """Play Paint without a thought."""
    for line in sys.stdin.buffer:
        start = line.find(b'"turns_left":')
        if start < 0:
            reply = b'{"ready":true}'
        else:
            turn = int(line[start + 13 :].split(b",", 1)[0].rstrip(b"}\n"))
            reply = json.dumps({"turns_left": turn, "type": "walk", "direction": [0, 1]}).encode()
        sys.stdout.buffer.write(reply + b"\n")
        sys.stdout.buffer.flush()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection, each in one write."""
    while head := await reader.readuntil(b"\r\n\r\n"):
        name, _, path = head.split(b" ", 2)[1][1:].partition(b"?")[0].decode().partition("/")
        length = head.lower().find(b"content-length:")
        if length >= 0:
            await reader.readexactly(int(head[length + 15 :].split(b"\r\n", 1)[0]))
        body = ANSWERS.get(path, b"{}").replace(b"NAME", name.encode())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()


async def quietly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer until the other side hangs up."""
    try:
        await answer(reader, writer)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def http() -> None:
    """Serve on any port."""
    server = await asyncio.start_server(quietly, "127.0.0.1", 0, limit=2**25, backlog=256)
    port = server.sockets[0].getsockname()[1]
    sys.stdout.write(f"listening on http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "lines":
        lines()
    else:
        asyncio.run(http())
