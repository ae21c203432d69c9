"""A page of a stranger, whose name suddenly leads to this machine, wants to use a local hub."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest

from hub.tests.attacks.hubs import Hub
from hub.tests.attacks.raw import Answer, ask
from hub.tests.campaign import Role, roles, wait_until
from tests.ports import free_port
from tests.server.strangers import FOREIGN, OWN

pytestmark = pytest.mark.thorough

EVIL: Final = "Host: evil.example"

PATHS: Final = (
    "/",
    "/register",
    "/login",
    "/bots/new",
    "/games/",
    "/rooms/",
    "/rooms/x/reg/alice",
    "/rooms/x/history",
    "/ranking",
    "/api/games",
    "/health",
    "/ready",
    "/metrics",
    "/static/base.css",
    "/objects/maps/x.json",
    "/docs/",
    "/nowhere",
    "//status",
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a demo hub."""
    folder, port = tmp_path_factory.mktemp("demo"), free_port()
    environment = {"CW_DATA": str(folder / "data")}
    role = Role(["demo", "--port", str(port)], environment, folder / "log")
    with roles(role):
        wait_until(lambda: is_ready(role), "the demo hub")
        yield f"http://127.0.0.1:{port}"


def is_ready(role: Role) -> bool:
    assert role.process.poll() is None, role.log.read_text()
    return "Hub: " in role.log.read_text()


def assert_refused(answer: Answer) -> None:
    assert answer.status in (400, 403), answer.text
    assert "Set-Cookie" not in answer.headers
    assert "csrf_token" not in answer.text
    if answer.status == 403:
        assert "this server is not called" in answer.text
        assert "CW_ALLOWED_HOSTS" in answer.text


@pytest.mark.parametrize("lines", FOREIGN, ids=" + ".join)
def test_no_page_is_served_under_another_name(hub: Hub, lines: tuple[str, ...]) -> None:
    for path in ("/register", "/static/base.css"):
        assert_refused(ask(hub.address, path, *lines))
    assert_refused(ask(hub.address, "/register", *lines, method="POST", body=b"x=1"))


def test_no_path_is_served_under_another_name(hub: Hub) -> None:
    for path in PATHS:
        assert_refused(ask(hub.address, path, EVIL))
        # A target with a name of its own counts more than the head.
        assert_refused(ask(hub.address, f"http://evil.example{path}", "Host: 127.0.0.1"))
    for path in ("/register", "/login", "/api/bots", "/games/paint/matches"):
        assert_refused(ask(hub.address, path, EVIL, method="POST", body=b"x=1"))
    assert ask(hub.address, "http://localhost/health", EVIL).status == 200


def test_nobody_registers_through_a_page_of_a_stranger(hub: Hub) -> None:
    def submit(host: str, name: str) -> Answer:
        page = ask(hub.address, "/register", host)
        found = re.search('name="csrf_token" value="([^"]+)"', page.text)
        cookie = (page.headers.get("Set-Cookie") or "").partition(";")[0]
        form = {
            "csrf_token": found[1] if found else "",
            "username": name,
            "password": "correct horse",
            "password_repeat": "correct horse",
            "email": f"{name}@example.org",
        }
        head = ("Content-Type: application/x-www-form-urlencoded", f"Cookie: {cookie}")
        body = urlencode(form).encode()
        return ask(hub.address, "/register", host, *head, method="POST", body=body)

    assert submit("Host: localhost", "local").status == 303
    assert_refused(submit(EVIL, "rebound"))
    assert ask(hub.address, "/user/local", "Host: localhost").status == 200
    assert ask(hub.address, "/user/rebound", "Host: localhost").status == 404


def test_programs_and_browsers_of_this_machine_are_served(hub: Hub) -> None:
    for lines in OWN:
        for path in ("/", "/health", "/static/base.css", "/rooms/"):
            assert ask(hub.address, path, *lines).status == 200, (lines, path)


def test_the_status_of_a_room_is_for_every_page(hub: Hub) -> None:
    answer = ask(hub.address, "/rooms/x/status", EVIL, "Origin: http://evil.example")
    assert (answer.status, answer.json()["status_code"]) == (200, 100)


def test_a_demo_hub_is_as_closed(demo: str) -> None:
    for lines in FOREIGN:
        assert_refused(ask(demo, "/register", *lines))
    for path in PATHS:
        assert_refused(ask(demo, path, EVIL))
    assert ask(demo, "/", "Host: localhost").status == 200


def test_names_that_are_added_are_served(tmp_path: Path) -> None:
    port = free_port()
    environment = {"CW_DATA": str(tmp_path / "data"), "CW_ALLOWED_HOSTS": "hub.local,Other.example"}
    role = Role(["serve", "--port", str(port)], environment, tmp_path / "log")
    with roles(role):
        wait_until(lambda: is_ready(role), "the hub")
        address = f"http://127.0.0.1:{port}"
        for name in ("hub.local", "OTHER.example:1"):
            assert ask(address, "/", f"Host: {name}").status == 200
        assert_refused(ask(address, "/", EVIL))
