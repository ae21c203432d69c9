"""The language of a draft on a hub: one that a worker runs, and never at the cost of work."""

from __future__ import annotations

import re

import pytest

from cw import kits
from cw.kits import LANGUAGES
from cw_hub.bots import programs as bots_programs
from cw_hub.operation.heartbeats import Figures, Process
from cw_hub.site.workshop_pages import CHANGED, NOT_HERE
from hub.tests.bots.workshop.test_drafts import PAGE, Window
from hub.tests.bots.workshop.test_workshop_runs import Author, working
from hub.tests.conftest import ON_BOTH, ON_SQLITE
from hub.tests.sites import Site, words_of
from tests.tools import NEEDS_BUBBLEWRAP, require

pytestmark = [
    NEEDS_BUBBLEWRAP,
]

LANGUAGE = f"{PAGE}language"
VERSIONS = {"python": "3.12.1", "go": "1.22.0", "java": "17.0.1"}


def run_languages(site: Site, **versions: str) -> None:
    """Let a worker live that runs these languages."""
    programs = Figures(languages=versions)
    Process("one", "1", ("worker",), site.clock(), programs).beat(site.resources)


def kit(language: str) -> set[str]:
    """Return the names of the files of a kit that can be edited."""
    return {name for name in kits.files("paint", language) if name[0] != "."}


def choice(window: Window, language: str, **more: str) -> tuple[int, str]:
    """Choose a language; return the status and the words of the page."""
    answer = window.visitor.fill(LANGUAGE, language=language, **more)
    return answer.status_code, words_of(answer)


def base_of(window: Window) -> str:
    """Return the digest of the draft that the page would replace."""
    base = re.search('name="base" value="([0-9a-f]{64})"', window.visitor.open(LANGUAGE).text)
    assert base
    return base[1]


@ON_BOTH
def test_the_kit_of_another_language_takes_the_place_of_an_untouched_draft(site: Site) -> None:
    window = Window(site.player("Ann"))
    assert "No machine that runs programs is available" in words_of(window.visitor.open(LANGUAGE))
    assert choice(window, "go")[0] == 422
    run_languages(site, **VERSIONS)
    page = words_of(window.visitor.open(LANGUAGE))
    for words in ("Python 3.12.1", "Go 1.22.0", "Java 17.0.1"):
        assert words in page
    assert "Ruby" not in page
    for language in ("go", "java", "python"):
        assert choice(window, language)[0] == 303
        assert set(window.files()) == kit(language)
        assert kits.LANGUAGES[language].title in words_of(window.visitor.open(PAGE))
    for wrong in ("ruby", "cobol", "", "x" * 5000):
        code, page = choice(window, wrong)
        assert (code, NOT_HERE in page) == (422, True), wrong
    assert set(window.files()) == kit("python")


@ON_SQLITE
def test_only_languages_of_workers_that_live_are_offered_for_new_bots(site: Site) -> None:
    site.open_competition("paint")
    ann, page = site.player("Ann"), "/bots/new?kind=program"
    assert "No machine that runs programs is available right now" in words_of(ann.open(page))
    run_languages(site, **VERSIONS)
    words = words_of(ann.open(page))
    assert "Supported languages Python 3.12.1 Go 1.22.0 Java 17.0.1" in words
    site.clock.advance(600)
    assert "No machine that runs programs is available right now" in words_of(ann.open(page))
    assert choice(Window(ann), "go")[0] == 422


@ON_BOTH
def test_a_draft_with_work_in_it_is_replaced_as_it_was_when_that_was_asked(site: Site) -> None:
    run_languages(site, **VERSIONS)
    window = Window(site.player("Ann"))
    window.save("bot.py", "one = 1\n", window.files()["bot.py"]["digest"])
    assert "your whole draft is replaced" in words_of(window.visitor.open(LANGUAGE))
    code, page = choice(window, "go")
    assert (code, CHANGED in page) == (409, True)
    base = base_of(window)
    # Another window types on while the question stands there.
    window.save("bot.py", "two = 2\n", window.files()["bot.py"]["digest"])
    assert choice(window, "go", base=base)[0] == 409
    assert window.files()["bot.py"]["text"] == "two = 2\n"
    stale = window.files()["bot.py"]["digest"]
    assert choice(window, "go", base=base_of(window))[0] == 303
    assert set(window.files()) == kit("go")
    # A window that still shows the file is told that it is gone.
    later = window.save("bot.py", "three = 3\n", stale)
    assert (later.status_code, later.json()["now"]) == (409, None)


@ON_SQLITE
def test_the_draft_of_another_person_and_game_stays(site: Site) -> None:
    run_languages(site, **VERSIONS)
    ann, ben = Window(site.player("Ann")), Window(site.player("Ben"))
    ben.save("bot.py", "mine = 1\n", ben.files()["bot.py"]["digest"])
    assert choice(ann, "java")[0] == 303
    assert ben.files()["bot.py"]["text"] == "mine = 1\n"
    other = ann.visitor.open("/workshop/hexagon/files").json()["files"]
    assert "bot.py" in {file["name"] for file in other}


@pytest.mark.thorough
@ON_SQLITE
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_kit_that_was_chosen_runs_on_a_worker(site: Site, language: str) -> None:
    require(language)
    run_languages(site, **bots_programs.installed())
    ann = Author(site, "Ann")
    assert choice(ann, language)[0] == 303
    with working(site):
        ann.run()
        run = ann.ended()
    assert (run["failed"], run["marks"]) == (False, []), run
    assert "in turn 100" in run["words"]


@pytest.mark.thorough
@ON_SQLITE
def test_a_draft_for_end_of_codes_runs_on_a_worker(site: Site) -> None:
    ann = Author(site, "Ann", "end-of-codes")
    with working(site):
        ann.run(opponent="sample")
        run = ann.ended()
    assert (run["failed"], run["marks"]) == (False, []), run
    assert "in round" in run["words"]
