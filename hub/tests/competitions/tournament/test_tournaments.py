"""Tournaments of teams: what they are created from, their teams, events and cards."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from cw.documents import parse_toml
from cw.errors import UsageError
from cw_hub.accounts import tickets
from cw_hub.bots.versions import Upload
from cw_hub.competitions.service import CompetitionTaken
from cw_hub.competitions.tournament import rounds, team_bots
from cw_hub.competitions.tournament import teams as tournament_teams
from cw_hub.competitions.tournament.service import (
    LARGEST_FILE,
    NewEvent,
    NewTournament,
    TournamentConfig,
    add_event,
    create,
    read_config,
    remove_event,
    team_lines,
    with_teams,
)
from cw_hub.competitions.tournament.settings import settings_of
from cw_hub.competitions.tournament.teams import BadLines, NewGroup, NewTeam, add_group, add_teams
from cw_hub.store.database import Database
from cw_hub.store.models import Bot, BotVersion, Entry, Event, Group, Team, Ticket
from hub.tests.conftest import StillClock

DUEL = """
title = "Duel of cities"
seed = 7

[settings]
round_every = 60
boards = [{name = "Small", options = {size = 3}}, {options = {size = 5}}]

[[groups]]
name = "GRODNO"
[[groups]]
name = "INTERNAL"
[[groups]]
name = "FINAL"

[[teams]]
name = "Alpha"
group = "GRODNO"
bot = "http://127.0.0.1:3001"
[[teams]]
name = "Béta "
group = "grodno"
[[teams]]
name = "Hosts"
out_of_competition = true
bot = "builtin:greedy"

