"""Programs in languages that are compiled: built once, in the sandbox, and told what was wrong."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cw import kits
from cw.kits import LANGUAGES
from cw_hub.bots import programs
from cw_hub.bots.programs import installed
from cw_hub.players import packages
from cw_hub.players import programs as players_programs
from cw_hub.players.packages import UnfitUpload
from cw_hub.players.players import Players
from hub.tests.bots.test_programs_of_people import Owner, register, upload
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site, words_of
from tests.tools import NEEDS_BUBBLEWRAP, needs_language

pytestmark = [
    NEEDS_BUBBLEWRAP,
    ON_SQLITE,
]
NEEDS_CC = needs_language("c")
COMPILED = [name for name, language in LANGUAGES.items() if language.build]


def kit(game: str, language: str) -> dict[str, bytes]:
    return {name: file.read_bytes() for name, file in kits.files(game, language).items()}


@pytest.fixture
def owner(site: Site) -> Owner:
    return Owner(site)


@NEEDS_CC
def test_a_compiled_program_is_built_once_and_plays(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert register(owner.browser, packages.pack(kit("paint", "c"))).status_code == 303
    owner.do_jobs()
    assert (owner.bot().status, owner.bot().version) == ("ACTIVE", 1)
    stored = sorted(owner.site.resources.objects.keys("bots/"))
    assert stored == [f"{stored[0]}{end}" for end in ("", programs.SUFFIX, programs.WARNINGS)]
    # Whoever compiled it again would find no compiler.
    monkeypatch.setenv("PATH", "/nowhere")
    with closing(Players()) as players:
        owner.site.resources = replace(owner.site.resources, players=players)
        assert owner.played(owner.practises())["Painter"] == (1, [])


@pytest.mark.thorough
@NEEDS_CC
def test_what_the_compiler_says_stands_with_the_version(owner: Owner) -> None:
    source = kit("paint", "c")
    assert register(owner.browser, packages.pack(source)).status_code == 303
    owner.do_jobs()
    upload(owner.browser, packages.pack({**source, "bot.c": b"int main(void) { <b>; \x1b[31m }\n"}))
    owner.do_jobs()
    assert owner.versions() == [(1, "ready"), (2, "failed")]
    page = owner.browser.open("/bot/Painter")
    assert "It could not be built" in words_of(page)
    assert "bot.c:1:18: error: expected expression" in words_of(page)
    assert "\x1b" not in page.text


@pytest.mark.thorough
@NEEDS_CC
def test_warnings_of_a_build_stay_with_the_version_that_plays(owner: Owner) -> None:
    source = kit("paint", "c")
    loud = b"#warning <b>mind the gap\x1b[31m\n" + source["bot.c"]
    assert register(owner.browser, packages.pack({**source, "bot.c": loud})).status_code == 303
    owner.do_jobs()
    assert owner.versions() == [(1, "ready")]
    page = owner.browser.open("/bot/Painter")
    assert programs.STEP in words_of(page)
    assert "warning: #warning <b>mind the gap" in words_of(page)
    assert "\x1b" not in page.text
    upload(owner.browser, packages.pack(source))
    owner.do_jobs()
    assert next(step["step"] for step in owner.bot().checks or ()) != programs.STEP


def test_a_compiler_that_does_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(players_programs, "SECONDS", 0.5)
    with (
        tempfile.TemporaryFile() as output,
        pytest.raises(UnfitUpload, match="took more than 60 s"),
    ):
        players_programs.run(
            ["/bin/sh", "-c", "trap '' TERM; sleep 1000"], tmp_path, output, output
        )


@NEEDS_CC
def test_a_compiler_that_takes_all_memory_is_ended_by_its_limit(tmp_path: Path) -> None:
    (tmp_path / "bot.c").write_text('#include "/dev/zero"\n')
    with pytest.raises(UnfitUpload, match=r"reached the limit of memory \(1 GiB"):
        players_programs.compiled(tmp_path, "c")


def test_what_has_to_be_built_is_known_by_its_files() -> None:
    languages = [packages.compiled_language(kit("paint", language)) for language in LANGUAGES]
    assert [language for language in languages if language] == COMPILED
    assert packages.compiled_language(["bot.py", "fast.c"]) == ""
    assert packages.compiled_language(["bot.c", "team.toml"]) == ""


def test_the_languages_are_those_whose_tools_are_here() -> None:
    assert set(installed()) == {
        name for name, language in LANGUAGES.items() if name == "python" or not language.missing()
    }
