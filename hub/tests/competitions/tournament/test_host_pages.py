"""HOST: what the host of a tournament sees and does."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import datetime
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import select

from cw.documents import parse_toml
from cw_hub.bots import health
from cw_hub.competitions.tournament import progress, team_bots
from cw_hub.competitions.tournament.service import (
    LARGEST_FILE,
    NewTournament,
    TournamentConfig,
    create,
    read_config,
)
from cw_hub.competitions.tournament.teams import NewGroup, NewTeam
from cw_hub.store.models import Audit, Bot, Competition, Entry, Event, Group, Match, Team, Ticket
from hub.tests.conftest import StillClock
from hub.tests.program import make_admin
from hub.tests.sites import Site, Visitor, words_of

HOST = "/t/t1/host"


@pytest.fixture
def database_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    """The pages are the same on both databases: one of them will do."""
    file = tmp_path / "hub.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    return f"sqlite:///{file}"


@pytest.fixture
def new(site: Site) -> NewTournament:
    teams = [NewTeam(name, "GRODNO", bot="builtin:random") for name in ("Alpha", "Beta", "Gamma")]
    config = TournamentConfig(
        "t1",
        "hexagon",
        "Duel",
        groups=[NewGroup("GRODNO"), NewGroup("MINSK"), NewGroup("FINAL")],
        teams=teams,
        settings={"boards": [{"options": {"size": 3}}]},
    )
    with site.resources.database.writing() as session:
        return create(session, config)


@pytest.fixture
def host(site: Site, new: NewTournament) -> Visitor:
    visitor = site.player("Ada")
    make_admin(site, "Ada")
    return visitor


def post(host: Visitor, verb: str, **values: object) -> tuple[int, str]:
    """Post a form of the host; return its status, and the words of a page that refuses it."""
    fields = {"csrf_token": host.token(HOST), **values}
    answer = host.send_form(f"{HOST}/{verb}", fields)  # type: ignore[arg-type]
    return answer.status_code, words_of(answer)


def ids(new: NewTournament, *numbers: int) -> list[str]:
    return [str(new.teams[number]) for number in numbers]


def test_others_are_refused(site: Site, new: NewTournament) -> None:
    for visitor in (site.visitor(), site.player("Bob")):
        for part in ("", "/teams", "/events", "/rounds", "/log", "/export.zip"):
            assert visitor.open(f"{HOST}{part}").status_code == 403
        token = visitor.token() or visitor.token("/settings")
        for verb in ("start", "add-teams", "issue-tokens", "nothing"):
            answer = visitor.send_form(f"{HOST}/{verb}", {"csrf_token": token, "lines": "X"})
            assert answer.status_code == 403
    assert site.visitor().open("/t/t2/host").status_code == 404
    with site.resources.database.reading() as session:
        assert session.scalars(select(Event.id)).all() == []
        assert len(session.scalars(select(Team.id)).all()) == 3


def test_start_pause_resume_and_end_are_events_at_once(
    site: Site, host: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time goes on between two looks at the clock."""

    def going_on(clock: StillClock) -> datetime:
        clock.advance(0.001)
        return clock.now

    monkeypatch.setattr(type(site.clock), "__call__", going_on)
    assert post(host, "pause")[0] == 422
    for verb in ("start", "pause", "resume"):
        assert post(host, verb, text="Lunch")[0] == 303
        assert post(host, verb)[0] == 422
    with site.resources.database.reading() as session:
        events = list(session.scalars(select(Event).order_by(Event.id)))
        state = session.scalars(select(Competition.state).where(Competition.slug == "t1")).one()
    assert [one.kind for one in events] == ["start", "pause", "resume"]
    assert all(one.applied_at is not None and one.applied_at > one.at for one in events)
    assert state == "running"
    page = words_of(host.open(f"{HOST}/rounds"))
    assert "GRODNO, round 1" in page
    assert page.count("Play again") == 4
    assert post(host, "settings", finalists="2")[0] == 422
    assert post(host, "settings", settings="1", parallel="3", round_every="60")[0] == 303


def test_teams_are_added_all_or_none(site: Site, host: Visitor) -> None:
    code, words = post(host, "add-teams", lines=f"Delta, GRODNO\nalpha, GRODNO\n{'x' * 41}\nE, X")
    assert code == 422
    for line in (
        "line 2: this name is taken",
        "line 3: longer than 40 characters",
        "line 4: no sandbox named X",
        "Delta, GRODNO",
    ):
        assert line in words
    assert post(host, "add-teams", lines="")[1].count("Please enter a name") == 1
    many = "\n".join(f"Т{'ё' * 36}{number}, MINSK" for number in range(100))
    assert post(host, "add-teams", lines=many)[0] == 303
    with site.resources.database.reading() as session:
        assert len(session.scalars(select(Team.id)).all()) == 103


