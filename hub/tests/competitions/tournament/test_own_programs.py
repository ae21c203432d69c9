"""Programs of people as bots of teams: copied by a member, read by the team, and by nobody else."""

from __future__ import annotations

import pytest

from cw import kits
from cw_hub.bots import health, programs
from cw_hub.bots import service as bots_service
from cw_hub.bots.programs import NO_PROGRAMS, object_key
from cw_hub.bots.service import CHECK
from cw_hub.competitions.tournament import team_bots
from cw_hub.competitions.tournament.team_bots import LOG_IN, NO_PROGRAM, TeamBot
from cw_hub.players import packages
from hub.tests.competitions.tournament.test_my_team_page import PAGE, joined, tournament
from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_rows import Rows
from hub.tests.sites import PASSWORD, Site, Visitor, words_of
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [
    NEEDS_BUBBLEWRAP,
    ON_SQLITE,
]

KIT = packages.pack({n: file.read_bytes() for n, file in kits.files("paint", "python").items()})
BOARDS = [{"options": {"board": "duel"}}]


def pass_checks(site: Site, *, passes: bool = True) -> None:
    """Write of the checks that wait that they were passed, or not; a check takes a few matches."""
    steps = [{"step": "plays", "ok": passes, "problem": "it falls", "fix": "correct it"}]
    while site.queue.jobs:
        job, (bot, *_), _ = site.queue.jobs.pop(0)
        if job == CHECK:
            with site.resources.database.writing() as session:
                target = health.check_target(session, int(bot))
                assert target is not None
                health.note_check(session, target, steps)


class Lender:
    """Somebody with programs, in whose browser the team Alpha is entered, too."""

    def __init__(self, site: Site) -> None:
        site.open_competition("paint")
        self.site = site
        self.rows: Rows = tournament(site, "paint", boards=BOARDS)
        self.browser = joined(site)
        assert self.browser.register("Ann", PASSWORD).status_code == 303
        site.queue.jobs.clear()

    def registers(self, name: str, *, passes: bool = True, visitor: Visitor | None = None) -> str:
        """Register a program whose check is said to have ended so; return its public id."""
        browser = visitor or self.browser
        form = {"csrf_token": browser.token("/bots/new"), "game": "paint", "name": name}
        files = {"program": ("bot.zip", KIT)}
        assert browser.send_form("/bots/new/program", form, files=files).status_code == 303
        pass_checks(self.site, passes=passes)
        with self.site.resources.database.reading() as session:
            bot = bots_service.find(session, "paint", name)
        assert bot is not None
        return bot.bot_id

    def chooses(self, bot_id: str) -> tuple[int, str]:
        """Let the team play with a copy; return the status and the words of the page."""
        answer = self.browser.fill(f"{PAGE}/own-program", on=PAGE, bot=bot_id)
        page = self.browser.open(PAGE) if answer.status_code == 303 else answer
        return answer.status_code, words_of(page)

    def of_team(self) -> TeamBot:
        with self.site.resources.database.reading() as session:
            bot = team_bots.find(session, self.rows.teams["Alpha"])
        assert bot is not None
        return bot


@pytest.fixture
def lender(site: Site) -> Lender:
    return Lender(site)


def test_a_member_lets_a_copy_of_an_own_bot_play_for_the_team(lender: Lender) -> None:
    objects = lender.site.resources.objects
    assert "write one in the browser" in words_of(lender.browser.open(PAGE))
    painter = lender.registers("Painter")
    (source,) = objects.keys("bots/")
    objects.put_new(source + programs.SUFFIX, b"built")
    assert "Painter, version 1, Python" in words_of(lender.browser.open(PAGE))

    code, page = lender.chooses(painter)
    assert code == 303
    assert "version 1 is Painter, version 1, and plays from the next match" in page
    (version,) = lender.of_team().versions
    assert (version.note, version.language) == ("Painter, version 1", "python")
    assert lender.of_team().version == 1
    assert [job for job, *_ in lender.site.queue.jobs] == [CHECK]
    target = object_key(lender.of_team().bot_id, version.sha256)
    assert (objects.get(target), objects.get(target + programs.SUFFIX)) == (KIT, b"built")
    assert lender.browser.open(f"{PAGE}/version/1.zip").content == KIT

    # What happens to the bot of the person does not reach the team.
    lender.browser.fill("/bot/Painter/retire", on="/bot/Painter", confirm="Painter", game="paint")
    assert lender.chooses(painter)[0] == 422
    assert lender.of_team().version == 1
    assert objects.get(target) == KIT


def test_bots_of_others_and_those_without_a_version_that_plays_are_refused(lender: Lender) -> None:
    other = lender.site.player("Bob")
    lender.site.queue.jobs.clear()
    foreign = lender.registers("Roller", visitor=other)
    broken = lender.registers("Broken", passes=False)
    page = words_of(lender.browser.open(PAGE))
    assert "Roller" not in page
    assert "Broken, version" not in page
    for bot_id in (foreign, broken, "", "b_00000000", "<b>", "x" * 5000):
        code, page = lender.chooses(bot_id)
        assert (code, NO_PROGRAM in page) == (422, True), bot_id
    assert lender.of_team().versions == ()
    # Whoever is in no team is led to where one joins.
    answer = other.fill(f"{PAGE}/own-program", on="/t/t1/grodno/", bot=foreign)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/t/t1/")


def test_a_team_without_an_account_is_told_to_log_in(site: Site) -> None:
    tournament(site, "paint", boards=BOARDS)
    alpha = joined(site)
    assert "Log in to let a bot of your own play" in words_of(alpha.open(PAGE))
    answer = alpha.fill(f"{PAGE}/own-program", on=PAGE, bot="b_00000000")
    assert (answer.status_code, LOG_IN in words_of(answer)) == (422, True)


def test_a_tournament_that_runs_no_programs_takes_none(site: Site) -> None:
    tournament(site, "hexagon", hosting="off")
    alpha = joined(site)
    assert alpha.register("Ann", PASSWORD).status_code == 303
    assert "bot of your own" not in words_of(alpha.open(PAGE))
    answer = alpha.fill(f"{PAGE}/own-program", on=PAGE, bot="b_00000000")
    assert (answer.status_code, NO_PROGRAMS in words_of(answer)) == (409, True)
