"""Lets a client in a network of its own reach its server: run as source, alone.

Usage: forwarder.py SOCKET COMMAND...  Listens on 127.0.0.1:5000, where a client expects its server,
carries every connection to a Unix socket, runs the command, and ends with it.
"""

import asyncio
import sys
from contextlib import suppress

PORT = 5000
PIECE = 65536


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry bytes one way until they end."""
    with suppress(OSError):
        while data := await reader.read(PIECE):
            writer.write(data)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.close()


async def main(path: str, command: list[str]) -> int:
    """Forward while the command runs; give its exit code."""

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_unix_connection(path)
        await asyncio.gather(carry(reader, there_writer), carry(there_reader, writer))

    server = await asyncio.start_server(forward, "127.0.0.1", PORT)
    client = await asyncio.create_subprocess_exec(*command)
    code = await client.wait()
    server.close()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:])))
