"""Uploaded programs in matches: real clients of Circuit Wars, kit bots, and what goes wrong."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import select, update

from cw import kits
from cw.errors import UsageError
from cw.games.endings import FORFEITS
from cw.games.registry import load_game
from cw.replays.document import decode
from cw.replays.verify import verify
from cw_hub.bots import health, versions
from cw_hub.bots import jobs as bots_jobs
from cw_hub.bots.programs import NO_PROGRAMS, object_key, placeholder, sent
from cw_hub.bots.versions import Upload
from cw_hub.competitions.format import hosting_by
from cw_hub.competitions.tournament import team_bots
from cw_hub.competitions.tournament.service import TournamentConfig
from cw_hub.competitions.tournament.team_bots import TeamBot, last_faults, plan_practice
from cw_hub.competitions.tournament.teams import NewGroup, NewTeam
from cw_hub.matches import planning
from cw_hub.matches.jobs import Worker
from cw_hub.matches.stored_replays import viewed_key
from cw_hub.operation.resources import Resources
from cw_hub.players import packages
from cw_hub.site.formats import FORMATS, MATCH_TYPES
from cw_hub.store.database import Session
from cw_hub.store.models import Battle, Competition, Match, MatchParticipant
from cw_hub.store.objects import file_at
from hub.tests.conftest import ON_BOTH, ON_SQLITE
from hub.tests.evening import LADDER, Evening
from hub.tests.ladder_hub import Tournament
from hub.tests.sites import HeldQueue, Site
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [
    NEEDS_BUBBLEWRAP,
    # Programs are run in the same way on both databases: one of them will do for most tests.
    ON_SQLITE,
]

T = TypeVar("T")
WORKER = Worker("me", 1, MATCH_TYPES)
CLIENT = (Path(__file__).parents[3] / "game_ai.py").read_bytes()
PLAY = b"    has_moved = False\n    while True:\n"
"""How the client begins to play."""
assert PLAY in CLIENT
CHEAT = CLIENT.replace(
    PLAY,
    b"""    for other in ("alpha", "beta"):
        request(f"reg/{other}")
        for border in "tlbr":
            request(f"move/{other}/0,0,{border}")
