"""A program whose source has a folder where the compiler puts the program: it ended its player."""

from __future__ import annotations

import pytest

from cw import kits
from hub.tests.attacks.hubs import RATED, Hub
from tests.tools import NEEDS_BUBBLEWRAP, needs_language

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP, needs_language("c")]

KIT = {name: file.read_bytes() for name, file in kits.files(RATED, "c").items()}
"""A source that can be compiled."""

# What is a virtual environment is not copied into the sandbox, so the compiler succeeds there.
IN_THE_WAY = {"bot/pyvenv.cfg": b"", "bot/file": b""}


def test_a_folder_named_like_the_program_is_refused_with_a_sentence(hub: Hub) -> None:
    player = hub.player("builder")
    assert player.send_program("Builder", KIT | IN_THE_WAY).status_code == 303
    assert "rename the folder of this name" in player.checked("Builder")
    player.fill("/bot/Builder/check?game=paint", "/bot/Builder?game=paint")
    assert "rename the folder of this name" in player.checked("Builder")
