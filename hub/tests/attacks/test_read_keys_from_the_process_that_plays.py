"""A program wants the keys and the rows of its hub, which the process that plays it cannot read.

On one server, as the units of hub/deploy/systemd start it. It is run without a sandbox there, as if
it had broken out of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.tests.attacks.machine import attacked
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

DYNAMIC = range(61184, 65520)
"""The users that systemd makes for services with DynamicUser=yes."""

DENIED = {"PermissionError", "FileNotFoundError"}


def test_what_plays_on_a_server_reads_neither_keys_nor_rows(tmp_path: Path) -> None:
    report = attacked("hub.tests.attacks.attack_from_a_player", tmp_path)
    found = report["read by a player"]
    user = found.pop("user")
    assert user in DYNAMIC
    assert found.pop("variables") == []
    assert len(found) == 8
    assert set(found.values()) <= DENIED, found
    assert report["honest program is active"]
    assert report["users of players"] == [user]
    assert report["owner and mode of the socket"] == "cw 600"
    assert not report["players left"]
