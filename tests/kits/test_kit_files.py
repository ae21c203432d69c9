"""Each file stands once, and the kits made of them are those that are recorded."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from cw import kits
from cw.kits import LANGUAGES, games
from tests.kits.checksums import assemble_all, checksums, digest, recorded
from tests.kits.hosting import PORTS
from tests.kits.pages import KITS, readme

RENEW = "after an intended change: python -m tests.kits.checksums"


def test_every_kit_is_to_the_byte_what_is_recorded(tmp_path: Path) -> None:
    assemble_all(tmp_path)
    lines = checksums(tmp_path)
    changed = {line.split(" ", 2)[2] for line in {*lines} ^ {*recorded()}}
    assert not changed, "\n".join([*sorted(changed), RENEW])
    assert lines == recorded()


def test_no_file_stands_twice() -> None:
    places = defaultdict(list)
    for file in KITS.glob("*/*/*"):
        if file.is_file() and file.name not in kits.BUILT:
            places[digest(file)].append(file.relative_to(KITS).as_posix())
    assert [copies for copies in places.values() if len(copies) > 1] == []


def test_every_shared_file_belongs_to_a_kit() -> None:
    shared = {file for file in (KITS / kits.SHARED).glob("*/*") if file.is_file()}
    parts = {
        file for game in games() for name in LANGUAGES for file in kits.files(game, name).values()
    }
    assert shared <= parts


def test_the_games_of_web_services_are_those_with_a_port() -> None:
    assert tuple(PORTS) == kits.WEB_SERVICES


@pytest.mark.parametrize("game", games())
def test_every_readme_is_a_page_and_up_to_date(game: str) -> None:
    for language in LANGUAGES:
        text = kits.files(game, language)["README.md"].read_text(encoding="utf-8")
        assert text == readme(game, language), language
        assert len(text.splitlines()) <= 60, language
