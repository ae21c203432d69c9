"""The walk of an organiser in Chromium: a tournament of teams from its draft to its export."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from playwright.sync_api import Browser, expect

from hub.tests.browser.hall import HOME, MY_TEAM, SLUG, Hall, Team, in_turns, team_sizes, teams_of
from hub.tests.browser.hall_browsers import Walk, look_at, organising, phone_of, watch_the_screen
from hub.tests.browser.open_hub import Person
from hub.tests.campaign import wait_until
from hub.tests.sites import PASSWORD, words_of

NAME = "Olga"
TITLE = "Duel of the halls"
ZONE = "Europe/Athens"
DESCRIPTION = """\
All classes play **Hexagon**. Bring a bot in any language.

- Teams of two to four people
- The *best of each hall* play a final

[The rules](https://example.org/rules)
"""
PER_GROUP = 10
"""Teams of a group, about."""

LATE = 2
"""Teams that have no bot until they are told."""

NOTICE = "Bots until noon"


def groups_for(teams: int) -> list[str]:
    """Return the names of the groups for so many teams."""
    return [f"HALL {one + 1}" for one in range(max(1, round(teams / PER_GROUP)))]


def organise(hall: Hall, browser: Browser) -> None:
    """Walk from the draft to the day after."""
    with organising(hall, browser) as walk:
        walk.groups = groups_for(len([*team_sizes(len(hall.people))]))
        walk.teams = teams_of(hall.people, walk.groups)
        for work in (create, invite, gather, look_at_the_checklist, play, finish, look_back):
            work(walk)


def create(walk: Walk) -> None:
    """Register, become an admin, and create the tournament in the form."""
    step, page = walk.hall.timetable.step, walk.open("/register")
    with step("the organiser registers and becomes an admin"):
        page.get_by_label("Username").fill(NAME)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("Password (repeat)").fill(PASSWORD)
        page.get_by_label("E-mail").fill("olga@example.org")
        walk.press("Register")
        walk.hall.hub.operate("user", "admin", NAME)
    with step("creates a draft in the form"):
        walk.open("/")
        page.get_by_role("button", name=NAME).click()
        page.get_by_role("link", name="Admin", exact=True).click()
        page.get_by_role("link", name="New competition").click()
        page.get_by_role("radio", name="Tournament").check()
        page.get_by_label("Game").select_option("hexagon")
        page.get_by_role("button", name="Continue").click()
        fill_draft(walk)
        walk.picture("draft-form")
        walk.press("Create a draft")
        expect(page.get_by_role("heading", name="Host", exact=True)).to_be_visible()
    walk.picture("draft")


def fill_draft(walk: Walk) -> None:
    """Fill in the form of a new tournament."""
    page = walk.page
    day = datetime.now(UTC) + timedelta(days=1)
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Address").fill(SLUG)
    page.get_by_label("Description").fill(DESCRIPTION)
    page.get_by_label("Begins").fill(f"{day:%Y-%m-%d}T10:00")
    page.get_by_label("Ends").fill(f"{day:%Y-%m-%d}T18:30")
    page.get_by_label("Time zone").fill(ZONE)
    page.get_by_label("Groups").fill(",".join([*walk.groups, "FINAL"]))
    page.get_by_label("Seconds from one round to the next").fill("3600")


def invite(walk: Walk) -> None:
    """Make a link for the people of a list, and import the list."""
    step, page = walk.hall.timetable.step, walk.lead("People")
    with step("makes an invitation link"):
        page.get_by_label("Maximum number of teams").fill("200")
        page.get_by_label("Maximum number of people in a team").fill("4")
        page.get_by_label("Who may join").select_option("list")
        walk.press("Create an invitation")
        link = page.get_by_role("textbox", name="Link", exact=True).input_value()
        walk.link = link.removeprefix(walk.hall.hub.address)
    with step("imports the list"):
        lines = [
            f"{one.name};{one.email};{team.name}" for team in walk.teams for one in team.people
        ]
        text = "\n".join(["Name;E-mail;Team", *lines])
        file = {"name": "people.csv", "mimeType": "text/csv", "buffer": text.encode()}
        page.get_by_label("CSV file").set_input_files(file)  # type: ignore[arg-type]
        walk.press("Import")
        expect(page.get_by_text(f"0 of {len(lines)} are in a team.")).to_be_visible()
    walk.picture("invitation-and-list")


def gather(walk: Walk) -> None:
    """Let all people come by the link, confirm their addresses, and form teams."""
    hall, step, link = walk.hall, walk.hall.timetable.step, walk.link
    with step("all register by the link"):
        in_turns(lambda one: come(one, link), hall.people)
    with step("all are mailed and confirm their addresses"):
        letters = hall.hub.postbox.wait_for("Confirm your email", len(hall.people) + 1)
        in_turns(lambda one: one.confirm(letters[one.email]), hall.people)
    look_at(walk, hall.people[0], link, "invited")
    with step("captains form teams"):
        in_turns(lambda team: team.form(link), walk.teams)
    with step("the others join by the codes"):
        in_turns(lambda team: team.gather(link), walk.teams)


def come(person: Person, link: str) -> None:
    """Let somebody follow the invitation, and register on the way."""
    assert "Register" in words_of(person.visitor.open(link))
    person.register(link)


def deploy_by_phone(walk: Walk, person: Person, address: str) -> None:
    """Enter the address of a bot; the page says by itself what its checks find."""
    with phone_of(walk, person, MY_TEAM) as page:
        health = page.locator("#health")
        expect(health).to_contain_text("You have not set up your bot yet.")
        page.get_by_label("Bot URL").fill(address)
        page.get_by_role("button", name="Save bot settings").click()
        expect(health).to_contain_text("Your bot answers correctly")
        first = health.get_attribute("data-checked") or ""
        page.get_by_role("button", name="Check my bot").click()
        expect(health).not_to_have_attribute("data-checked", first)
        walk.picture("my-team-390", page)


def deploy(walk: Walk, teams: Sequence[Team], addresses: Sequence[str]) -> None:
    """Let teams say where their bots are, and wait until each was checked."""
    numbers = {team.name: number for number, team in enumerate(walk.teams)}
    in_turns(lambda team: team.deploy(addresses[numbers[team.name] % len(addresses)]), teams)
    is_checked = "Your bot answers correctly"
    for team in teams:
        visitor = team.captain.visitor
        wait_until(lambda: is_checked in visitor.open(MY_TEAM).text, team.name)  # noqa: B023


def look_at_the_checklist(walk: Walk) -> None:
    """See who is not ready, tell them, and see that all are."""
    hall, page, step = walk.hall, walk.page, walk.hall.timetable.step
    punctual, late = walk.teams[:-LATE], walk.teams[-LATE:]
    with step("a captain deploys a bot by phone, and checks it again"):
        deploy_by_phone(walk, punctual[0].captain, hall.bots[0])
    with step("all others but two teams deploy theirs, which are checked"):
        deploy(walk, punctual[1:], hall.bots)
    with step("the organiser sees who is not ready"):
        walk.open(f"{HOME}host/people")
        ready = f"{len(punctual)} of {len(walk.teams)} teams are ready."
        expect(page.get_by_text(ready)).to_be_visible()
        missing = page.get_by_role("group", name="Teams that are not ready").locator("tbody tr")
        expect(missing).to_have_count(LATE)
    walk.picture("checklist")
    announce(walk, late)
    look_at(walk, late[0].captain, HOME, "banner")
    with step("the late teams deploy theirs"):
        deploy(walk, late, hall.bots)
        walk.open(f"{HOME}host/people")
        everybody = f"{len(walk.teams)} of {len(walk.teams)} teams are ready."
        expect(page.get_by_text(everybody)).to_be_visible()


def announce(walk: Walk, late: Sequence[Team]) -> None:
    """Mail those who have no bot that works, and nobody else."""
    page, people = walk.page, [one for team in late for one in team.people]
    with walk.hall.timetable.step("announces, with mail to teams without a bot"):
        announcement = page.get_by_role("region", name="Announce something")
        announcement.get_by_label("Title").fill(NOTICE)
        announcement.get_by_label("Text").fill("Enter the address of your bot on MY TEAM.")
        announcement.get_by_label("Mail").select_option("no bot")
        walk.press("Announce")
        expect(page.get_by_text(f"mailed to {len(people)} people.")).to_be_visible()
        letters = walk.hall.hub.postbox.wait_for(NOTICE, len(people))
    assert set(letters) == {one.email for one in people}
    assert all(HOME in text and "Enter the address" in text for text in letters.values())
    walk.picture("announced")


def play(walk: Walk) -> None:
    """Start, watch the first round on the big screen, and let the best play a final."""
    page, step = walk.page, walk.hall.timetable.step
    with step("starts"):
        walk.lead("Tournament")
        page.get_by_label("Finalists of each sandbox").fill("1" if len(walk.groups) > 1 else "2")
        walk.press("Save settings")
        walk.press("Start")
        expect(page.locator(".status.running")).to_be_visible()
    with step("opens the big screen"):
        watch_the_screen(walk)
    with step("the first round is played"):
        slugs = [group.lower().replace(" ", "-") for group in walk.groups]
        wait_until(lambda: all(is_played(walk, slug) for slug in slugs), "the first round")
    walk.picture("running")
    look_at(walk, walk.hall.people[0], f"{HOME}{slugs[0]}/", "ladder")
    with step("the final is played"):
        walk.open(f"{HOME}host")
        page.get_by_text("Carry over to FINAL").click()
        walk.press("Confirm")
        wait_until(lambda: is_played(walk, "final"), "the final")


def is_played(walk: Walk, group: str) -> bool:
    """Return whether a round of a group is over."""
    current = walk.hall.ladder(group)["round"]
    return isinstance(current, dict) and 0 < current["matches"] == current["played"]


def finish(walk: Walk) -> None:
    """End by the name, undo it, end again, and see the podium."""
    page, step = walk.page, walk.hall.timetable.step
    with step("ends, undoes the end, and ends again"):
        end(walk, "duel")
        expect(page.get_by_text("Nothing has changed: to confirm")).to_be_visible()
        walk.picture("end-refused")
        end(walk, TITLE)
        walk.picture("ended")
        walk.press("Undo the end")
        expect(page.locator(".status.running")).to_be_visible()
        end(walk, TITLE)
        expect(page.get_by_text("The tournament is over.")).to_be_visible()
    with step("sees the podium and the final table"):
        page.get_by_role("link", name="Public pages").click()
        expect(page.get_by_role("list", name="Podium of FINAL")).to_be_visible()
        walk.picture("podium")
        page.get_by_role("link", name="Final table").click()
        expect(page.get_by_role("heading", name="Final table")).to_be_visible()
        walk.picture("final-table")


def end(walk: Walk, name: str) -> None:
    """Type a name to end the tournament."""
    page = walk.open(f"{HOME}host")
    page.get_by_text("End the tournament").click()
    page.get_by_label("To confirm, type").fill(name)
    page.get_by_role("button", name="End", exact=True).click()


def look_back(walk: Walk) -> None:
    """Take the export, and find the tournament from the home page as a stranger does."""
    page, step = walk.page, walk.hall.timetable.step
    with step("exports"):
        walk.open(f"{HOME}host")
        with page.expect_download() as download:
            page.get_by_role("link", name="download it with all replays").click()
        files = ZipFile(BytesIO(Path(download.value.path()).read_bytes())).namelist()
        assert any(name.endswith("tournament.toml") for name in files)
        assert sum("replay" in name for name in files) > len(walk.teams)
    with step("a stranger finds it from the home page"):
        walk.context.clear_cookies()
        walk.open("/")
        walk.picture("home")
        page.get_by_role("link", name=re.compile(TITLE)).first.click()
        expect(page.get_by_role("heading", name="Final result")).to_be_visible()
    walk.picture("as-a-stranger")
