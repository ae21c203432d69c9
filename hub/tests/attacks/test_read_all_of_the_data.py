"""A program that names a file of the hub's folder, to run its code in a copy of all of it."""

from __future__ import annotations

import json

import pytest

from hub.tests.attacks.hubs import Hub, zipped
from hub.tests.attacks.spellings import COLON
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

CANARY = "a-letter-of-somebody-else"
READS_ALL = """
import os, sys
for name in os.listdir("."):
    if os.path.isfile(name):
        print(name, open(name, "rb").read()[:200], file=sys.stderr)
"""


def test_no_upload_runs_in_a_copy_of_it(hub: Hub) -> None:
    """Python runs what is a zip: the log of the database held one, that of a task."""
    log = hub.data / "hub.sqlite-log"
    log.write_bytes(b"pages of others" + zipped({"__main__.py": READS_ALL.encode()}))
    (hub.data / "letter").write_text(CANARY)
    thief = hub.player("data_thief")
    spec = f"python:{COLON}{str(log).lstrip('/')}:Bot"
    about = f"bot = {json.dumps(spec)}\n".encode()
    answer = thief.send_program("Data-Thief", {"bot.py": b"", "team.toml": about})
    seen = thief.checked("Data-Thief") if answer.status_code == 303 else answer.text
    assert CANARY not in seen + hub.logs()
    assert answer.status_code == 422
    assert "outside the folder" in answer.text
