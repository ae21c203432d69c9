"""Hubs to attack: real processes, as one server, and as roles on PostgreSQL and Redis."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import pytest
import requests

from hub.tests import patience
from hub.tests.campaign import HASTY, Role, on_services, roles, run, wait_until
from hub.tests.services import new_postgresql, new_redis
from hub.tests.sites import Visitor, words_of
from tests.ports import free_port

Shape: TypeAlias = Literal["one server", "roles"]

SHAPES: Final[tuple[Shape, ...]] = ("one server", "roles")

RATED: Final = "paint"
"""The game of a rated competition that runs on each hub; its matches are short."""

SLOTS: Final = 2

BY_THE_RULES: Final = ("-m", "cw")
"""The program of a hub whose bots have the seconds that the rules of their games allow."""


class Player(Visitor):
    """Somebody with an account and a browser without a screen."""

    def __init__(self, address: str, name: str) -> None:
        super().__init__(address)
        answer = self.register(name)
        assert answer.status_code == 303, words_of(answer)

    def send_program(
        self, bot: str, files: Mapping[str, bytes], game: str = RATED
    ) -> requests.Response:
        """Send the form that makes a bot of a zip of files."""
        return self.send_zip(bot, zipped(files), game)

    def send_zip(self, bot: str, data: bytes, game: str = RATED) -> requests.Response:
        """Send the form that makes a bot of an upload."""
        form = {"csrf_token": self.token("/bots/new"), "game": game, "name": bot}
        return self.send_form("/bots/new/program", form, files={"program": ("bot.zip", data)})

    def page_of(self, bot: str, game: str = RATED) -> str:
        """Return the words of a bot's own page."""
        return words_of(self.open(f"/bot/{bot}?game={game}"))

    def checked(self, bot: str, game: str = RATED) -> str:
        """Return the words of a bot's own page after its check, which is waited for."""
        wait_until(lambda: self.is_checked(bot, game), f"the check of {bot}")
        return self.page_of(bot, game)

    def is_checked(self, bot: str, game: str = RATED) -> bool:
        """Return whether the check of a new bot is over."""
        return self.status(bot, game) != "PENDING"

    def status(self, bot: str, game: str = RATED) -> str:
        """Return the status of a bot: PENDING, ACTIVE, INACTIVE, ..."""
        return str(self.open(f"/bot/{bot}/state?game={game}").json()["status"])


@dataclass
class Hub:
    """A hub of real processes; its folder holds keys, and rows and objects where it has no other.

    Several tests share one: names of people and bots must be new.
    """

    shape: Shape
    address: str
    data: Path
    environment: Mapping[str, str]
    processes: list[Role]

    def operate(self, *arguments: str) -> str:
        """Type a command of the hub; return what it prints."""
        answer = run(*arguments, **self.environment)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    @contextmanager
    def asked(self, *arguments: str) -> Iterator[Callable[[], None]]:
        """Run a command of the hub that asks for confirmation; yield what confirms it."""
        with subprocess.Popen(
            [sys.executable, "-m", "cw", "hub", *arguments],
            env={**os.environ, **self.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as command:
            assert command.stdin is not None
            assert command.stderr is not None
            question = b""
            while not question.endswith(b"[y/N]: "):
                byte = command.stderr.read(1)
                assert byte, question
                question += byte

            def confirm() -> None:
                _, errors = command.communicate(b"y\n")
                assert command.returncode == 0, errors

            yield confirm

    def player(self, name: str) -> Player:
        """Return somebody who has just registered."""
        return Player(self.address, name)

    def visitor(self) -> Visitor:
        """Return a browser of somebody without an account."""
        return Visitor(self.address)

    def logs(self) -> str:
        """Return what all processes have written."""
        return "".join(role.log.read_text(errors="replace") for role in self.processes)

    def is_running(self) -> bool:
        """Return whether all processes run."""
        return all(role.process.poll() is None for role in self.processes)


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return buffer.getvalue()


@contextmanager
def open_hub(
    shape: Shape,
    folder: Path,
    within: Sequence[str] = (),
    program: Sequence[str] = patience.PROGRAM[1:],
    **settings: str,
) -> Iterator[Hub]:
    """Run a hub while the block runs, with a rated competition of RATED.

    `within` begins the commands of its processes, to run them elsewhere. By the usual `program` no
    machine is too slow for an honest bot; BY_THE_RULES is for bots that answer nothing at all.
    """
    port, data = free_port(), folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if shape == "one server":
            environment = {"CW_DATA": str(data), **HASTY, **settings}
            started = {"hub": ["serve", "--port", str(port), "--slots", str(SLOTS)]}
        else:
            database = stack.enter_context(new_postgresql())
            broker = stack.enter_context(new_redis(folder))
            environment = on_services(data, database, broker) | settings
            assert run("db", "upgrade", **environment).returncode == 0
            started = {
                "hub": ["serve", "--no-worker", "--port", str(port)],
                "scheduler": ["scheduler"],
                "worker": ["worker", "--programs", "--slots", str(SLOTS)],
            }
        processes = [
            Role(arguments, environment, folder / f"{name}.log", within=within, program=program)
            for name, arguments in started.items()
        ]
        stack.enter_context(roles(*processes))
        hub = Hub(shape, f"http://127.0.0.1:{port}", data, environment, processes)
        wait_until(lambda: has_begun(hub), "the hub")
        hub.operate("competition", "new", "rated", RATED)
        hub.operate("competition", "resume", f"rated/{RATED}")
        yield hub


def has_begun(hub: Hub) -> bool:
    """Return whether the pages of a hub answer; fail if a process has ended."""
    if not hub.is_running():
        pytest.fail(hub.logs())
    return "Hub: " in hub.processes[0].log.read_text()