def test_cards_are_shown_once(site: Site, host: Visitor, new: NewTournament) -> None:
    page = host.open(f"{HOST}/teams").text
    match = re.search('name="nonce" value="([0-9a-f]{32})"', page)
    assert match
    form = {"csrf_token": host.token(HOST), "nonce": match[1], "team": ids(new, 0, 1, 2)}
    sheet = host.send_form(f"{HOST}/issue-tokens", form)  # type: ignore[arg-type]
    tokens = re.findall(r"\b[A-Z]{4}(?:-[A-Z]{4}){3}\b", sheet.text)
    assert len(set(tokens)) == 3
    assert sheet.headers["Cache-Control"] == "no-store"
    assert "Keep your login token and the IP address of your droplet a secret" in words_of(sheet)
    again = host.send_form(f"{HOST}/issue-tokens", form)  # type: ignore[arg-type]
    assert again.status_code == 422
    assert "These cards were issued already and cannot be shown again." in words_of(again)
    assert post(host, "revoke-tokens", team=ids(new, 0))[0] == 303
    with site.resources.database.reading() as session:
        assert len(session.scalars(select(Ticket).where(Ticket.kind == "card")).all()) == 2
        noted = json.dumps([row.detail for row in session.scalars(select(Audit))])
    assert not any(token in noted or token.replace("-", "") in noted for token in tokens)
    assert post(host, "issue-tokens")[1].count("Please choose a team") == 1


def test_a_thousand_teams_can_be_ticked(host: Visitor, new: NewTournament) -> None:
    many = [*ids(new, 0), *["999999"] * 999]
    assert post(host, "machine", team=many, machine="10.0.0.1")[0] == 303
    assert "Please choose at most 1000 teams" in post(host, "machine", team=[*many, "1"])[1]
    assert post(host, "machine", team=many * 2)[0] == 413


def test_what_is_done_to_teams(site: Site, host: Visitor, new: NewTournament) -> None:
    assert post(host, "move", team=ids(new, 2), group="MINSK")[0] == 303
    assert post(host, "set-bot", team=ids(new, 0), bot="http://127.0.0.1:3001")[0] == 303
    for wrong in ("javascript:x", "http://u:p@h/", "http://h/" + "x" * 500, "builtin:nobody", ""):
        assert post(host, "set-bot", team=ids(new, 0), bot=wrong)[0] == 422
    with site.resources.database.reading() as session:
        assert health.any_due(session)
    assert post(host, "machine", team=ids(new, 0), machine="10.1.2.3")[0] == 303
    assert post(host, "disqualify", team=ids(new, 1))[1].count("Please give a reason") == 1
    assert post(host, "disqualify", team=ids(new, 1), reason="Cheated")[0] == 303
    assert post(host, "out-of-competition", team=ids(new, 2))[0] == 303
    page = words_of(host.open(f"{HOST}/teams"))
    for word in (
        "http://127.0.0.1:3001",
        "10.1.2.3",
        "disqualified: Cheated",
        "out of competition",
    ):
        assert word in page
    assert post(host, "reinstate", team=ids(new, 1))[0] == 303
    assert post(host, "start")[0] == 303
    assert "stays in its sandbox" in post(host, "move", team=ids(new, 0), group="MINSK")[1]
    assert post(host, "remove", team=ids(new, 1), sure="beta")[0] == 303
    with site.resources.database.reading() as session:
        statuses = select(Entry.status).where(Entry.team_id == new.teams[1])
        assert session.scalars(statuses).all() == ["removed"]
        bot = session.scalars(select(Bot).where(Bot.team_id == new.teams[0])).one()
        assert (bot.kind, bot.endpoint) == ("url", "http://127.0.0.1:3001")
        verbs = {row.verb for row in session.scalars(select(Audit))}
        details = json.dumps([row.detail for row in session.scalars(select(Audit))])
    assert {"move", "set bot", "machine", "disqualify", "reinstate", "remove"} <= verbs
    assert "127.0.0.1" not in details
    assert "Cheated" in words_of(host.open(f"{HOST}/log"))


