"""The area of admins: what is wrong first, lists that are bounded, and acts that are confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import event, select, update

from cw_hub.accounts import administration, audit, mail
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import CHECK, NewBot
from cw_hub.competitions import service as competitions_service
from cw_hub.operation import heartbeats
from cw_hub.operation.heartbeats import Beat, Figures
from cw_hub.site.admin.lists import PER_PAGE
from cw_hub.site.admin.lists import words_of as words_of_detail
from cw_hub.site.admin.overview import Service, problems
from cw_hub.site.figures import Present
from cw_hub.store.models import Bot, CompetitionHost, Match
from hub.tests.conftest import ON_SQLITE
from hub.tests.program import make_admin
from hub.tests.sites import Site, Visitor, words_of

pytestmark = ON_SQLITE

UNSURE = "Nothing has changed: tick the box to confirm."


@pytest.fixture
def root(site: Site) -> Visitor:
    """Return the browser of an admin."""
    visitor = site.player("Root")
    make_admin(site, "Root")
    return visitor


def new_bot(site: Site, name: str, owner: str = "Root") -> str:
    """Register a bot of Paint at an address; return its name outside of the database."""
    hub = site.resources
    with hub.database.writing() as session:
        user_id = administration.find(session, owner).id
        new = NewBot("paint", name, f"http://127.0.0.1:9/{name}")
        return bots_service.register(session, hub.sealer, user_id, new).bot_id


def new_competition(site: Site, slug: str) -> int:
    with site.resources.database.writing() as session:
        return competitions_service.new(session, "rated", "paint", slug=slug).id


def new_match(site: Site, name: str, state: str, at: datetime) -> None:
    with site.resources.database.writing() as session:
        row = Match(match_id=name, kind="practice", key=name, game="paint", players=2, seed=1)
        row.state, row.at, row.reason = state, at, "its worker was lost"  # type: ignore[assignment]
        session.add(row)


@contextmanager
def counted(site: Site) -> Iterator[list[str]]:
    """Collect the statements that the database is asked meanwhile."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    engine = site.resources.database.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(engine, "before_cursor_execute", note)


# What is wrong

NOW = datetime.fromisoformat("2026-11-20T18:00:00+00:00")
WELL = Service(
    Present(
        workers=2,
        queued=3,
        bots={"ACTIVE": 4, "PENDING": 0, "INACTIVE": 0, "SUSPENDED": 0, "RETIRED": 0},
        failing=1,
        health_failures=0,
        counts={},
        processes=[],
        ages={"tick": 5, "back-up": 80_000},
        matches={"queued": 3, "in_progress": 1, "interrupted": 0, "failed": 0},
        waiting=30,
        mails={"waiting": 1, "dead": 0},
    ),
    silent=[],
    slow=0,
    slow_since=None,
    running=1,
    people=7,
    new_people=2,
)


def words_about(service: Service = WELL, *, copies: bool = False, **present: object) -> list[str]:
    """Return what is wrong with a service whose present is another one in something."""
    changed = replace(service, present=replace(service.present, **present))  # type: ignore[arg-type]
    return [one.sentence.partition(":")[0] for one in problems(changed, NOW, copies=copies)]


def test_a_site_that_is_well_has_no_problems() -> None:
    assert words_about() == []


def test_each_thing_that_is_wrong_is_a_problem() -> None:
    pages = Beat("b:2", "pages", "1", NOW, NOW, Figures())
    full = pages._replace(
        process="a:1", role="worker", figures=Figures(disk_free_bytes=9, disk_bytes=100)
    )
    gone = replace(WELL, silent=[pages])
    slow = replace(WELL, slow=1, slow_since=NOW - timedelta(days=2))
    ages = {"tick": 5.0, "back-up": 60.0}
    assert words_about(ages={"back-up": 60.0}) == ["No scheduler is running"]
    assert words_about(ages=ages | {"tick": 61}) == ["No scheduler is running"]
    assert words_about(gone) == ["No process in the role pages is running any more."]
    assert words_about(gone, processes=[pages]) == []
    assert words_about(processes=[full]) == ["The disk of a"]
    assert words_about(ages={"tick": 5.0}) == ["No back-up has been made yet."]
    assert words_about(ages=ages | {"back-up": 93_601}) == ["The last back-up is too old."]
    assert words_about(copies=True) == ["No copy elsewhere has been made yet."]
    assert words_about(matches=WELL.present.matches | {"failed": 2}) == ["2 matches have failed"]  # type: ignore[operator]
    assert words_about(workers=0) == ["Matches are waiting, and no worker is running. Start one"]
    assert words_about(waiting=601) == ["Matches have been waiting too long"]
    assert words_about(slow) == ["1 comparison has been running for more than a day."]
    assert words_about(mails={"waiting": 0, "dead": 1}) == ["1 mail could not be sent."]
    assert words_about(failing=3) == ["3 bots fail at once"]
    ending = ages | {"certificate": -13 * 86_400}
    assert words_about(ages=ending) == ["The certificate of the site expires soon."]


