"""A hub that people visit over real HTTP, in a process with a clock that stands still."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from html import unescape
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import requests
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST
from flask import Flask
from jinja2.bccache import Bucket, BytecodeCache

from cw.server.wsgi import listen, serving
from cw_hub.accounts import mail_delivery
from cw_hub.accounts.service import Passwords
from cw_hub.competitions.format import Format
from cw_hub.competitions.rated import service as rated_service
from cw_hub.context import Clock
from cw_hub.operation.resources import Resources
from cw_hub.site.application import create_hub
from cw_hub.site.formats import FORMATS

if TYPE_CHECKING:
    from hub.tests.conftest import StillClock

PASSWORD = "correct horse"


@dataclass
class HeldQueue:
    """Keeps what is sent to it until it is told to do it."""

    jobs: list[tuple[str, tuple[int | str, ...], float]] = field(default_factory=list)

    def send(self, job: str, *arguments: int | str, queue: str = "jobs", after: float = 0) -> bool:
        self.jobs.append((job, arguments, after))
        return True

    def is_there(self) -> bool:
        return True


class Visitor(requests.Session):
    """A browser without a screen."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.headers["Accept"] = "text/html"
        self.trust_env = False

    def open(self, path: str, **more: object) -> requests.Response:
        """Get a page; redirections are not followed."""
        return self.get(f"{self.address}{path}", allow_redirects=False, **more)  # type: ignore[arg-type]

    def token(self, path: str = "/login") -> str:
        """Return the token of the first form of a page."""
        match = re.search('name="csrf_token" value="([^"]+)"', self.open(path).text)
        return match[1] if match else ""

    def fill(self, path: str, on: str | None = None, **values: str) -> requests.Response:
        """Post the form of a page, with its token; `on` is the page it stands on."""
        return self.send_form(path, {"csrf_token": self.token(on or path), **values})

    def send_form(self, path: str, values: dict[str, str], **more: object) -> requests.Response:
        """Post a form as it is."""
        address = f"{self.address}{path}"
        return self.post(address, values, allow_redirects=False, **more)  # type: ignore[arg-type]

    def register(self, name: str, password: str = PASSWORD, **more: str) -> requests.Response:
        """Make an account, and be logged in."""
        values = {
            "username": name,
            "password": password,
            "password_repeat": password,
            "email": f"{name.lower()}@example.org",
        }
        return self.fill("/register", **values | more)

    def log_in(self, name: str, password: str = PASSWORD, **more: str) -> requests.Response:
        """Fill the form of the log-in page."""
        return self.fill("/login", username=name, password=password, **more)

    def is_player(self) -> bool:
        """Return whether the site lets this browser see its settings."""
        return self.open("/settings").status_code == 200


@dataclass
class Site:
    """A hub that is served."""

    app: Flask
    resources: Resources
    clock: StillClock
    address: str
    queue: HeldQueue

    def open_competition(self, game: str, **settings: Any) -> None:
        """Let a rated competition of a game run, so that bots can be registered for it."""
        with self.resources.database.writing() as session:
            rated_service.begin(session, game, game, **settings)

    def visitor(self) -> Visitor:
        """Return a new browser."""
        return Visitor(self.address)

    def player(self, name: str) -> Visitor:
        """Return a browser of somebody who has just registered."""
        visitor = self.visitor()
        assert visitor.register(name).status_code == 303
        return visitor

    def do_jobs(self) -> None:
        """Do what waits in the queue."""
        waiting, self.queue.jobs[:] = list(self.queue.jobs), []
        for job, arguments, _ in waiting:
            assert job == mail_delivery.MAIL
            mail_delivery.send_mail(self.resources, *arguments)  # type: ignore[arg-type]

    def mails(self) -> list[str]:
        """Return the mails that were written to files, the first first."""
        folder = self.resources.settings.data / "mail"
        return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.eml"))]

    def link(self) -> str:
        """Return the path of the link in the last mail."""
        match = re.search(
            rf"^{re.escape(self.resources.settings.address)}(/.*)$", self.mails()[-1], re.M
        )
        assert match
        return match[1]


class CompiledTemplates(BytecodeCache):
    """The templates that any site of this process has compiled."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill a bucket with what was compiled before."""
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        self._code[bucket.key] = bucket.bytecode_to_string()


TEMPLATES = CompiledTemplates()


def by_clock(resources: Resources, clock: Clock) -> Resources:
    """Return the same resources by another clock."""
    database = copy(resources.database)
    database.clock = clock
    return replace(resources, database=database)


@contextmanager
def site_on(
    resources: Resources, clock: StillClock, formats: Sequence[Format] = FORMATS
) -> Iterator[Site]:
    """Serve a hub while the block runs; limits are counted by the clock of the test too."""
    listener = listen("127.0.0.1", 0)
    settings = replace(resources.settings, port=listener.getsockname()[1])
    queue = HeldQueue()
    resources = replace(resources, settings=settings, queue=queue)
    app = create_hub(resources, formats)
    app.jinja_env.bytecode_cache = TEMPLATES
    app.extensions["passwords"] = Passwords(PasswordHasher.from_parameters(CHEAPEST))
    with (
        patch("limits.storage.memory.time", SimpleNamespace(time=lambda: clock().timestamp())),
        serving(app, listener) as address,
    ):
        yield Site(app, resources, clock, address, queue)


def words_of(page: requests.Response) -> str:
    """Return the text of a page, without tags, each space single."""
    body = re.sub(r"<(script|style|head)\b.*?</\1>", " ", page.text, flags=re.S)
    body = re.sub(r"</?(time|b)\b[^>]*>", "", body)
    return " ".join(unescape(re.sub("<[^>]*>", " ", body)).split())
