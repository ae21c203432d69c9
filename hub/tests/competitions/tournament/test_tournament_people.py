"""People come to a tournament by its link, form teams, wait, leave; and hosts see who is ready."""

from __future__ import annotations

import re
from email import message_from_string
from email.policy import default
from pathlib import Path

import pytest
from sqlalchemy import select, update

from cw_hub.accounts import mail_delivery
from cw_hub.competitions.tournament import people, progress
from cw_hub.competitions.tournament.people import NewGuest, guests_of
from cw_hub.competitions.tournament.service import NewTournament, TournamentConfig, create
from cw_hub.competitions.tournament.teams import NewGroup, add_group
from cw_hub.store.models import (
    Audit,
    Bot,
    Competition,
    CompetitionHost,
    Mail,
    Team,
    TeamMember,
    User,
)
from hub.tests.sites import Site, Visitor, words_of

HOST = "/t/t1/host"
PEOPLE = f"{HOST}/people"


@pytest.fixture
def database_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    """The pages are the same on both databases: one of them will do."""
    file = tmp_path / "hub.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    return f"sqlite:///{file}"


@pytest.fixture
def new(site: Site) -> NewTournament:
    with site.resources.database.writing() as session:
        create(session, TournamentConfig("t2", "hexagon", "Other"))
        return create(session, TournamentConfig("t1", "hexagon", "Duel"))


@pytest.fixture
def host(site: Site, new: NewTournament) -> Visitor:
    visitor = site.player("Holly")
    with site.resources.database.writing() as session:
        people.add_host(session, new.id, "holly")
    return visitor


def post(visitor: Visitor, path: str, on: str, **values: str) -> tuple[int, str]:
    answer = visitor.fill(path, on, **values)
    return answer.status_code, words_of(answer)


def invite(host: Visitor, **values: str) -> str:
    """Save the invitation; return the path of its link."""
    fields = {"most_teams": "2", "most_members": "2", **values}
    assert post(host, f"{HOST}/invite", PEOPLE, **fields)[0] == 303
    return str(re.findall(r"/join/[A-Z0-9]{10}", host.open(PEOPLE).text)[0])


def test_a_host_by_account_leads_one_tournament_alone(site: Site, host: Visitor) -> None:
    assert host.open(HOST).status_code == 200
    assert host.open("/t/t2/host").status_code == 403
    assert site.player("Bob").open(HOST).status_code == 403
    assert "no user 'nobody'" in post(host, f"{HOST}/add-host", PEOPLE, name="nobody")[1]
    assert post(host, f"{HOST}/add-host", PEOPLE, name="bob")[0] == 303
    assert "tick the box" in post(host, f"{HOST}/remove-host", PEOPLE, name="Holly")[1]
    assert post(host, f"{HOST}/remove-host", PEOPLE, name="Holly", sure="yes")[0] == 303
    assert host.open(HOST).status_code == 403


def test_people_form_teams_join_wait_rename_and_leave(site: Site, host: Visitor) -> None:
    assert post(host, f"{HOST}/invite", PEOPLE, most_teams="0", most_members="2")[0] == 422
    link = invite(host)
    assert site.visitor().open("/join/AAAAAAAAAA").status_code == 404
    assert "Register or log in" in words_of(site.visitor().open(link))
    ann, ben, cy, dan = (site.player(name) for name in ("Ann", "Ben", "Cyn", "Dan"))
    assert post(ann, f"{link}/team", link, name="Alpha")[0] == 303
    assert "this name is taken" in post(ben, f"{link}/team", link, name="ALPHA")[1]
    page = words_of(ann.open("/t/t1/my-team"))
    code = re.findall(r"want to join: ([A-Z0-9]{8})", page)[0]
    assert "No team of this tournament" in post(ben, f"{link}/member", link, code="XXXXXXXX")[1]
    assert post(ben, f"{link}/member", link, code=code.lower())[0] == 303
    assert "Alpha is full" in post(cy, f"{link}/member", link, code=code)[1]
    assert post(cy, f"{link}/team", link, name="Gamma")[0] == 303
    assert post(dan, f"{link}/team", link, name="Delta")[0] == 303
    assert "on the waiting list" in words_of(dan.open("/t/t1/my-team"))
    assert "Delta" not in words_of(site.visitor().open("/t/t1/main/"))
    ready = words_of(host.open(PEOPLE))
    assert "0 of 3 teams are ready" in ready
    assert "Delta MAIN 1 waits for room" in ready
    assert "Alpha MAIN 2 has no bot yet" in ready
    on = "/t/t1/my-team"
    post(ben, f"{on}/rename", on, name="Bens")
    assert "Only the captain" in words_of(ben.open(on))
    assert post(ann, f"{on}/rename", on, name="Aces")[0] == 303
    assert "Aces" in words_of(site.visitor().open("/t/t1/main/"))
    assert post(ann, f"{on}/leave", on)[0] == 303
    assert ann.open(on).status_code == 303
    assert "Ben captain" in words_of(ben.open(on))
    assert post(cy, f"{on}/leave", on)[0] == 303
    with site.resources.database.writing() as session:
        progress.plan(session)
        teams = select(Competition.state, TeamMember.is_captain).join(
            TeamMember, TeamMember.competition_id == Competition.id
        )
        assert session.execute(teams).all() == [("draft", True), ("draft", True)]
        session.execute(update(Bot).values(kind="builtin", endpoint="random"))
    words = words_of(host.open(PEOPLE))
    assert "2 of 2 teams are ready" in words
    assert "Delta" in words_of(site.visitor().open("/t/t1/main/"))
    assert post(host, f"{HOST}/start", HOST)[0] == 303
    post(ben, f"{on}/rename", on, name="Late")
    assert "teams keep their names" in words_of(ben.open(on))