# Lists


def test_each_page_asks_a_number_of_statements_that_does_not_grow(
    site: Site, root: Visitor
) -> None:
    def counts() -> dict[str, int]:
        numbers = {}
        for part in ("", "/people", "/bots", "/competitions", "/matches", "/mails", "/log"):
            with counted(site) as statements:
                assert root.open(f"/admin{part}").status_code == 200
            numbers[part] = len(statements)
        return numbers

    new_bot(site, "Bot-0")
    new_competition(site, "cup-0")
    before = counts()
    for number in (1, 2, 3):
        new_bot(site, f"Bot-{number}")
        new_competition(site, f"cup-{number}")
        new_match(site, f"m_0000000{number}", "failed", site.clock())
    assert counts() == before
    assert max(before.values()) <= 25


def test_the_page_of_matches_reads_the_table_of_replays_not_at_all(
    site: Site, root: Visitor
) -> None:
    root.open("/admin/matches")
    with site.resources.database.writing() as session:
        heartbeats.put(session, heartbeats.REPLAY_BYTES, 3 * 1024 * 1024)
    with counted(site) as statements:
        assert "3.0 MiB" in words_of(root.open("/admin/matches"))
    assert [one for one in statements if "battles" in one] == []


def test_a_list_goes_on_on_the_next_page(site: Site, root: Visitor) -> None:
    for number in range(PER_PAGE + 1):
        new_competition(site, f"open-{number:02}")
    first = root.open("/admin/competitions?q=OPEN-")
    assert first.text.count('scope="row"') == PER_PAGE
    assert "/admin/competitions?q=OPEN-&amp;page=2" in first.text
    second = root.open("/admin/competitions?q=OPEN-&page=2")
    assert second.text.count('scope="row"') == 1
    assert "rated/open-00" in second.text
    assert root.open("/admin/competitions?page=9999999999").status_code == 200
    assert "No competitions match this filter." in words_of(root.open("/admin/competitions?q=%25"))


def test_competitions_name_their_hosts_and_are_paused_once_that_is_confirmed(
    site: Site, root: Visitor
) -> None:
    site.player("Hetty")
    row = new_competition(site, "spring")
    with site.resources.database.writing() as session:
        hetty = administration.find(session, "Hetty").id
        session.add(CompetitionHost(competition_id=row, user_id=hetty, added_at=site.clock()))
        competitions_service.set_state(session, row, "running")
    assert " 0 1 paint rated " in words_of(root.open("/admin/people?q=hetty"))
    at, list_ = "/admin/rated/spring", "/admin/competitions"
    assert "rated/spring running Hetty 0" in words_of(root.open(list_))
    root.fill(f"{at}/pause", list_)
    assert UNSURE in words_of(root.open(list_))
    root.fill(f"{at}/pause", list_, sure="yes")
    assert "paint rated was paused." in words_of(root.open(list_))
    root.fill(f"{at}/pause", list_, sure="yes")
    assert "The competition has changed since you loaded the page." in words_of(root.open(list_))
    root.fill(f"{at}/resume", list_, sure="yes")
    assert "paint rated was resumed." in words_of(root.open(list_))


def test_tournaments_are_led_on_pages_of_their_own(site: Site, root: Visitor) -> None:
    with site.resources.database.writing() as session:
        row = competitions_service.new(session, "tournament", "paint", slug="duel").id
        competitions_service.set_state(session, row, "running")
    page = root.open("/admin/competitions")
    assert "/t/duel/host/people#hosts-title" in page.text
    assert "/admin/tournament/duel/pause" not in page.text
    answer = root.fill("/admin/tournament/duel/pause", "/admin/people", sure="yes")
    assert answer.headers["Location"] == "/t/duel/host"
    with site.resources.database.reading() as session:
        duel = competitions_service.find(session, "tournament", "duel")
    assert duel is not None
    assert duel.state == "running"


# Bots