[[events]]
kind = "start"
at = 2026-11-20T20:00:00
title = "Start"
announced = true
[[events]]
kind = "boards"
at = 2026-11-20T22:00:00+01:00
title = "Larger fields"
mode = "replace"
boards = [{options = {size = 7}}]
[[events]]
kind = "end"
at = "2026-11-21T20:00:00Z"
title = "End"
group = "GRODNO"
"""


@pytest.fixture
def database_url(migrated_sqlite: Any, tmp_path: Any) -> str:
    """These verbs are the same on both databases: one of them will do."""
    file = tmp_path / "hub.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    return f"sqlite:///{file}"


def duel(text: str = DUEL, slug: str = "duel") -> TournamentConfig:
    return read_config(parse_toml(text.encode(), LARGEST_FILE), slug, "hexagon")


@pytest.fixture
def new(database: Database, hub_clock: StillClock) -> NewTournament:
    with database.writing() as session:
        return create(session, duel())


def add(database: Database, clock: StillClock, new: NewTournament, text: str) -> list[int]:
    with database.writing() as session:
        return add_teams(session, new.id, list(team_lines(text)))


# Settings


@pytest.mark.parametrize("game", ["hexagon", "circuit-wars", "paint", "code-battle"])
def test_games_for_two_are_played_in_pairs(game: str) -> None:
    settings = settings_of(game, {})
    assert (settings.plan, settings.battles, settings.parallel) == ("pairs", 2, 8)
    assert settings.training


def test_settings_have_the_defaults_of_their_game() -> None:
    hexagon = settings_of("hexagon", {})
    assert [(one.name, one.options, one.factor) for one in hexagon.boards] == [
        ("Hexagon 3", {"size": 3}, 1),
        ("Hexagon 5", {"size": 5}, 3),
    ]
    assert (hexagon.per_bot, hexagon.hosting, hexagon.tiebreak) == (4, "off", "none")
    paint = settings_of("paint", {"plan": "all"})
    assert [one.options for one in paint.boards] == [{"board": "square"}]
    assert settings_of("end-of-codes", {}).plan == "all"
    assert settings_of("circuit-wars", {}).hosting == "sandboxed"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"paralel": 3}, "there is no setting 'paralel'; did you mean parallel?"),
        ({"parallel": 0}, "parallel must be a whole number from 1 to 256, not 0"),
        ({"parallel": True}, "not True"),
        ({"plan": ["pairs"]}, "plan must be one of pairs, all"),
        ({"points": {"win": 4}}, "unknown points 'win'"),
        ({"points": {"win_higher": -1}}, "win_higher must be a whole number"),
        ({"training": "nobody"}, "hexagon has no strategy 'nobody'"),
        ({"boards": []}, "boards must be a list of boards"),
        ({"boards": [{"options": {"size": 8}}]}, "size 8 has no factor: sizes with a factor are 3"),
        (
            {"boards": [{"options": {"size": 99}, "factor": 9}]},
            "size must be a whole number from 2",
        ),
        ({"boards": [{"options": {"sise": 5}}]}, "unknown option 'sise'"),
        ({"boards": [{"options": {"size": 5}, "factor": 0}]}, "factor must be a whole number"),
        (
            {"boards": [{"options": {"size": 3}, "factor": 2}, {"options": {"size": 4}}]},
            "factors must grow with the size: 3 has 2, and 4 has 2",
        ),
        ({"boards": [{"options": {"size": 3}}] * 2}, "two boards are called Hexagon 3"),
        ({"boards": "size 3"}, "boards must be a list"),
        ({"boards": [{"name": "\u202e", "options": {"size": 3}}]}, "invisible characters"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        settings_of("hexagon", fields)
    assert sentence in str(refused.value)


# Making one


def test_a_file_makes_a_tournament(
    database: Database, hub_clock: StillClock, new: NewTournament
) -> None:
    with database.reading() as session:
        groups = [
            (one.name, one.slug, one.kind)
            for one in session.scalars(select(Group).order_by(Group.id))
        ]
        assert groups == [
            ("GRODNO", "grodno", "public"),
            ("INTERNAL", "internal", "internal"),
            ("FINAL", "final", "final"),
        ]
        teams = {one.slug: one for one in session.scalars(select(Team))}
        assert teams["beta"].name == "Béta"
        bots = {one.name: one for one in session.scalars(select(Bot))}
        assert (bots["alpha"].kind, bots["alpha"].endpoint) == ("url", "http://127.0.0.1:3001")
        assert (bots["beta"].kind, bots["beta"].endpoint, bots["beta"].status) == (
            "url", "", "PENDING"
        )  # fmt: skip
        assert (bots["hosts"].kind, bots["hosts"].endpoint) == ("builtin", "greedy")
        entries = session.scalars(select(Entry.team_id)).all()
        assert sorted(entries) == sorted([*new.teams, new.teams[2], new.teams[2]])
        events = list(session.scalars(select(Event).order_by(Event.at)))
        assert [(one.kind, one.at.hour, one.announced) for one in events] == [
            ("start", 20, True), ("boards", 21, False), ("end", 20, False)
        ]  # fmt: skip
        assert events[1].data["boards"] == [
            {"name": "Hexagon 7", "options": {"size": 7}, "factor": 5}
        ]
        assert events[1].data["mode"] == "replace"
    with pytest.raises(CompetitionTaken), database.writing() as session:
        create(session, duel())


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ('titel = "x"', "unknown field `titel`"),
        ("seed = -1", "seed must be a whole number"),
        ("[settings]\nplan = 1", "plan must be one of"),
        ('[[groups]]\nname = "a"\n[[groups]]\nname = "A"', "there is a sandbox A already"),
        ('[[groups]]\nname = "a"\nkind = "final"\n[[groups]]\nname = "final"', "final sandbox"),
        ('[[teams]]\nname = "x"\ngroup = "y"', "no sandbox named y"),
        ('[[teams]]\nname = "x"\nbot = "javascript:x"', "Please enter a valid HTTP URL"),
        ('[[teams]]\nname = "x"\nbot = "builtin:x"', "has no strategy"),
        ('[[events]]\nkind = "rain"\nat = 2026-11-20T20:00:00\ntitle = "x"', "Invalid enum"),
        ('[[events]]\nkind = "final"\nat = 2026-11-20T20:00:00\ntitle = "x"', "no final sandbox"),
        ('[[events]]\nkind = "end"\nat = 2026-11-20\ntitle = "x"', "Expected `datetime`"),
    ],
)
def test_a_wrong_file_makes_nothing(
    database: Database, hub_clock: StillClock, wrong: str, sentence: str
) -> None:
    with pytest.raises(UsageError) as refused, database.writing() as session:
        create(session, duel(wrong))
    assert sentence in str(refused.value)
    with database.reading() as session:
        assert session.scalars(select(Group.id)).all() == []


@pytest.mark.parametrize("slug", ["", "A", "a b", "../x", "a-", "ä", "x" * 33])
def test_a_bad_slug_is_refused(database: Database, hub_clock: StillClock, slug: str) -> None:
    with pytest.raises(UsageError, match="is not a valid slug"), database.writing() as session:
        create(session, duel("", slug))


def test_without_sandboxes_there_is_one_or_those_of_the_list(
    database: Database, hub_clock: StillClock
) -> None:
    listed = list(team_lines("Alpha, GRODNO\nBeta, Host\n\nGamma, grodno"))
    with database.writing() as session:
        create(session, duel("", "a"))
        create(session, with_teams(duel("", "b"), listed))
    with database.reading() as session:
        assert session.execute(select(Group.name, Group.slug).order_by(Group.id)).all() == [
            ("MAIN", "main"), ("GRODNO", "grodno"), ("Host", "host-2")
        ]  # fmt: skip


# Teams


def test_teams_are_made_all_or_none(
    database: Database, hub_clock: StillClock, new: NewTournament
) -> None:
    names = ("Delta", "", "ALPHA", "x" * 41, "E", "delta", "a\u202eb", " ")
    lines = "\n".join(name and f"{name}, {'MINSK' if name == 'E' else 'GRODNO'}" for name in names)
    with pytest.raises(BadLines) as refused:
        add(database, hub_clock, new, lines)
    assert refused.value.problems == (
        "line 3: this name is taken",
        "line 4: longer than 40 characters",
        "line 5: no sandbox named MINSK",
        "line 6: this name is taken",
        "line 7: the name contains invisible characters",
        "line 8: a name is missing",
    )
    with database.reading() as session:
        assert len(session.scalars(select(Team.id)).all()) == 3
    add(
        database,
        hub_clock,
        new,
        "Команда, GRODNO\nДругая, GRODNO\nAl-pha!, GRODNO\nLadder, GRODNO",
    )
    with database.reading() as session:
        slugs = session.scalars(select(Team.slug).order_by(Team.id)).all()[3:]
    assert slugs == ["team-1", "team-2", "al-pha", "ladder-2"]


def test_a_sandbox_of_pairs_holds_a_hundred(
    database: Database, hub_clock: StillClock, new: NewTournament
) -> None:
    lines = "\n".join(f"T{number}, GRODNO" for number in range(98))
    with pytest.raises(BadLines, match="line 98: GRODNO is full: it holds at most 100 teams"):
        add(database, hub_clock, new, lines)


def test_who_plays_out_of_competition_plays_in_new_sandboxes_too(
    database: Database, hub_clock: StillClock, new: NewTournament
) -> None:
    with database.writing() as session:
        group = add_group(session, new.id, NewGroup("MINSK"))
    with database.reading() as session:
        entered = session.scalars(select(Entry.team_id).where(Entry.group_id == group)).all()
    assert entered == [new.teams[2]]


# Events


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"at": datetime(2026, 11, 20, 17, 59, tzinfo=UTC)}, "The time is in the past"),
        ({"title": "  "}, "Please enter a title"),
        ({"kind": "boards", "boards": [{"options": {"size": 8}}]}, "size 8 has no factor: sizes"),
        ({"kind": "boards"}, "Please enter a board"),
        ({"kind": "note", "boards": [{"options": {"size": 3}}]}, "has no boards"),
        ({"group": "MINSK"}, "no sandbox named MINSK"),
    ],
)
def test_events_that_cannot_be_are_refused(
    database: Database,
    hub_clock: StillClock,
    new: NewTournament,
    more: dict[str, Any],
    sentence: str,
) -> None:
    event = NewEvent(**{"kind": "note", "at": hub_clock(), "title": "x", **more})
    with pytest.raises(UsageError, match=sentence), database.writing() as session:
        add_event(session, new.id, event)


# Cards


def test_tokens_are_kept_as_digests_and_replace_earlier_ones(
    database: Database, hub_clock: StillClock, new: NewTournament
) -> None:
    with database.writing() as session:
        first = tournament_teams.issue(session, new.id, new.teams, nonce="a")
        (second,) = tournament_teams.issue(session, new.id, new.teams[:1], nonce="b")
        host = tournament_teams.issue_to_host(session, new.id)
    assert [(one.team, one.group) for one in first] == [
        ("Alpha", "GRODNO"), ("Béta", "GRODNO"), ("Hosts", "")
    ]  # fmt: skip
    assert all(len(one.token) == 16 and not set(one.token) & set("IO") for one in first)
    assert len(tournament_teams.printed(host)) == 19
    digests = {tickets.digest_of(token) for token in (second.token, first[1].token, first[2].token)}
    with database.reading() as session:
        rows = session.scalars(select(Ticket)).all()
    assert {one.digest for one in rows if one.kind == "card"} == digests
    assert {one.digest for one in rows if one.kind == "host_card"} == {tickets.digest_of(host)}
    # The end of one sandbox is not the end of all.
    assert {one.expires_at - hub_clock() for one in rows} == {timedelta(days=180)}


def test_the_same_form_issues_cards_once(
    database: Database, hub_clock: StillClock, new: NewTournament
) -> None:
    for nonce in ("a", "b"):
        with database.writing() as session:
            tournament_teams.issue(session, new.id, new.teams, nonce=nonce)
    again = pytest.raises(UsageError, match="These cards were issued already")
    with again, database.writing() as session:
        tournament_teams.issue(session, new.id, new.teams, nonce="a")


def test_cards_end_a_week_after_the_end(
    database: Database, hub_clock: StillClock, new: NewTournament
) -> None:
    end = hub_clock() + timedelta(days=2)
    with database.writing() as session:
        tournament_teams.issue(session, new.id, new.teams)
        over = add_event(session, new.id, NewEvent("end", end, "End"))
    with database.writing() as session:
        assert set(session.scalars(select(Ticket.expires_at))) == {end + timedelta(days=7)}
        remove_event(session, new.id, over)
    with database.reading() as session:
        ends = set(session.scalars(select(Ticket.expires_at)))
    assert ends == {hub_clock() + timedelta(days=180)}


def test_nothing_is_made_twice_of_a_list(
    database: Database, hub_clock: StillClock, new: NewTournament
) -> None:
    team = NewTeam("Delta", "GRODNO")
    with database.writing() as session:
        add_teams(session, new.id, [team])
    with pytest.raises(BadLines, match="Delta: this name is taken"), database.writing() as session:
        add_teams(session, new.id, [team])


def test_the_longest_names_and_texts_fit(database: Database, hub_clock: StillClock) -> None:
    city, other, team = "g" * 32, "h" * 32, "t" * 40
    groups, teams = [NewGroup(city), NewGroup(other)], [NewTeam(team, city), NewTeam("B", city)]
    config = TournamentConfig("s" * 32, "hexagon", "T" * 80, groups=groups, teams=teams)
    with database.writing() as session:
        new = create(session, config)
        tournament_teams.move(session, new.id, new.teams[:1], other)
        tournament_teams.set_out_of_competition(session, new.id, new.teams[:1])
        start = NewEvent("start", hub_clock(), "x" * 120, "y" * 2000)
        add_event(session, new.id, start)
        tournament_teams.issue(session, new.id, new.teams, nonce="0" * 32)
        rounds.disqualify(session, new.id, new.teams[:1], "r" * 200)
    with database.reading() as session:
        assert session.scalars(select(Event.title)).all() == ["x" * 120]


def test_a_team_that_only_uploaded_can_be_removed(
    database: Database, hub_clock: StillClock
) -> None:
    config = TournamentConfig("t1", "paint", teams=[NewTeam("A"), NewTeam("B")])
    with database.writing() as session:
        new = create(session, config)
        own = team_bots.find(session, new.teams[0])
        assert own is not None
        team_bots.add_version(session, own, Upload("0" * 64, 1, ""))
    with database.writing() as session:
        tournament_teams.remove(session, new.id, new.teams[:1])
        assert session.scalars(select(Team.name)).all() == ["A", "B"]
    hub_clock.advance(3601)
    with database.writing() as session:
        assert tournament_teams.forget_removed(session) == 1
        assert session.scalars(select(Team.name)).all() == ["B"]
        assert session.scalars(select(BotVersion.id)).all() == []