def test_a_team_out_of_competition_may_compete_again(
    site: Site, host: Visitor, new: NewTournament
) -> None:
    gamma = new.teams[2]

    def entries() -> dict[str, str]:
        with site.resources.database.reading() as session:
            of_gamma = select(Group.name, Entry.status).join(Entry, Entry.group_id == Group.id)
            return dict(session.execute(of_gamma.where(Entry.team_id == gamma)).all())

    everywhere = dict.fromkeys(("GRODNO", "MINSK", "FINAL"), "playing")
    for _ in range(2):
        assert post(host, "out-of-competition", team=ids(new, 2))[0] == 303
        assert entries() == everywhere
    for _ in range(2):
        assert post(host, "compete", team=ids(new, 2), group="MINSK")[0] == 303
        assert entries() == {"MINSK": "playing"}
    assert post(host, "compete", team=ids(new, 2), group="X")[0] == 422
    post(host, "out-of-competition", team=ids(new, 2))
    post(host, "start")
    assert post(host, "compete", team=ids(new, 2), group="MINSK")[0] == 303
    # In GRODNO a round is played with it; it waits for a second team in MINSK.
    assert entries() == {"GRODNO": "withdrawn", "MINSK": "playing"}
    post(host, "out-of-competition", team=ids(new, 2))
    assert entries() == everywhere
    post(host, "disqualify", team=ids(new, 1), reason="Cheated")
    assert post(host, "out-of-competition", team=ids(new, 1))[0] == 303
    with site.resources.database.reading() as session:
        statuses = select(Entry.status).where(Entry.team_id == new.teams[1])
        assert set(session.scalars(statuses)) == {"disqualified"}


def test_a_match_of_a_team_that_is_disqualified_is_not_played_again(
    site: Site, host: Visitor, new: NewTournament
) -> None:
    post(host, "start")
    post(host, "disqualify", team=ids(new, 1), reason="Cheated")
    with site.resources.database.reading() as session:
        void = session.scalars(select(Match.match_id).where(Match.state == "void")).all()
    assert len(void) == 2
    code, words = post(host, "play-again", match=void[0])
    assert (code, "Beta is disqualified: reinstate it first" in words) == (422, True)
    post(host, "reinstate", team=ids(new, 1))
    assert post(host, "play-again", match=void[0])[0] == 303


def test_a_team_is_told_where_its_secret_is(site: Site, host: Visitor) -> None:
    config = TournamentConfig("t2", "code-battle", teams=[NewTeam("Solo")])
    with site.resources.database.writing() as session:
        (team,) = create(session, config).teams
    values = {"csrf_token": host.token(HOST), "team": str(team), "bot": "http://127.0.0.1:3001"}
    assert host.send_form("/t/t2/host/set-bot", values).status_code == 303
    assert team_bots.WHERE_SECRET in words_of(host.open("/t/t2/host/teams"))
    with site.resources.database.writing() as session:
        own = team_bots.find(session, team)
        assert own is not None
        assert own.lacks_secret
        sealer, url = site.resources.sealer, "http://127.0.0.1:3001"
        assert team_bots.set_url(session, sealer, own, url) is not None
        assert team_bots.set_url(session, sealer, own, url) is None
    host.send_form("/t/t2/host/set-bot", values)
    assert team_bots.WHERE_SECRET not in words_of(host.open("/t/t2/host/teams"))


def test_a_removal_can_be_undone_for_an_hour(site: Site, host: Visitor, new: NewTournament) -> None:
    """Then a team that never played is deleted, and one that has played is withdrawn."""
    sheet = host.send_form(
        f"{HOST}/issue-tokens", {"csrf_token": host.token(HOST), "team": str(new.teams[1])}
    )
    token = re.findall(r'<p class="token">([A-Z-]+)</p>', sheet.text)[0]
    remove = {"team": ids(new, 1), "sure": "Beta"}
    assert post(host, "remove", **remove)[0] == 303
    assert "Removed within the last hour Beta" in words_of(host.open(f"{HOST}/teams"))
    assert "Beta" not in words_of(site.visitor().open("/t/t1/"))
    visitor = site.visitor()
    assert (
        visitor.send_form(
            "/t/t1/join", {"csrf_token": visitor.token("/t/t1/grodno/"), "token": token}
        ).status_code
        == 422
    )
    assert post(host, "undo-remove", team=ids(new, 1))[0] == 303
    assert (
        visitor.send_form(
            "/t/t1/join", {"csrf_token": visitor.token("/t/t1/grodno/"), "token": token}
        ).status_code
        == 303
    )
    assert post(host, "remove", **remove)[0] == 303
    site.clock.advance(3601)
    assert "nothing can be undone" in post(host, "undo-remove", team=ids(new, 1))[1]
    assert tick(site) == [new.teams[0], new.teams[2]]
    assert post(host, "add-teams", lines="Beta, GRODNO")[0] == 303
    assert post(host, "start")[0] == 303
    assert post(host, "remove", team=ids(new, 0), sure="Alpha")[0] == 303
    site.clock.advance(3601)
    assert new.teams[0] in tick(site)
    with site.resources.database.reading() as session:
        statuses = select(Entry.status).where(Entry.team_id == new.teams[0])
        assert session.scalars(statuses).all() == ["withdrawn"]


