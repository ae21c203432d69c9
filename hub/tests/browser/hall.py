"""A hall full of people on a hub of real processes: their teams, their bots, their mail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar

from cw import kits
from hub.tests.bots.test_player_bots import served
from hub.tests.browser.open_hub import Hub, Person, open_hub
from hub.tests.browser.timetable import Timetable
from hub.tests.campaign import wait_until
from hub.tests.sites import Visitor, words_of
from tests.ports import free_port

T = TypeVar("T")
GAME = "hexagon"
SLUG = "hall"
HOME = f"/t/{SLUG}/"
MY_TEAM = f"{HOME}my-team"
AT_ONCE = 8
"""People who fill in a form at the same moment."""


def in_turns(work: Callable[[T], object], those: Sequence[T]) -> None:
    """Let several do something, a few at once; whatever fails is raised."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(work, those))


@dataclass
class Team:
    """People who play together, the captain first."""

    name: str
    people: Sequence[Person]
    group: str
    code: str = ""

    @property
    def captain(self) -> Person:
        return self.people[0]

    def form(self, link: str) -> None:
        """Let the captain form it; its code is on the captain's page."""
        self.captain.fill(f"{link}/team", link, name=self.name, group=self.group)
        match = re.search(r"want to join: (\w{8})", words_of(self.captain.visitor.open(MY_TEAM)))
        assert match
        self.code = match[1]

    def gather(self, link: str) -> None:
        """Let the others join by the code."""
        for person in self.people[1:]:
            person.fill(f"{link}/member", link, code=self.code)

    def deploy(self, address: str) -> None:
        """Let somebody of the team say where its bot is."""
        self.people[-1].fill(f"{MY_TEAM}/bot", MY_TEAM, endpoint=address)


def team_sizes(people: int) -> Iterator[int]:
    """Yield sizes of teams of two, three and four people in turn, until all are in one."""
    sizes = cycle((2, 3, 4))
    while people > 0:
        yield (size := min(next(sizes), people))
        people -= size


@dataclass
class Hall:
    """A hub, who comes to it, and with what they play."""

    hub: Hub
    people: Sequence[Person]
    bots: Sequence[str]
    """Addresses."""
    pictures: Path
    timetable: Timetable

    def ladder(self, group: str) -> dict[str, object]:
        """Return the ladder of a group as scripts are told it."""
        answer = Visitor(self.hub.address).open(f"{HOME}{group}/ladder.json")
        document: dict[str, object] = answer.json()
        return document


def teams_of(people: Sequence[Person], groups: Sequence[str]) -> list[Team]:
    """Return people in teams, which are in the groups in turn."""
    rest = iter(people)
    sizes = zip(team_sizes(len(people)), cycle(groups), strict=False)
    return [
        Team(f"Team {number}", list(islice(rest, size)), group)
        for number, (size, group) in enumerate(sizes, 1)
    ]


@contextmanager
def kit_bot(folder: Path) -> Iterator[str]:
    """Serve the bot of the Python kit, unchanged; gives its address."""
    folder.mkdir()
    for name, file in kits.files(GAME, "python").items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(file.read_bytes())
    port = free_port()
    environment = os.environ | {"PORT": str(port)}
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "bot.py"]
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log
        ) as process:
            address = f"http://127.0.0.1:{port}"
            wait_until(lambda: answers(address), "the bot of the kit")
            try:
                yield address
            finally:
                process.terminate()


def answers(address: str) -> bool:
    """Return whether something answers at an address."""
    try:
        return Visitor(address).open("/health").status_code < 500
    except OSError:
        return False


@contextmanager
def bots(folder: Path) -> Iterator[list[str]]:
    """Serve the bots that all teams play with; gives their addresses."""
    with ExitStack() as stack:
        kit = stack.enter_context(kit_bot(folder / "kit"))
        strategies = ("greedy", "random")
        others = [stack.enter_context(served(GAME, name)) for name in strategies]
        yield [kit, *others]


@contextmanager
def open_hall(folder: Path, number: int) -> Iterator[Hall]:
    """Open a hub for so many people."""
    pictures = Path(os.environ.get("CW_PICTURES", folder / "pictures"))
    pictures.mkdir(parents=True, exist_ok=True)
    with bots(folder) as addresses, open_hub(folder) as hub:
        people = [hub.person(f"Guest{one:03}") for one in range(number)]
        yield Hall(hub, people, addresses, pictures, Timetable(hub.role.process.pid))
