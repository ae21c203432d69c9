"""A hub of real processes that mails, as one that is open to the public; and people in sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext

from hub.tests import patience
from hub.tests.campaign import HASTY, Role, roles, run, wait_until
from hub.tests.postbox import Postbox, open_postbox
from hub.tests.sites import PASSWORD, Visitor, words_of
from tests.ports import free_port

LINK = re.compile(r"/verify/\S+")


@dataclass
class Person:
    """Somebody with a browser that has no screen."""

    name: str
    visitor: Visitor

    @property
    def email(self) -> str:
        return f"{self.name.lower()}@example.org"

    def register(self, then: str) -> None:
        """Make an account, and be led on."""
        values = {"username": self.name, "email": self.email, "next": then}
        passwords = {"password": PASSWORD, "password_repeat": PASSWORD}
        answer = self.visitor.fill("/register", f"/register?next={then}", **values, **passwords)
        assert answer.headers.get("Location") == then, words_of(answer)

    def confirm(self, letter: str) -> None:
        """Open the link of a mail, and confirm the address."""
        match = LINK.search(letter)
        assert match
        self.fill(match[0], match[0])

    def fill(self, path: str, on: str, **values: str) -> None:
        """Fill in a form that leads on."""
        answer = self.visitor.fill(path, on, **values)
        assert answer.status_code in {200, 303}, words_of(answer)

    def enter(self, context: BrowserContext) -> None:
        """Go on in Chromium."""
        address, value = self.visitor.address, self.visitor.cookies["cw"]
        context.add_cookies([{"name": "cw", "value": value, "url": address}])


@dataclass
class Hub:
    """A hub in one process of its own."""

    address: str
    environment: dict[str, str]
    postbox: Postbox
    role: Role

    def operate(self, *arguments: str) -> None:
        """Type a command of the hub."""
        answer = run(*arguments, **self.environment)
        assert answer.returncode == 0, answer.stderr

    def person(self, name: str) -> Person:
        """Return somebody who is new here."""
        return Person(name, Visitor(self.address))


def has_begun(role: Role) -> bool:
    """Return whether a hub answers; fail if it has ended."""
    assert role.process.poll() is None, role.log.read_text()
    return "Hub: " in role.log.read_text()


@contextmanager
def open_hub(folder: Path, **settings: str) -> Iterator[Hub]:
    """Run a hub with a mail server; its bots may be on this machine, and take their time."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    public = {"CW_PUBLIC_URL": address, "CW_BOT_NETWORK": "any", "CW_BOT_HTTP": "1"}
    with open_postbox() as postbox:
        environment = {"CW_DATA": str(folder / "data"), **HASTY, **public, **postbox.environment}
        environment |= settings
        log = folder / "hub.log"
        serve = ["serve", "--port", str(port)]
        role = Role(serve, environment, log, program=patience.PROGRAM[1:])
        with roles(role):
            wait_until(lambda: has_begun(role), "the hub")
            yield Hub(address, environment, postbox, role)