"""
    + PLAY,
)
KIT = kits.files("paint", "python")
PAINTER = packages.pack({f"my-bot/{name}": file.read_bytes() for name, file in KIT.items()})


class Duel:
    """A tournament of two teams whose bots are uploads."""

    def __init__(self, resources: Resources, game: str, **settings: Any) -> None:
        self.resources = resources
        about = {"GRODNO": {"alpha": "", "beta": ""}}
        self.of = Tournament(resources, {k.lower(): v for k, v in about.items()}, settings, game)

    def do(self, verb: Callable[[Session], T]) -> T:
        with self.resources.database.writing() as session:
            return verb(session)

    def bot(self, team: str) -> TeamBot:
        with self.resources.database.reading() as session:
            bot = team_bots.find(session, self.of.teams[team])
        assert bot is not None
        return bot

    def upload(self, team: str, name: str, data: bytes) -> int:
        """Upload a program as the page does."""
        bot = self.bot(team)
        with packages.empty_folder() as folder:
            package = packages.package(name, data, bot.game, folder)
        versions.store(self.resources.objects, bot.bot_id, package.data, package.sha256)
        upload = Upload(package.sha256, len(package.data), "")
        return self.do(lambda s: team_bots.add_version(s, bot, upload))

    def faults(self, match: Match) -> dict[str, list[Any]]:
        return {seat.name: list(seat.faults) for seat in self.of.seats(match)}


@pytest.fixture
def paint(resources: Resources) -> Duel:
    return Duel(resources, "paint", boards=[{"options": {"board": "duel"}}])


def evening(site: Site, game: str, board: dict[str, Any], *teams: str) -> Evening:
    """Return a tournament of teams in GRODNO whose host has not started it."""
    settings = {"round_every": 60, "boards": [{"options": board}]}
    groups, new = [NewGroup("GRODNO")], [NewTeam(name) for name in teams]
    return Evening(site, TournamentConfig("t1", game, "Duel", 1, settings, groups, new))


@pytest.mark.thorough
def test_unmodified_clients_play_from_the_start_of_the_host_to_the_ladder(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CW_PAUSE", "0.01")
    duel = evening(site, "circuit-wars", {"size": 3, "openings": 4}, "Alpha", "Beta", "Cheat")
    duel.uploads("Alpha", "game_ai.py", CLIENT)
    duel.uploads("Beta", "game_ai.py", CLIENT)
    duel.uploads("Cheat", "game_ai.py", CHEAT)
    duel.does("start")
    assert duel.do_jobs() == 3
    resources = site.resources
    with resources.database.reading() as session:
        seats = session.execute(
            select(MatchParticipant.name, MatchParticipant.faults, MatchParticipant.match_id)
        ).all()
        battles = session.scalars(select(Battle)).all()
    faults: dict[str, list[Any]] = {}
    for name, texts, _ in seats:
        faults.setdefault(name, []).extend(texts)
    # It asked to be the others and to move for them, and nothing came of it.
    assert (faults["alpha"], faults["beta"]) == ([], [])
    assert {one["kind"] for one in faults["cheat"]} == {"illegal"}
    assert any("alpha" in one["detail"] for one in faults["cheat"])
    assert Counter(one.first_slot for one in battles) == {0: 3, 1: 3}
    for one in battles:
        assert one.reason not in FORFEITS
        data = file_at(resources.objects, viewed_key("circuit-wars", one.replay_key or ""))
        assert data is not None
        document = decode(data)
        assert verify(load_game("circuit-wars"), document) is None
        # Nobody learns from it where the programs were.
        assert b"/tmp" not in json.dumps(document).encode()
        assert "game_ai" not in json.dumps(document)
    assert sum(duel.points().values()) > 0
    assert "Round 1 is over." in duel.words(LADDER)


@ON_BOTH
def test_kit_bots_play_paint_from_the_start_of_the_host_to_the_ladder(site: Site) -> None:
    duel = evening(site, "paint", {"board": "duel"}, "Alpha", "Beta", "Gamma")
    duel.uploads("Alpha", "kit.zip", PAINTER)
    duel.uploads("Beta", "bot.py", b"raise SystemExit('I fell')")
    duel.does("start")
    assert duel.do_jobs() == 3
    assert duel.points()["Alpha"] == 4
    results = duel.payload("/t/t1/grodno/alpha.json")["results"]
    assert {one["outcome"] for one in results} == {"won"}
    (met,) = [one["match"] for one in results if "beta" in (one["first"], one["second"])]
    # What a program has written is for its team and the host.
    visitors = {**duel.teams, "host": duel.host, "": site.visitor()}
    names = {name for name, one in visitors.items() if "I fell" in one.open(f"/match/{met}").text}
    assert names == {"Beta", "host"}


def test_a_kit_bot_plays_a_round_of_paint_and_passes_its_check(paint: Duel) -> None:
    assert paint.upload("alpha", "kit.zip", PAINTER) == 1
    bots_jobs.check_bot(paint.resources, paint.bot("alpha").id, hosting_of=hosting_by(FORMATS))
    assert paint.bot("alpha").health == "fine", paint.bot("alpha").checks
    paint.of.happens("start")
    assert paint.of.play(1) == 1
    (match,) = paint.of.matches(1)
    assert match.state == "done"
    faults = paint.faults(match)
    assert faults["alpha"] == []
    assert {fault["detail"] for fault in faults["beta"]} == {"no bot yet"}


@pytest.mark.thorough
def test_a_new_version_plays_from_the_next_match_and_an_earlier_one_may_again(paint: Duel) -> None:
    paint.upload("alpha", "bot.py", b"raise SystemExit('the first')")
    paint.upload("alpha", "kit.zip", PAINTER)
    assert paint.bot("alpha").version == 2
    use(paint, 1)
    assert paint.bot("alpha").version == 1
    practice(paint, "alpha")
    (fault, *_) = paint.do(lambda s: last_faults(s, paint.bot("alpha").id))
    assert fault.is_practice
    assert "the first" in fault.detail
    bots_jobs.check_bot(paint.resources, paint.bot("alpha").id, hosting_of=hosting_by(FORMATS))
    assert paint.bot("alpha").health == "wrong"
    for number in (3, 0):
        with pytest.raises(UsageError, match="no such version"):
            use(paint, number)


def use(duel: Duel, number: int) -> None:
    """Let a version of Alpha play."""
    duel.do(lambda session: team_bots.use_version(session, duel.bot("alpha"), number))


def practice(duel: Duel, team: str) -> str:
    """Play a practice match; return its name."""
    match, name = duel.do(lambda s: plan_practice(s, duel.bot(team)))
    WORKER.play(duel.resources, match)
    return name


def test_what_is_not_as_it_was_uploaded_is_not_run(paint: Duel) -> None:
    paint.upload("alpha", "kit.zip", PAINTER)
    bot = paint.bot("alpha")
    key = object_key(bot.bot_id, bot.versions[0].sha256)
    paint.resources.objects.delete(key)
    paint.resources.objects.put_new(key, packages.pack({"bot.py": b"print(1)"}))
    name = practice(paint, "alpha")
    query = select(Match).where(Match.match_id == name)
    (match,) = paint.of.read(query)
    assert (match.state, match.troubles) == ("interrupted", 1)


def test_a_program_is_absent_where_none_is_run(paint: Duel) -> None:
    paint.upload("alpha", "kit.zip", PAINTER)
    seat = paint.do(lambda s: team_bots.seated(s, paint.bot("alpha")))
    assert placeholder(seat, "off").target == NO_PROGRAMS
    assert not list(sent(paint.resources.objects, [seat], "off"))


def test_a_program_sees_neither_the_other_one_nor_a_network(paint: Duel, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("of this machine")
    spying = f"""
