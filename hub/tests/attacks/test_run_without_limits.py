"""A program is uploaded to a public site whose machine limits neither memory nor processor time.

Containers and units without a control group of their own are such machines. A program could then
take gigabytes by files in memory, and with 55 processes most processor time of an honest one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from hub.tests.attacks.hubs import SHAPES, Shape, open_hub
from hub.tests.campaign import wait_until
from hub.tests.sites import words_of
from tests.ports import free_port
from tests.tools import NEEDS_BUBBLEWRAP, ROOT

pytestmark = [
    pytest.mark.thorough,
    NEEDS_BUBBLEWRAP,
    ROOT.unless(hasattr(os, "geteuid") and os.geteuid() == 0),
]

WITHOUT_GROUPS: Final = (
    *("unshare", "--mount", "sh", "-c"),
    *('mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh"),
)
SAYS: Final = b"import sys\nprint('it runs', file=sys.stderr)\nraise SystemExit(3)\n"
REASON: Final = "nothing on this machine limits the memory and processor time of a program"


@pytest.mark.parametrize("shape", SHAPES)
def test_no_program_runs_on_a_public_site_without_limits(shape: Shape, tmp_path: Path) -> None:
    """Pages take uploads all the same, since other machines might run them."""
    with open_hub(shape, tmp_path, WITHOUT_GROUPS, **public("sandboxed")) as hub:
        wait_until(lambda: f"no programs are run here: {REASON}" in hub.logs(), "the reason")
        assert "Delegate=cpu memory pids" in hub.logs()
        player = hub.player("spinner")
        hub.operate("user", "confirm-email", "spinner")
        answer = player.send_program("Spinner", {"bot.py": SAYS})
        assert answer.status_code == 303, words_of(answer)
        if shape == "one server":
            assert "No uploaded programs are run here" in player.checked("Spinner")
        else:
            # The worker takes none, and another one may be added.
            assert "No machine that runs programs" in words_of(player.open("/bots/new"))
            assert not player.is_checked("Spinner")
        assert "it runs" not in player.page_of("Spinner")


def test_pages_of_a_site_without_limits_say_why_no_program_can_be_uploaded(tmp_path: Path) -> None:
    with open_hub("one server", tmp_path, WITHOUT_GROUPS, **public("")) as hub:
        player = hub.player("reader")
        hub.operate("user", "confirm-email", "reader")
        answer = player.send_program("Reader", {"bot.py": SAYS})
        assert f"No uploaded programs are run here: {REASON}." in words_of(answer)


def test_a_local_site_without_limits_runs_programs_and_says_so_once(tmp_path: Path) -> None:
    with open_hub("one server", tmp_path, WITHOUT_GROUPS) as hub:
        player = hub.player("friend")
        assert player.send_program("Friend", {"bot.py": SAYS}).status_code == 303
        assert "it runs" in player.checked("Friend")
        warning = "nothing limits the memory and processor time of a program here"
        assert hub.logs().count(warning) == 1


def public(hosting: str) -> dict[str, str]:
    """Return the settings of a site that strangers reach, here without https."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    return {"CW_PUBLIC_URL": address, "CW_ALLOW_HTTP": "1", "CW_HOSTING": hosting}
