"""A bot that wants nothing but to play: what is attacked works, and an attack would be seen."""

from __future__ import annotations

import pytest

from cw import kits
from hub.tests.attacks.hubs import RATED, Hub
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

KIT = {name: file.read_bytes() for name, file in kits.files(RATED, "python").items()}


def test_an_honest_program_passes_its_check(hub: Hub) -> None:
    player = hub.player("honest")
    assert player.send_program("Honest", KIT).status_code == 303
    player.checked("Honest")
    assert player.status("Honest") == "ACTIVE"


def test_what_a_program_writes_is_seen_on_its_own_page(hub: Hub) -> None:
    player = hub.player("talker")
    said = b"import sys\nprint('seen by its author', file=sys.stderr)\nraise SystemExit(3)\n"
    assert player.send_program("Talker", {"bot.py": said}).status_code == 303
    assert "seen by its author" in player.checked("Talker")
