"""The address of a bot tells nobody which names exist in the network of the site."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from cw.arena.transports.networks import is_public
from hub.tests.attacks.hubs import SHAPES, Shape, open_hub
from hub.tests.sites import words_of

pytestmark = pytest.mark.thorough

GAME = "code-battle"
NOWHERE = "nowhere.invalid"


@pytest.fixture
def internal() -> str:
    """Return a name that resolves here, to an internal address."""
    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        pytest.skip(f"{name} does not resolve")
    if is_public(address):
        pytest.skip(f"{name} has a public address")
    return name


@pytest.mark.parametrize("shape", SHAPES)
def test_an_internal_name_looks_like_one_that_does_not_exist(
    shape: Shape, internal: str, tmp_path: Path
) -> None:
    with open_hub(shape, tmp_path, CW_BOT_NETWORK="public", CW_BOT_HTTP="1") as hub:
        player = hub.player("prober")
        found: dict[str, list[str]] = {}
        for bot, host in (("Internal", internal), ("Nowhere", NOWHERE)):
            values = {"game": GAME, "name": bot, "endpoint": f"http://{host}:81"}
            answer = player.fill("/bots/new", on="/bots/new?kind=address", **values)
            assert answer.status_code in (200, 303), words_of(answer)
            page = player.checked(bot, GAME)
            shown = page.replace(f" {host} ", " HOST ")
            found[bot] = re.findall("[A-Z][^.]* HOST [^.]*", shown)
        assert found["Internal"], page
        assert found["Internal"] == found["Nowhere"]
