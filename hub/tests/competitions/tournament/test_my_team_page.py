"""The page of a team on its own bot: who sees it, what its forms do, and its words."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
import requests
from sqlalchemy import select

from cw import kits
from cw.errors import UsageError
from cw_hub.bots import service as bots_service
from cw_hub.bots.versions import NO_VERSION
from cw_hub.competitions.tournament import team_bots, teams
from cw_hub.competitions.tournament.team_bots import TeamBot
from cw_hub.matches.jobs import Worker
from cw_hub.players import packages
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import jobs_of
from cw_hub.store.models import Audit, Bot, Match, MatchParticipant, Team
from cw_hub.store.sealing import Sealed
from hub.tests.bots.test_player_bots import served
from hub.tests.competitions.tournament.test_team_bots import BOT, KEY, zipped
from hub.tests.competitions.tournament.test_tournament_roles import OF_TEAM
from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_rows import Rows
from hub.tests.sites import Site, Visitor, words_of

pytestmark = ON_SQLITE

PAGE = "/t/t1/my-team"


def tournament(site: Site, game: str = "hexagon", **settings: Any) -> Rows:
    """Return a tournament whose team Alpha has no bot yet."""
    rows = Rows(site.resources.database, site.clock, game=game).begin(settings=settings)
    rows.group("GRODNO", "Alpha", "Beta")
    rows.card("Alpha")
    with site.resources.database.writing() as session:
        bot = session.get_one(Bot, rows.bots["Alpha"])
        bot.endpoint, bot.kind = "", "url" if game == "hexagon" else "program"
    return rows


def joined(site: Site) -> Visitor:
    """Return a browser that acts for Alpha."""
    visitor = site.visitor()
    token = "ABCDEFGHJKMNPQRS"
    answer = visitor.fill("/t/t1/join", on="/t/t1/grodno/", token=token, group="grodno")
    assert answer.status_code == 303
    return visitor


def bot_of(site: Site, rows: Rows) -> TeamBot:
    with site.resources.database.reading() as session:
        bot = team_bots.find(session, rows.teams["Alpha"])
    assert bot is not None
    return bot


def do_jobs(site: Site) -> None:
    """Do what waits in the queue."""
    waiting, site.queue.jobs[:] = list(site.queue.jobs), []
    for job, arguments, _ in waiting:
        jobs_of(Worker("me", 1, MATCH_TYPES))[job](site.resources, *arguments)


def send_file(visitor: Visitor, name: str, data: bytes) -> requests.Response:
    return visitor.send_form(
        f"{PAGE}/upload", {"csrf_token": visitor.token(PAGE)}, files={"program": (name, data)}
    )


def test_who_has_not_joined_is_led_to_where_that_is_done(site: Site) -> None:
    tournament(site)
    visitor = site.visitor()
    token = visitor.token("/t/t1/grodno/")
    for answer in (
        visitor.open(PAGE),
        *(
            visitor.send_form(f"{PAGE}/{verb}", {"csrf_token": token, "endpoint": "http://h"})
            for verb in OF_TEAM
        ),
    ):
        assert (answer.status_code, answer.headers["Location"]) == (303, "/t/t1/")
    assert "Enter your login token to see your team." in words_of(visitor.open("/t/t1/grodno/"))
    assert not site.queue.jobs


def test_what_a_team_sends_refused_or_again_uses_up_nothing(site: Site) -> None:
    tournament(site)
    alpha = joined(site)

    def save(verb: str, **values: str) -> int:
        return alpha.fill(f"{PAGE}/{verb}", on=PAGE, **values).status_code

    # The address of the bot and the public key of the team count together.
    assert {save("bot", endpoint="nowhere") for _ in range(22)} == {422}
    assert {save("ssh-key", key="no key") for _ in range(22)} == {422}
    assert {save("ssh-key", key=KEY) for _ in range(22)} == {303}
    assert {save("bot", endpoint="http://127.0.0.1:9") for _ in range(4)} == {303}
    keys = [save("ssh-key", key=(KEY, "")[number % 2]) for number in range(1, 20)]
    assert keys == [303] * 18 + [429]


def test_a_team_sets_up_a_service_checks_it_and_practises(site: Site) -> None:
    rows = tournament(site)
    alpha = joined(site)
    assert "You have not set up your bot yet." in words_of(alpha.open(PAGE))
    for typed, message in (("", team_bots.NO_URL), ("javascript:x", team_bots.INVALID_URL)):
        answer = alpha.fill(f"{PAGE}/bot", on=PAGE, endpoint=typed)
        assert answer.status_code == 422
        assert message in words_of(answer)
        assert f'value="{typed}"' in answer.text
    with served("hexagon", "greedy") as address:
        answer = alpha.fill(f"{PAGE}/bot", on=PAGE, endpoint=address)
        assert answer.status_code == 303
        assert "Your bot has not been checked yet." in words_of(alpha.open(PAGE))
        do_jobs(site)
        page = words_of(alpha.open(PAGE))
        assert "Your bot answers correctly" in page
        assert "Your bot has made no mistake yet." in page
        answer = alpha.fill(f"{PAGE}/practice", on=PAGE)
        assert answer.headers["Location"].startswith("/match/m_")
        again = alpha.fill(f"{PAGE}/practice", on=PAGE)
        assert again.headers["Location"] == PAGE
        do_jobs(site)
    assert alpha.open(answer.headers["Location"]).status_code == 200
    assert site.visitor().open(answer.headers["Location"]).status_code == 404
    assert alpha.fill(f"{PAGE}/check", on=PAGE).status_code == 303
    do_jobs(site)
    assert "Your bot answers correctly" not in words_of(alpha.open(PAGE))
    assert bot_of(site, rows).health == "wrong"
    # Nobody else is told where it is.
    assert address not in site.visitor().open("/t/t1/grodno/").text
    with site.resources.database.reading() as session:
        assert not [row for row in session.query(Audit) if address in str(row.detail)]


@pytest.mark.parametrize(("ranks", "shown"), [((1, 2), "won"), ((1, 1), "drawn"), ((2, 1), "lost")])
def test_a_practice_match_is_shown_with_its_result(
    site: Site, ranks: tuple[int, int], shown: str
) -> None:
    rows = tournament(site)
    alpha = joined(site)
    one = rows.round("GRODNO", 1)
    name = rows.match(one, ("Alpha", "Beta"), [("finished", ranks, (1, 1))])
    with site.resources.database.writing() as session:
        match = session.scalars(select(Match).where(Match.match_id == name)).one()
        match.kind, match.round_id = "practice", None
        seats = select(MatchParticipant).where(MatchParticipant.match_id == match.id)
        for seat in session.scalars(seats):
            seat.rank = ranks[seat.slot]
    assert f"Practice match {shown}, " in words_of(alpha.open(PAGE))


def secret_of(site: Site, rows: Rows) -> str:
    """Return the secret that the bot of Alpha must know."""
    with site.resources.database.reading() as session:
        row = session.get_one(Bot, rows.bots["Alpha"])
        assert row.secret is not None
        assert row.key_id is not None
        sealed = Sealed(row.key_id, row.secret)
        return site.resources.sealer.open(sealed, f"{row.bot_id}.{row.secret_version}").decode()


@pytest.mark.parametrize(
    ("game", "word"), [("code-battle", "Shared secret"), ("end-of-codes", "API key")]
)
def test_a_team_that_has_lost_its_secret_is_given_another(site: Site, game: str, word: str) -> None:
    rows = tournament(site, game)
    with site.resources.database.writing() as session:
        session.get_one(Bot, rows.bots["Alpha"]).kind = "url"
    alpha = joined(site)
    refused = alpha.fill(f"{PAGE}/rotate", on=PAGE)
    assert (refused.status_code, team_bots.NO_SECRET in words_of(refused)) == (409, True)
    assert "Rotate" not in words_of(alpha.open(PAGE))
    first = alpha.fill(f"{PAGE}/bot", on=PAGE, endpoint="http://127.0.0.1:9")
    old = secret_of(site, rows)
    assert word in words_of(first)
    assert old in first.text
    site.queue.jobs.clear()
    second = alpha.fill(f"{PAGE}/rotate", on=PAGE)
    new = secret_of(site, rows)
    assert new != old
    assert word in words_of(second)
    assert new in second.text
    assert second.headers["Cache-Control"] == "no-store"
    assert [job for job, *_ in site.queue.jobs] == [bots_service.CHECK]
    assert new not in alpha.open(PAGE).text
    assert bot_of(site, rows).health == "waiting"


def test_of_two_who_rotate_at_once_one_is_refused(site: Site) -> None:
    rows = tournament(site, "code-battle")
    own, resources = bot_of(site, rows), site.resources
    with resources.database.writing() as session:
        team_bots.set_url(session, resources.sealer, own, "http://127.0.0.1:9")
    bot = bot_of(site, rows)
    with resources.database.writing() as session:
        secret = team_bots.rotate(session, resources.sealer, bot)
    with (
        resources.database.writing() as session,
        pytest.raises(UsageError, match="in the meantime"),
    ):
        team_bots.rotate(session, resources.sealer, bot)
    assert secret_of(site, rows) == secret


def test_a_team_uploads_a_program_and_goes_back_to_an_earlier_one(site: Site) -> None:
    rows = tournament(site, "paint", boards=[{"options": {"board": "duel"}}])
    alpha = joined(site)
    assert "Bot URL" not in alpha.open(PAGE).text
    for name, data, message in (
        ("", b"", packages.NO_FILE),
        ("a.zip", zipped({"../x": BOT}), packages.LEADS_OUT),
        ("bot.py", b"#" * (1024 * 1024 + 1), packages.TOO_LARGE),
        ("bot.txt", BOT, packages.NOTHING),
    ):
        answer = send_file(alpha, name, data)
        assert answer.status_code == 422
        assert message in words_of(answer)
    assert bot_of(site, rows).versions == ()
    assert not list(site.resources.objects.keys("bots/"))
    kit = zipped({name: file.read_bytes() for name, file in kits.files("paint", "python").items()})
    assert send_file(alpha, "kit.zip", kit).status_code == 303
    assert send_file(alpha, "bot.py", b"raise SystemExit('broken <b>')").status_code == 303
    page = words_of(alpha.open(PAGE))
    assert "version 2 ready, plays from the next match" in page
    assert page.count("Use this version") == 1
    wrong = alpha.fill(f"{PAGE}/use-version", on=PAGE, version="7")
    assert (wrong.status_code, NO_VERSION in words_of(wrong)) == (422, True)
    assert alpha.fill(f"{PAGE}/use-version", on=PAGE, version="1").status_code == 303
    assert bot_of(site, rows).version == 1


def test_an_ssh_key_is_kept_and_a_private_one_is_not_sent_back(site: Site) -> None:
    rows = tournament(site)
    with site.resources.database.writing() as session:
        session.get_one(Team, rows.teams["Alpha"]).machine = "203.0.113.7"
    alpha = joined(site)
    private = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n"
    answer = alpha.fill(f"{PAGE}/ssh-key", on=PAGE, key=private)
    assert answer.status_code == 422
    assert teams.PRIVATE_KEY in words_of(answer)
    assert "b3BlbnNzaC1rZXk" not in answer.text
    assert alpha.fill(f"{PAGE}/ssh-key", on=PAGE, key=KEY).status_code == 303
    page = alpha.open(PAGE)
    assert KEY in page.text
    text = words_of(page)
    for words in (
        "We encourage you to try to deploy right away, before writing your bot logic.",
        "git remote add origin dokku@203.0.113.7:app",
        "ssh -t dokku@203.0.113.7 logs app -t",
        "git clone https://github.com/Anadea/hexogon-templates.git",
        "Keep your login token and the IP address of your droplet a secret",
    ):
        assert words in text
    assert "DATABASE_URL" not in text


@pytest.mark.parametrize("path", ["/t/t1/kit/python.zip", "/games/hexagon/kit/python.zip"])
def test_the_kit_is_what_new_bot_writes(site: Site, path: str, tmp_path: Path) -> None:
    tournament(site)
    answer = site.visitor().open(path)
    assert answer.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as kit:
        files = {name: kit.read(name) for name in kit.namelist()}
    folder = kits.new_bot("hexagon", "python", tmp_path / "bot")
    assert files == {f"hexagon-python/{file.name}": file.read_bytes() for file in folder}
    assert site.visitor().open(path.replace("python", "cobol")).status_code == 404