def test_people_form_teams_in_public_groups_alone(site: Site, host: Visitor) -> None:
    groups = (NewGroup("East"), NewGroup("Staff", "internal"), NewGroup("Last", "final"))
    with site.resources.database.writing() as session:
        competition = select(Competition.id).where(Competition.slug == "t1")
        for group in groups:
            add_group(session, session.scalars(competition).one(), group)
    link, ann = invite(host), site.player("Ann")
    for named in ("Staff", "staff", "LAST", "last"):
        status, words = post(ann, f"{link}/team", link, name="Alpha", group=named)
        assert (status, "no sandbox named" in words) == (422, True)
    assert "Please choose a sandbox" in post(ann, f"{link}/team", link, name="Alpha", group="")[1]
    assert post(ann, f"{link}/team", link, name="Alpha", group="east")[0] == 303


@pytest.mark.thorough
def test_a_full_hall_registers_from_one_address(site: Site, host: Visitor) -> None:
    link = invite(host)
    crowd = site.visitor()

    def register(then: str) -> int:
        return crowd.fill("/register", username="", next=then).status_code

    for _ in range(100):
        register("/ranking")
    assert {register(to) for to in ("/ranking", "/join/AAAAAAAAAA")} == {429}
    assert {register(link) for _ in range(101)} == {422}
    with site.resources.database.writing() as session:
        session.execute(update(Competition).values(state="over"))
    assert register(link) == 429


def test_a_list_says_who_may_come_and_who_has(site: Site, host: Visitor) -> None:
    lines = "e-mail,team\nann@example.org,Alpha\n\nbob@example.org\nann@example.org,Alpha"
    assert "line 2" in post(host, f"{HOST}/import", PEOPLE, lines="x@example.org\nnobody")[1]
    assert post(host, f"{HOST}/import", PEOPLE, lines=lines)[0] == 303
    assert "2 addresses were added." in words_of(host.open(PEOPLE))
    link = invite(host, is_open="list")
    ann = site.player("Ann")
    assert "Only people on the host's list" in post(ann, f"{link}/team", link, name="Alpha")[1]
    with site.resources.database.writing() as session:
        session.execute(update(User).values(email_verified_at=site.clock()))
    assert 'value="Alpha"' in ann.open(link).text
    assert post(ann, f"{link}/team", link, name="Alpha")[0] == 303
    assert "1 of 2 are in a team." in words_of(host.open(PEOPLE))
    assert invite(host, is_new="1") != link
    assert site.visitor().open(link).status_code == 404


def test_an_announcement_stands_above_all_pages_for_a_day(site: Site, host: Visitor) -> None:
    answer = post(host, f"{HOST}/announce", PEOPLE, title="Lunch", text="Room <2>")
    assert answer[0] == 303
    assert "Lunch Room <2>" in words_of(site.visitor().open("/t/t1/main/"))
    site.clock.advance(24 * 3600 + 1)
    assert "Room <2>" not in words_of(site.visitor().open("/t/t1/main/")).partition("MAIN")[2]


def announce(host: Visitor, title: str, audience: str) -> tuple[int, str]:
    """Announce something by mail; return what the page says."""
    values = {"title": title, "text": "Räume: 2", "audience": audience}
    status, words = post(host, f"{HOST}/announce", PEOPLE, **values)
    return status, words_of(host.open(PEOPLE)) if status == 303 else words


def in_teams(site: Site, host: Visitor, *names: str) -> list[Visitor]:
    """Let people form a team each, with confirmed addresses; return their browsers."""
    link = invite(host, most_teams="9")
    players = [site.player(name) for name in names]
    for name, player in zip(names, players, strict=True):
        assert post(player, f"{link}/team", link, name=f"Team {name}")[0] == 303
    with site.resources.database.writing() as session:
        session.execute(update(User).values(email_verified_at=site.clock()))
    return players