def test_bots_are_found_checked_suspended_and_restored(site: Site, root: Visitor) -> None:
    site.player("Ann")
    bot_id, other = new_bot(site, "Swarm", "Ann"), new_bot(site, "Other")
    list_ = "/admin/bots"
    words = words_of(root.open(f"{list_}?q=ann"))
    assert "Swarm" in words
    assert "Other" not in words
    assert "No bots match this filter." in words_of(root.open(f"{list_}?state=suspended"))

    def press(verb: str, **values: str) -> str:
        at = f"{list_}/{bot_id}/check" if verb == "check" else f"/bot/{bot_id}/{verb}"
        answer = root.fill(at, list_, **values)
        assert answer.headers["Location"] == f"{list_}?q={bot_id}"
        return words_of(root.open(answer.headers["Location"]))

    site.queue.jobs.clear()
    assert UNSURE in press("check")
    assert "Swarm is being checked." in press("check", sure="yes")
    assert [job for job, *_ in site.queue.jobs] == [CHECK]
    assert "please give a reason" in press("suspend", sure="yes")
    assert UNSURE in press("suspend", reason="floods us")
    assert "suspended floods us" in press("suspend", reason="floods us", sure="yes")
    assert "The bot is SUSPENDED: it cannot do that." in press(
        "suspend", reason="again", sure="yes"
    )
    assert "The bot is SUSPENDED: it is not checked." in press("check", sure="yes")
    assert UNSURE in press("restore")
    assert "The bot is being checked" in press("restore", sure="yes")
    log = words_of(root.open("/admin/log?of=swarm"))
    assert f"Root status PENDING to SUSPENDED, reason: floods us Swarm bot:{bot_id}" in log
    assert f"Root check Swarm bot:{bot_id}" in log
    assert other not in log
    assert root.fill("/admin/bots/b_0/check", list_, sure="yes").status_code == 404
    with site.resources.database.writing() as session:
        session.execute(update(Bot).where(Bot.bot_id == bot_id).values(kind="builtin"))
    assert "there is nothing to check" in press("check", sure="yes")


# Matches


def test_failed_matches_are_played_again_and_waiting_ones_called_off(
    site: Site, root: Visitor
) -> None:
    new_match(site, "m_00000001", "failed", site.clock())
    new_match(site, "m_00000002", "queued", site.clock())
    list_ = "/admin/matches"
    assert "m_00000001 Paint practice failed its worker was lost" in words_of(root.open(list_))
    assert "m_00000001" not in root.open(f"{list_}?state=queued").text

    def press(name: str, verb: str, **values: str) -> str:
        root.fill(f"{list_}/{name}/{verb}", list_, **values)
        return words_of(root.open(list_))

    assert UNSURE in press("m_00000001", "requeue")
    assert "The match will be played again." in press("m_00000001", "requeue", sure="yes")
    assert "The match has changed since you loaded the page." in press(
        "m_00000001", "requeue", sure="yes"
    )
    assert "please give a reason" in press("m_00000002", "void", sure="yes")
    assert UNSURE in press("m_00000002", "void", reason="a mistake")
    assert "called off" in press("m_00000002", "void", reason="a mistake", sure="yes")
    with site.resources.database.reading() as session:
        states = dict(session.execute(select(Match.match_id, Match.state)).all())
    assert states == {"m_00000001": "queued", "m_00000002": "void"}
    log = words_of(root.open("/admin/log?who=root&of=match"))
    assert "Root void reason: a mistake match:m_00000002" in log


# Mails


def test_mails_are_found_by_a_part_of_a_name_or_a_whole_address(site: Site, root: Visitor) -> None:
    site.player("Ann")
    with site.resources.database.writing() as session:
        ann = administration.find(session, "Ann").id
        mail.put(session, "email", ann, email="new@example.org")
    list_ = "/admin/mails"
    assert "Ann confirm another address waits" in words_of(root.open(f"{list_}?to=NN"))
    assert "Root" not in words_of(root.open(f"{list_}?to=NN")).partition(" To ")[2]
    for address in ("ANN@example.org", "new@example.org"):
        assert "Ann confirm" in words_of(root.open(f"{list_}?to={address}"))
    for part in ("ann@", "@example.org", "new@example.or"):
        assert "No mails match this filter." in words_of(root.open(f"{list_}?to={part}"))
    assert "No mails match this filter." in words_of(root.open(f"{list_}?state=dead"))
    assert "new@example.org" not in root.open(list_).text


def test_the_log_finds_what_was_done_with_all_bots_of_a_name(site: Site, root: Visitor) -> None:
    with site.resources.database.writing("Root") as session:
        user_id = administration.find(session, "Root").id
        for number in range(10):
            new = NewBot(f"game-{number}", "Swarm", f"http://127.0.0.1:9/{number}")
            hub = site.resources
            bot = bots_service.register(session, hub.sealer, user_id, new)
            audit.record(session, "check", f"bot:{bot.bot_id}")
    assert words_of(root.open("/admin/log?of=swarm")).count("Root check Swarm") == 10


def test_the_log_says_what_is_said_beside_an_act_in_a_line() -> None:
    change = {"from": "ACTIVE", "to": "SUSPENDED", "reason": "floods us"}
    assert words_of_detail(change) == "ACTIVE to SUSPENDED, reason: floods us"
    assert words_of_detail({"host": "Ann", "kind": ""}) == "host: Ann"
    assert words_of_detail({"teams": ["a", "b"], "open": True}) == "teams: a, b, open: yes"
    assert len(words_of_detail({"text": "x" * 5000})) == 300
