"""Forwards connections between us and a bot in its own network; runs as a stand-alone script.

    forwarder.py out SOCKET COMMAND...  From 127.0.0.1:5000, where a client expects its server,
                                        to the Unix socket of the server.
    forwarder.py in NUMBER COMMAND...   From the Unix socket that was inherited under this number
                                        to the port that the first line of a connection names; a
                                        byte reports whether it is open: + or -.

It execs the command; the forwarding process stays in the background and dies with the sandbox.
"""

import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

assert sys.platform == "linux"  # noqa: S101 - there is no bubblewrap elsewhere, and mypy knows

PORT = 5000
PIECE = 65536
LONGEST_LINE = 8
WAITING = 64
ADDRESSES = ("127.0.0.1", "::1")


def out(path: str) -> tuple[socket.socket, Callable[[socket.socket], socket.socket]]:
    """Return the listening socket, and a function that connects to the server."""

    def find(_: socket.socket) -> socket.socket:
        there = socket.socket(socket.AF_UNIX)
        there.connect(path)
        return there

    return socket.create_server(("127.0.0.1", PORT), backlog=WAITING), find


def into(number: str) -> tuple[socket.socket, Callable[[socket.socket], socket.socket]]:
    """Return the listening socket, and a function that connects to the requested port."""

    def find(here: socket.socket) -> socket.socket:
        line = b""
        while not line.endswith(b"\n") and len(line) < LONGEST_LINE:
            line += here.recv(1) or b"\n"
        try:
            there = connect(int(line))
        except (OSError, ValueError, OverflowError):
            here.sendall(b"-")
            raise OSError from None
        here.sendall(b"+")
        return there

    return socket.socket(fileno=int(number)), find


def connect(port: int) -> socket.socket:
    """Connect to a port of this network; raise OSError if nothing is listening."""
    try:
        return socket.create_connection((ADDRESSES[0], port))
    except OSError:
        return socket.create_connection((ADDRESSES[1], port))


def serve(listener: socket.socket, find: Callable[[socket.socket], socket.socket]) -> None:
    """Accept connections until the sandbox ends."""
    while True:
        here, _ = listener.accept()
        with suppress(RuntimeError):
            Thread(target=join, args=(here, find), daemon=True).start()


def join(here: socket.socket, find: Callable[[socket.socket], socket.socket]) -> None:
    """Forward data in both directions between a connection and its target."""
    with here, suppress(OSError), find(here) as there:
        for side in (here, there):
            if side.family != socket.AF_UNIX:
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = Thread(target=carry, args=(there, here), daemon=True)
        back.start()
        carry(here, there)
        back.join()


def carry(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes in one direction until they end, and acknowledge them immediately.

    Many servers hold back a response's body until its head is acknowledged.
    """
    quick = source.family != socket.AF_UNIX and hasattr(socket, "TCP_QUICKACK")
    with suppress(OSError):
        while data := source.recv(PIECE):
            if quick:
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def stay_behind() -> bool:
    """Fork twice: return True in the orphaned process, whose pipes are closed, False in this one.

    A direct child would become an unknown child of the command that this process execs.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return False
    if os.fork():
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in range(3):
        os.dup2(nothing, pipe)
    return True


def main(way: str, place: str, *command: str) -> None:
    """Listen, then exec the command."""
    listener, find = {"out": out, "in": into}[way](place)
    if stay_behind():
        serve(listener, find)
    listener.close()
    os.execvp(command[0], command)  # noqa: S606


if __name__ == "__main__":
    main(*sys.argv[1:])