def sent_to(site: Site, subject: str) -> set[str]:
    """Send what waits; return the names in the addresses that mails of a subject went to."""
    mail_delivery.send_due(site.resources)
    mails = [message_from_string(text, policy=default) for text in site.mails()]
    letters = [one for one in mails if str(one["Subject"]).endswith(subject)]
    return {str(one["To"]).partition("@")[0] for one in letters}


def test_an_announcement_is_mailed_once_to_those_for_whom_it_is(site: Site, host: Visitor) -> None:
    ann, _, cyn = in_teams(site, host, "Ann", "Ben", "Cyn")
    with site.resources.database.writing() as session:
        its = select(Team.id).where(Team.name == "Team Ben")
        runs = update(Bot).where(Bot.team_id.in_(its.scalar_subquery()))
        session.execute(runs.values(kind="builtin", endpoint="random"))
    assert post(cyn, "/settings/mails", "/settings", bots="y")[0] == 303
    words = words_of(host.open(PEOPLE))
    assert "everybody in a team (2)" in words
    assert "teams without a bot that works (1)" in words
    status, words = announce(host, "Lunch", "no bot")
    assert (status, "mailed to 1 person." in words) == (303, True)
    assert "within the last hour already" in announce(host, "Lunch", "no bot")[1]
    assert "mailed to 2 people." in announce(host, "Start", "all")[1]
    assert sent_to(site, "Lunch") == {"ann"}
    assert sent_to(site, "Start") == {"ann", "ben"}
    number = len(site.mails())
    mail_delivery.send_due(site.resources)
    assert len(site.mails()) == number
    announce(host, "Third", "all")
    assert "at most 3 announcements an hour" in announce(host, "Fourth", "all")[1]
    post(ann, "/settings/mails", "/settings")
    assert sent_to(site, "Third") == {"ben"}
    with site.resources.database.reading() as session:
        details = select(Audit.detail).where(Audit.verb == "mail event").order_by(Audit.id)
        assert [row["people"] for row in session.scalars(details)] == [1, 2, 2]
        assert {row.words for row in session.scalars(select(Mail))} == {None}


def test_a_mail_of_a_host_is_turned_off_with_one_click(site: Site, host: Visitor) -> None:
    in_teams(site, host, "Ann")
    announce(host, "Lunch", "all")
    assert sent_to(site, "Lunch") == {"ann"}
    message = message_from_string(site.mails()[-1], policy=default)
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    body = message.get_content()
    assert "Räume: 2" in body
    link = str(message["List-Unsubscribe"]).strip("<>")
    assert link in body
    path = link.removeprefix(site.resources.settings.address)
    stranger = site.visitor()
    assert "Unsubscribe" in words_of(stranger.open(path))
    assert "everybody in a team (1)" in words_of(host.open(PEOPLE))
    done = stranger.send_form(path, {"List-Unsubscribe": "One-Click"})
    assert "You will no longer get emails from the hosts of your tournaments." in words_of(done)
    assert "everybody in a team (0)" in words_of(host.open(PEOPLE))
    assert stranger.send_form(f"{path}x", {}).status_code == 404


@pytest.mark.thorough
def test_what_is_known_of_a_person_goes_with_the_account(site: Site, host: Visitor) -> None:
    link = invite(host)
    ann = site.player("Ann")
    assert post(ann, f"{link}/team", link, name="Alpha")[0] == 303
    for visitor in (ann, host):
        form = {"csrf_token": visitor.token("/settings"), "password": "correct horse"}
        assert visitor.send_form("/settings/delete", form).status_code == 200
    with site.resources.database.reading() as session:
        assert session.scalars(select(TeamMember)).all() == []
        assert session.scalars(select(CompetitionHost)).all() == []


def test_addresses_are_read_from_lists_of_any_program() -> None:
    text = "\ufeffName;E-Mail\nAlpha;Ann@Example.org\n\nbob@example.org,\n"
    assert list(guests_of(text)) == [
        NewGuest("ann@example.org", "Alpha"),
        NewGuest("bob@example.org"),
    ]
    titled = "Name\tE-mail\tTeam\nAnn Ray\tann@example.org\tAlpha\nBob\tbob@example.org\n"
    assert list(guests_of(titled)) == [
        NewGuest("ann@example.org", "Alpha"),
        NewGuest("bob@example.org"),
    ]


def test_a_list_is_imported_as_a_file_too(site: Site, host: Visitor) -> None:
    assert "or choose a file" in post(host, f"{HOST}/import", PEOPLE)[1]
    form = {"csrf_token": host.token(PEOPLE), "lines": "cyn@example.org"}
    text = "Name;E-Mail;Team\nJosé;jose@example.org;Peñas\nBob;bob@example.org;"
    for encoding in ("cp1252", "utf-8-sig"):
        sent = host.send_form(
            f"{HOST}/import", form, files={"file": ("list.csv", text.encode(encoding))}
        )
        assert sent.status_code == 303
    words = words_of(host.open(PEOPLE))
    assert "0 of 3 are in a team." in words
    assert "jose@example.org Peñas none yet" in words
