"""A team.toml that names a file outside of its folder, in 500 spellings."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from cw.arena.bots import BotSpec
from cw.arena.launch import source_of
from cw.arena.sandbox.folders import contents
from cw.championship.teams import ABOUT, read_folder
from cw.errors import UsageError
from cw_hub.players import packages
from cw_hub.players.packages import UnfitUpload
from hub.tests.attacks.spellings import declarations
from tests.arena.attacking import RANDOM, match
from tests.tools import NEEDS_BUBBLEWRAP

SPELLINGS = 500
SECRET = "it-is-kept-elsewhere"
READS_ALL = "import os, sys\nfor name in os.listdir(): print(name, open(name).read()[:999])\n"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs links")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that is wanted: as a program it prints itself, beside other files to be stolen."""
    place = tmp_path / "else:where"
    place.mkdir()
    (place / "beside").write_text(SECRET)
    secret = place / "secret"
    secret.write_text(f"{SECRET}\n")
    secret.chmod(0o755)
    monkeypatch.chdir(place)
    return secret


@pytest.fixture
def folder(tmp_path: Path, elsewhere: Path) -> Path:
    """The folder of the attacker, with links to that file as a zip cannot have them."""
    folder = tmp_path / "team"
    for place in (".", "sub", ".hidden"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    for link in ("link", "sub/link", ".hidden/link"):
        (folder / link).symlink_to(elsewhere)
    (folder / "linked").symlink_to(elsewhere.parent)
    (folder / "bot.py").write_text(READS_ALL)
    (folder / "bot.sh").write_text("cat * >&2\n")
    return folder


def programs(elsewhere: Path, folder: Path) -> Iterator[tuple[str, BotSpec]]:
    """Return what is accepted, as a team of a championship and as an upload."""
    draw = random.Random(random.random())
    for about in islice(declarations(elsewhere, folder, draw), SPELLINGS):
        (folder / ABOUT).write_text(about, encoding="utf-8")
        with suppress(UsageError):
            yield about, read_folder(folder, "paint").bot
        with suppress(UnfitUpload):
            yield about, packages.program_in(folder, "paint")


def test_no_file_elsewhere_is_copied(elsewhere: Path, folder: Path) -> None:
    number = 0
    for about, bot in programs(elsewhere, folder):
        number += 1
        source = source_of(bot)
        assert source.folder in (None, folder.resolve()), about
        if source.folder is not None:
            with contents(source.folder, source.only, source.without) as files:
                assert {"else:where", "beside"}.isdisjoint(each.name for each in files.entries)
    # Otherwise only refusals would have been tried.
    assert number > 50


@pytest.mark.thorough
@NEEDS_BUBBLEWRAP
def test_no_program_sees_a_file_elsewhere(elsewhere: Path, folder: Path) -> None:
    tried = set()
    for about, bot in programs(elsewhere, folder):
        if bot.kind not in ("exec", "python") or bot.spec in tried:
            continue
        tried.add(bot.spec)
        played = match("paint", bot, RANDOM, width=5, height=5, turns=1)
        seen = [fault.fault.sentence for fault in played.faults] + list(played.stderr.values())
        assert SECRET not in "".join(seen), about