import glob, os, socket, sys
sys.stderr.write(repr([os.path.exists({str(secret)!r}), glob.glob("/tmp/*upload*")]))
try:
    socket.create_connection(("127.0.0.1", 5432), 1)
    sys.stderr.write("REACHED")
except OSError:
    pass
sys.exit("that is all")
"""
    paint.upload("alpha", "bot.py", spying.encode())
    practice(paint, "alpha")
    faults = paint.do(lambda s: last_faults(s, paint.bot("alpha").id))
    assert "[False, []]" in faults[0].detail
    assert "REACHED" not in faults[0].detail


def test_matches_of_programs_have_a_queue_of_their_own(paint: Duel) -> None:
    paint.upload("alpha", "kit.zip", PAINTER)
    queues: list[str] = []

    class Noting(HeldQueue):
        def send(self, job: str, *args: int | str, queue: str = "jobs", after: float = 0) -> bool:
            queues.append(queue)
            return True

    sender = Resources(**{name: getattr(paint.resources, name) for name in Resources.__slots__}
                     | {"queue": Noting()})  # fmt: skip
    paint.of.happens("start")
    planning.send_due(sender, MATCH_TYPES.sendings)
    assert queues == ["programs"]
    (match,) = paint.of.matches(1)
    Worker("other", 1, MATCH_TYPES, runs_programs=False).play(paint.resources, match.id)
    (match,) = paint.of.matches(1)
    assert (match.state, match.troubles) == ("interrupted", 0)


@pytest.fixture
def without_programs(paint: Duel) -> Duel:
    paint.upload("alpha", "kit.zip", PAINTER)
    paint.do(
        lambda s: s.execute(
            update(Competition).values(
                settings={"hosting": "off", "boards": [{"options": {"board": "duel"}}]}
            )
        )
    )
    return paint


@pytest.mark.thorough
def test_where_programs_are_switched_off_none_is_run(without_programs: Duel) -> None:
    duel = without_programs
    assert duel.bot("alpha").kinds == ()
    practice(duel, "alpha")
    faults = duel.do(lambda s: last_faults(s, duel.bot("alpha").id))
    assert faults[0].kind == "startup"
    assert faults[0].detail == NO_PROGRAMS
    with pytest.raises(UsageError, match="o uploaded programs"):
        duel.upload("alpha", "kit.zip", PAINTER)


def test_a_service_that_was_a_program_is_told_no_number_of_a_version(resources: Resources) -> None:
    duel = Duel(resources, "hexagon", hosting="sandboxed")
    duel.upload("alpha", "bot.py", b"print(1)")
    bot = duel.bot("alpha")
    sealer, _clock = resources.sealer, resources.clock
    duel.do(lambda s: team_bots.set_url(s, sealer, bot, "http://127.0.0.1:9"))
    practice(duel, "alpha")
    assert duel.do(lambda s: health.check_target(s, bot.id)) is not None
    faults = duel.do(lambda s: last_faults(s, bot.id))
    assert faults[0].kind == "startup" or "127.0.0.1" in faults[0].detail
