"""Programs of people in the daily game of End of Codes, beside a web service."""

from __future__ import annotations

from sqlalchemy import select

from cw import kits
from cw_hub.bots import health
from cw_hub.bots.service import CHECK
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import history
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily.service import GAME
from cw_hub.matches import planning
from cw_hub.matches.jobs import Worker
from cw_hub.players import packages
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import jobs_of
from cw_hub.store.models import Match, MatchParticipant
from hub.tests.conftest import ON_SQLITE
from hub.tests.served_bots import serving_bots
from hub.tests.sites import Site, Visitor, words_of
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [
    NEEDS_BUBBLEWRAP,
    ON_SQLITE,
]

JOBS = jobs_of(Worker("me", 1, MATCH_TYPES))
KIT = {
    name: file.read_bytes() for name, file in kits.files(GAME, "python").items() if name[0] != "."
}
FALLING = b"""
import os

from sample import SampleBot, run

class Falling(SampleBot):
    rounds = 0

    def choose(self, game):
        self.rounds += 1
        if self.rounds > 2:
            os._exit(7)
        return []

run(Falling())
"""
PAGE = "/bots/end-of-codes"
SMALL = {"M": 2, "MAX_HP": 2, "max_rounds": 6}


def begin(site: Site) -> int:
    """Let the daily competition run; return its id."""
    with site.resources.database.writing() as session:
        daily_service.begin_site(session)
        competition = competitions_service.named(session, GAME)
        competitions_service.set_values(session, competition.id, {"options": SMALL})
        return competition.id


def pass_check(site: Site) -> None:
    """Write that the versions which wait have passed their check, which takes half a minute."""
    fine = [{"step": "plays a whole game", "ok": True}]
    while site.queue.jobs:
        job, (bot, *_), _ = site.queue.jobs.pop(0)
        with site.resources.database.writing() as session:
            target = health.check_target(session, int(bot)) if job == CHECK else None
            assert target is None or health.note_check(session, target, fine)


def upload(visitor: Visitor, files: dict[str, bytes], path: str, on: str) -> None:
    """Upload a program, as the pages do."""
    form = {"csrf_token": visitor.token(on), "game": GAME}
    sent = {"program": ("bot.zip", packages.pack(files))}
    answer = visitor.send_form(path, form, files=sent)
    if answer.status_code == 307:
        answer = visitor.send_form(answer.headers["Location"], form, files=sent)
    assert (answer.status_code, answer.headers["Location"]) == (303, PAGE), answer.text


def play(site: Site, competition: int) -> dict[str, MatchParticipant]:
    """Play a daily game; return those who took part, by name."""
    with site.resources.database.writing() as session:
        daily_service.begin(session, competition)
        match = session.scalars(select(Match.id).order_by(Match.id.desc()).limit(1)).one()
        assert planning.of_programs(session, [match]) == {match}
    Worker("me", 1, MATCH_TYPES).play(site.resources, match)
    with site.resources.database.reading() as session:
        rows = session.scalars(
            select(MatchParticipant).where(MatchParticipant.match_id == match)
        ).all()
    return {row.name: row for row in rows}


def test_a_program_plays_the_daily_game_beside_a_web_service_and_gives_way_to_an_address(
    site: Site,
) -> None:
    competition = begin(site)
    ann, bob = site.player("ann"), site.player("bob")
    site.queue.jobs.clear()
    assert "End of Codes" in words_of(ann.open("/bots/new"))
    upload(ann, KIT, "/bots/new/program", "/bots/new")
    assert "Your bot is being checked" in words_of(ann.open(PAGE))
    pass_check(site)
    page = words_of(ann.open(PAGE))
    assert "Your bot is a program that this site runs (version 1)." in page
    assert "Your bot is correctly configured" in page
    with serving_bots() as served:
        bob.fill(PAGE, endpoint=served.at("bob"), form="urlencoded")
        assert "Your bot is a web service" in words_of(bob.open(PAGE))
        seats = play(site, competition)
    assert {name: (seat.version, seat.faults) for name, seat in seats.items()} == {
        "ann": (1, []),
        "bob": (None, []),
    }
    assert "Your bot played correctly in the last game" in words_of(ann.open(PAGE))

    assert ann.open(f"{PAGE}/version/1.zip").content == packages.pack(KIT)
    assert bob.open(f"{PAGE}/version/1.zip").status_code == 404
    assert bob.open(f"{PAGE}/compare?a=1&b=1").status_code == 404

    ann.fill(PAGE, endpoint="http://127.0.0.1:9", form="urlencoded")
    assert "Your bot is a web service" in words_of(ann.open(PAGE))
    refused = bob.fill(f"{PAGE}/use-version", on=PAGE, version="1")
    assert refused.status_code == 303
    assert "Your bot is a web service" in words_of(bob.open(PAGE))
    ann.fill(f"{PAGE}/use-version", on=PAGE, version="1")
    assert "(version 1)" in words_of(ann.open(PAGE))


def test_the_bots_of_the_site_stay_out_of_a_daily_game_with_one_number_for_a_person(
    site: Site,
) -> None:
    competition = begin(site)
    ann = site.player("ann")
    site.open_competition(GAME)
    site.queue.jobs.clear()
    upload(ann, KIT, f"{PAGE}/upload", PAGE)
    pass_check(site)
    assert set(play(site, competition)) == {"ann"}


def test_a_program_that_falls_is_told_so_and_one_that_fails_its_check_does_not_play(
    site: Site,
) -> None:
    competition = begin(site)
    ann, bob = site.player("ann"), site.player("bob")
    site.queue.jobs.clear()
    upload(ann, {**KIT, "sample.py": KIT["bot.py"], "bot.py": FALLING}, f"{PAGE}/upload", PAGE)
    pass_check(site)
    with serving_bots() as served:
        bob.fill(PAGE, endpoint=served.at("bob"), form="urlencoded")
        seats = play(site, competition)
    assert "exit code 7" in seats["ann"].faults[0]["text"]
    # The system may close the connection of a program that has ended a moment before its port.
    ways = (history.WORDS["could_not_connect"], history.WORDS["broken_reply"])
    page = words_of(ann.open(PAGE))
    assert any(f"Your bot {way} in round 2" in page for way in ways), page

    upload(bob, {"bot.py": b"raise SystemExit('broken')"}, f"{PAGE}/upload", PAGE)
    job, arguments, _ = site.queue.jobs.pop()
    JOBS[job](site.resources, *arguments)
    page = words_of(bob.open(PAGE))
    assert "Your bot is incorrectly configured" in page
    assert "Version 1 failed its check" in page
    site.clock.advance(3600)
    assert set(play(site, competition)) == {"ann"}
