"""A program whose team.toml is one long key: the parser took gigabytes for it, and a minute."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hub.tests.attacks.hubs import Hub
from hub.tests.sites import words_of
from tests.processes import forget_peak, peak_memory
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

MIB = 1024 * 1024
MOST = 100 * MIB
"""Bytes that the pages may need more than before, for all of these requests."""

BOT = b"print('ready')\n"

KEYS = {
    "a key": (b"a." * 8000 + b"a=1\n", "line 1: a key may have at most 4 parts"),
    "the name of a table": (
        b"[" + b"a." * 8000 + b"a]\n",
        "line 1: a key may have at most 4 parts",
    ),
    "a key in a table": (
        b"a = {b." + b"c." * 8000 + b"d=1}",
        "line 1: a key may have at most 4 parts",
    ),
    "a key behind a string": (
        b'name = """"a\\""""""\n' + b"a . " * 4000 + b"a=1\n",
        "line 2: a key may have at most 4 parts",
    ),
    "a larger file": (b"a." * 32_000 + b"a=1\n", "the file is larger than 16 KiB"),
}


def test_the_pages_refuse_it_in_little_memory(hub: Hub) -> None:
    player, pages = hub.player("longkeys"), hub.processes[0].process.pid
    forget_peak(pages)
    before = peak_memory(pages)
    for number, (about, sentence) in enumerate(KEYS.values()):
        answer = player.send_program(f"Key{number}", {"bot.py": BOT, "team.toml": about})
        assert answer.status_code == 422
        assert f"team.toml: {sentence}" in words_of(answer)
    assert peak_memory(pages) - before < MOST
    assert hub.visitor().open("/").status_code == 200


@pytest.mark.parametrize("command", ["validate", "run"])
@pytest.mark.parametrize("about", [about for about, _ in KEYS.values()], ids=list(KEYS))
def test_a_championship_refuses_it_in_little_memory(
    tmp_path: Path, command: str, about: bytes
) -> None:
    for team in ("ann", "bob"):
        (tmp_path / "teams" / team).mkdir(parents=True)
        (tmp_path / "teams" / team / "bot.py").write_bytes(BOT)
    (tmp_path / "teams" / "ann" / "team.toml").write_bytes(about)
    out = ("--out", "results") if command == "run" else ()
    words = (sys.executable, "-m", "cw", "championship", command, "teams", "--game", "paint", *out)
    done = subprocess.run(
        ["prlimit", f"--data={512 * MIB}", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (1, 2)
    assert "ann/team.toml: " in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
