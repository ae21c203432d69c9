"""Comparisons of versions: planned while slots are idle, counted until they decide."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from cw import kits
from cw.errors import UsageError
from cw_hub.accounts import administration
from cw_hub.accounts import service as accounts_service
from cw_hub.bots import service as bots_service
from cw_hub.bots import version_pages
from cw_hub.bots.service import BotView, Busy, NewBot
from cw_hub.context import Clock
from cw_hub.matches import friendly, friendly_ticks, planning
from cw_hub.matches.friendly import COMPARISON, MOST_PAIRS, ComparisonView
from cw_hub.matches.friendly_ticks import AHEAD
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.results import BattleResult
from cw_hub.operation.heartbeats import Figures, Process
from cw_hub.operation.resources import Resources
from cw_hub.players import packages
from cw_hub.players.messages import SlotResult
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import BotVersion, Comparison, Match, MatchParticipant
from hub.tests.conftest import ON_SQLITE
from hub.tests.program import make_admin
from hub.tests.sites import Site, Visitor, words_of
from tests.tools import NEEDS_BUBBLEWRAP

KIT = {name: file.read_bytes() for name, file in kits.files("paint", "python").items()}


@pytest.fixture
def painter(resources: Resources) -> BotView:
    """A bot with two versions that can play."""
    with resources.database.writing() as session:
        user = accounts_service.register(session, "ann", "ann@example.org", "x")[0]
    return new_bot(resources, user)


def new_bot(resources: Resources, user: int, name: str = "Painter") -> BotView:
    """Return a bot of a user with two versions that can play."""
    with resources.database.writing() as session:
        new = NewBot(game="paint", name=name, endpoint="", description="")
        bot = bots_service.register(session, resources.sealer, user, new, is_program=True)
    for note in (b"# one", b"# two"):
        data = packages.pack({**KIT, "bot.py": KIT["bot.py"] + note})
        package = version_pages.packed("bot.zip", data, "paint")
        version_pages.save(resources, bot.id, bot.bot_id, package, "")
    with resources.database.writing() as session:
        session.execute(update(BotVersion).values(state="ready"))
        view = bots_service.find(session, "paint", name)
    assert view is not None
    return view


def begin(resources: Resources, bot: BotView, against: int | str = 1) -> int:
    with resources.database.writing() as session:
        return friendly.begin_comparison(session, bot, 2, against)


def sweep(resources: Resources) -> None:
    with resources.database.writing() as session:
        friendly_ticks.sweep(session)


def waiting(resources: Resources) -> list[int]:
    """Return the matches of comparisons that wait, in their order."""
    with resources.database.reading() as session:
        wanted = select(Match.id).where(Match.kind == COMPARISON, Match.state == "queued")
        return list(session.scalars(wanted.order_by(Match.id)))


def end_match(resources: Resources, match: int, *ranks: tuple[int, int]) -> None:
    """Let a match be over with the ranks of both slots in each of its games."""
    clock = resources.clock
    worker = Worker("me", 1, MATCH_TYPES)
    with resources.database.writing() as session:
        claim = worker.claim_in(session, resources, match)
        assert claim is not None
        battles = [
            BattleResult(
                "over",
                tuple(SlotResult(rank, 0.0, ()) for rank in each),
                9,
                None,
                0,
                clock(),
                clock(),
            )
            for each in ranks
        ]
        assert MATCH_TYPES.finish(session, claim, battles) == "done"


def view_of(resources: Resources, bot: BotView, number: int) -> ComparisonView:
    with resources.database.reading() as session:
        view = friendly.find_comparison(session, bot.id, number)
    assert view is not None
    return view


WON, LOST, SPLIT = ((1, 2), (1, 2)), ((2, 1), (2, 1)), ((1, 2), (2, 1))


def test_pairs_are_counted_in_their_order_until_they_decide(
    resources: Resources, painter: BotView
) -> None:
    number = begin(resources, painter)
    sweep(resources)
    first, second, *rest = waiting(resources)
    assert len(rest) == AHEAD - 2
    end_match(resources, second, *WON)
    sweep(resources)
    assert view_of(resources, painter, number).evidence.matches == 0
    end_match(resources, first, *SPLIT)
    sweep(resources)
    assert view_of(resources, painter, number).evidence.matches == 4
    assert view_of(resources, painter, number).row.wins == 3
    for _ in range(MOST_PAIRS):
        if view_of(resources, painter, number).row.state != "running":
            break
        end_match(resources, waiting(resources)[0], *WON)
        sweep(resources)
    after = view_of(resources, painter, number)
    assert (after.row.state, after.evidence.decision) == ("decided", "stronger")
    assert after.sentence.startswith("Painter-2 is stronger than Painter-1: ")
    assert waiting(resources) == []
    sweep(resources)
    assert view_of(resources, painter, number).tag == after.tag


def test_a_comparison_ends_undecided_after_200_pairs(
    resources: Resources, painter: BotView
) -> None:
    number = begin(resources, painter)
    with resources.database.writing() as session:
        almost = {"planned": MOST_PAIRS - 1, "pairs": MOST_PAIRS - 1, "total": 100.5, "squares": 75}
        session.execute(update(Comparison).values(almost))
    sweep(resources)
    (last,) = waiting(resources)
    end_match(resources, last, *SPLIT)
    sweep(resources)
    assert view_of(resources, painter, number).row.state == "undecided"
    assert view_of(resources, painter, number).sentence.startswith("Undecided after 400 matches")


def test_matches_of_comparisons_give_way_to_all_others(
    resources: Resources, painter: BotView
) -> None:
    begin(resources, painter)
    sweep(resources)
    match = waiting(resources)[0]
    clock: Clock = resources.clock
    seats = (Seat("walker", spec="builtin:walker"), Seat("random", spec="builtin:random"))
    with resources.database.writing() as session:
        other = planning.plan(session, Plan("practice", "x", "paint", seats))
        session.execute(update(Match).values(sent_at=clock()))
    worker = Worker("me", 1, MATCH_TYPES)
    programs = Figures(program_slots=2, program_kinds=("practice",))
    Process("me", "1", ("worker",), clock(), programs).beat(resources)
    with resources.database.writing() as session:
        assert worker.claim_in(session, resources, match) is None
        assert session.get_one(Match, match).sent_at is None
        assert worker.claim_in(session, resources, other) is not None
    planned = len(waiting(resources))
    sweep(resources)
    assert len(waiting(resources)) == planned


def test_one_at_a_time_and_only_what_can_play(resources: Resources, painter: BotView) -> None:
    for against in (2, 9, "nobody"):
        with pytest.raises(UsageError):
            begin(resources, painter, against)
    begin(resources, painter, "walker")
    second = new_bot(resources, painter.user_id, "Other")
    with pytest.raises(Busy):
        begin(resources, second)


def test_a_comparison_of_a_bot_that_is_retired_stops(
    resources: Resources, painter: BotView
) -> None:
    number = begin(resources, painter)
    sweep(resources)
    with resources.database.writing() as session:
        bots_service.retire(session, painter.id)
    sweep(resources)
    assert view_of(resources, painter, number).row.state == "stopped"
    assert waiting(resources) == []


@NEEDS_BUBBLEWRAP
@ON_SQLITE
def test_versions_play_each_other_on_the_page_of_their_owner(site: Site) -> None:
    ann, bob = site.player("ann"), site.player("bob")
    resources = site.resources
    with resources.database.reading() as session:
        bot_owner = administration.find(session, "ann").id
    bot = new_bot(resources, bot_owner)
    answer = ann.fill(
        "/bot/Painter/comparisons", on="/bot/Painter", new="2", against="1", game="paint"
    )
    assert answer.status_code == 303, answer.text
    page = answer.headers["Location"]
    assert bob.open(page).status_code == 404
    sweep(resources)
    match = waiting(resources)[0]
    Worker("me", 1, MATCH_TYPES).play(resources, match)
    sweep(resources)
    after = view_of(resources, bot, 1)
    assert after.evidence.matches == 2
    with resources.database.reading() as session:
        seats = session.execute(
            select(MatchParticipant.name, MatchParticipant.version, MatchParticipant.faults)
            .where(MatchParticipant.match_id == match)
            .order_by(MatchParticipant.slot)
        ).all()
    assert [tuple(seat) for seat in seats] == [("Painter-2", 2, []), ("Painter-1", 1, [])]
    assert "2 matches, score " in words_of(ann.open(page))
    make_admin(site, "bob")
    assert "Painter-2 against Painter-1" in words_of(Visitor.open(bob, "/admin/matches"))
    stopped = ann.fill(f"{page.partition('?')[0]}/stop", on=page, game="paint")
    assert stopped.status_code == 303
    assert "Stopped, as its owner wished" in words_of(ann.open(page))