def tick(site: Site) -> list[int]:
    """Let a tick pass; return the ids of the teams that are left."""
    with site.resources.database.writing() as session:
        progress.plan(session)
        return list(session.scalars(select(Team.id).order_by(Team.id)))


def test_the_end_can_be_undone_for_an_hour(site: Site, host: Visitor, new: NewTournament) -> None:
    def state() -> str:
        with site.resources.database.reading() as session:
            return session.scalars(select(Competition.state)).one()

    assert post(host, "undo-end")[0] == 422
    assert post(host, "start")[0] == 303
    assert post(host, "void-round", round="1", reason="Late")[0] == 303
    assert post(host, "pause")[0] == 303
    with site.resources.database.writing() as session:
        for match in session.scalars(select(Match)):
            match.state = "void"
    assert post(host, "end", sure="Duel")[0] == 303
    assert state() == "over"
    assert post(host, "undo-end")[0] == 303
    assert state() == "paused"
    taken_back = "The end was undone"
    assert taken_back in words_of(host.open("/t/t1/minsk/"))
    assert post(host, "end", sure="Duel")[0] == 303
    above, _, events = words_of(host.open("/t/t1/minsk/")).partition("All events")
    assert taken_back in above
    assert taken_back not in events
    site.clock.advance(3601)
    assert "Undo the end" not in words_of(host.open(HOST))
    assert "not ended within the last hour" in post(host, "undo-end")[1]
    assert state() == "over"


def test_a_start_by_hand_takes_the_place_of_the_planned_one(site: Site, host: Visitor) -> None:
    form = {"at": "2030-01-31T18:00", "zone": "UTC"}
    for kind in ("start", "end"):
        assert post(host, "add-event", **form, title=f"Planned {kind}", kind=kind)[0] == 303
    assert post(host, "start")[0] == 303
    words = words_of(host.open(f"{HOST}/events"))
    assert "Planned start" not in words
    assert "Planned end" in words


def test_times_are_entered_in_a_time_zone(site: Site, host: Visitor) -> None:
    form = {"at": "2030-01-31T18:00", "title": "Dinner", "kind": "note"}
    assert "choose a time zone" in post(host, "add-event", **form, zone="Mars/Base")[1]
    assert post(host, "add-event", **form, zone="Asia/Tokyo")[0] == 303
    with site.resources.database.reading() as session:
        at = session.scalars(select(Event.at)).one()
    assert at.isoformat() == "2030-01-31T09:00:00+00:00"


def test_removal_and_the_end_are_confirmed_by_what_is_typed(
    site: Site, host: Visitor, new: NewTournament
) -> None:
    several = {"team": ids(new, 0, 1)}
    for typed, verb, more, expected in (
        ("", "remove", {"team": ids(new, 1)}, "type Beta, not ''"),
        ("Beta", "remove", several, "type 2 teams, not 'Beta'"),
        ("Alpha", "end", {}, "type Duel, not 'Alpha'"),
    ):
        if verb == "end":
            assert post(host, "start")[0] == 303
        code, words = post(host, verb, sure=typed, **more)
        assert (code, expected in words) == (422, True), words
    with site.resources.database.reading() as session:
        assert set(new.teams) <= set(session.scalars(select(Team.id)))
    assert post(host, "remove", sure="2 teams", **several)[0] == 303
    assert post(host, "end", sure="duel")[0] == 303
    assert "The tournament is over" in words_of(host.open(HOST))


def test_events_that_cannot_be_are_refused(site: Site, host: Visitor) -> None:
    at = {"at": "2026-11-20T20:00"}
    for values, sentence in (
        ({}, "Please enter a time"),
        ({"at": "soon"}, "Please enter a time"),
        ({"at": "2026-11-20T17:00"}, "The time is in the past"),
        (at, "Please enter a title"),
        (at | {"title": "x", "kind": "boards"}, "Please enter a board"),
        (
            at | {"title": "x", "kind": "boards", "boards": "size=8"},
            "size 8 has no factor: sizes with a factor are 3, 4, 5, 6, 7",
        ),
    ):
        code, words = post(host, "add-event", **values)
        assert (code, sentence in words) == (422, True), words
    with site.resources.database.reading() as session:
        assert session.scalars(select(Event.id)).all() == []


def test_events_are_planned_and_called_off(site: Site, host: Visitor) -> None:
    boards = "size=5\nLarge one: size=6, stones=4 x 7"
    values = {"at": "2026-11-20T20:00", "title": "More", "kind": "boards", "boards": boards}
    assert post(host, "add-event", **values, mode="replace", announced="1")[0] == 303
    with site.resources.database.reading() as session:
        event = session.scalars(select(Event)).one()
    assert event.data["boards"] == [
        {"name": "Hexagon 5", "options": {"size": 5}, "factor": 3},
        {"name": "Large one", "options": {"size": 6, "stones": 4}, "factor": 7},
    ]
    assert (event.data["mode"], event.announced) == ("replace", True)
    assert post(host, "remove-event", event=str(event.id))[0] == 303
    assert post(host, "remove-event", event=str(event.id))[0] == 422


def test_sandboxes_and_the_final(site: Site, host: Visitor) -> None:
    assert post(host, "add-sandbox", name="DNEPR", kind="public")[0] == 303
    assert "there is a sandbox" in post(host, "add-sandbox", name="dnepr", kind="public")[1]
    assert post(host, "add-sandbox", name="F2", kind="final")[0] == 422
    assert post(host, "carry-over")[0] == 422
    assert post(host, "carry-over", confirm="1")[0] == 303
    with site.resources.database.reading() as session:
        assert len(session.scalars(select(Group.id)).all()) == 4
        assert session.scalars(select(Event.kind)).all() == ["final"]


def test_an_export_makes_the_same_tournament(site: Site, host: Visitor, new: NewTournament) -> None:
    post(host, "add-teams", lines='=1+1 "Ü", GRODNO')
    post(host, "out-of-competition", team=ids(new, 2))
    post(host, "set-bot", team=ids(new, 0), bot="http://10.9.8.7:3001/secret")
    post(host, "machine", team=ids(new, 0), machine="10.9.8.7")
    values = {"at": "2026-11-20T20:00", "title": "More", "kind": "boards", "boards": "size=5"}
    post(host, "add-event", **values, group="GRODNO")
    post(host, "start")
    answer = host.open(f"{HOST}/export.zip?replays=1")
    assert answer.headers["Content-Type"] == "application/zip"
    with ZipFile(io.BytesIO(answer.content)) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(files) == {
        *("tournament.toml", "ladder-grodno.csv", "ladder-minsk.csv", "ladder-final.csv"),
        *("rounds.csv", "matches.csv", "battles.jsonl", "index.html"),
    }
    assert not any("10.9.8.7" in text for text in files.values())
    ladder = list(csv.reader(io.StringIO(files["ladder-grodno.csv"])))
    assert ["1", '\'=1+1 "Ü"', "1-1-u", "0", "0", "0", "0", "", "playing", ""] in ladder
    assert ["", "Gamma", "gamma", *"0000", "", "out of competition", ""] == ladder[-1]
    assert len(list(csv.reader(io.StringIO(files["matches.csv"])))) == 1 + 2 * 6
    config = read_config(parse_toml(files["tournament.toml"].encode(), LARGEST_FILE), "t2")
    with site.resources.database.writing() as session:
        again = create(session, config)
    with site.resources.database.reading() as session:
        settings = [told_of(session, one) for one in (new.id, again.id)]
    assert settings[0] == settings[1]


def told_of(session: object, competition: int) -> object:
    """Return groups, teams and events of a tournament, without what an export leaves out."""
    ask = session.execute  # type: ignore[attr-defined]
    groups = ask(
        select(Group.name, Group.slug, Group.kind)
        .where(Group.competition_id == competition)
        .order_by(Group.id)
    ).all()
    teams = ask(
        select(Team.name, Team.slug, Team.out_of_competition, Group.name)
        .join(Entry, Entry.team_id == Team.id)
        .join(Group, Group.id == Entry.group_id)
        .where(Team.competition_id == competition)
        .order_by(Team.name, Group.id)
    ).all()
    events = ask(
        select(Event.kind, Event.at, Event.title, Event.data, Event.announced, Group.name)
        .outerjoin(Group, Group.id == Event.group_id)
        .where(Event.competition_id == competition)
        .order_by(Event.at, Event.id)
    ).all()
    return groups, teams, events
