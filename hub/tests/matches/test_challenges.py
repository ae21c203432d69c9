"""Challenges: whose turn it is, how a series stands, who sees it, and what is left in an hour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update

from cw.errors import UsageError
from cw_hub.accounts import personal_limits
from cw_hub.bots import service as bots_service
from cw_hub.competitions.rated import ratings
from cw_hub.matches import friendly
from cw_hub.matches.friendly import ChallengeView
from cw_hub.matches.friendly_ticks import to_send
from cw_hub.matches.results import BattleResult
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import SlotResult
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import tick
from cw_hub.store.models import Bot, Competition, Match, MatchParticipant, Rating
from hub.tests.bots.test_player_bots import Owner, do_jobs, register, served
from hub.tests.competitions.rated.test_rated import LEASE, Arena
from hub.tests.conftest import ON_BOTH, ON_SQLITE, StillClock
from hub.tests.program import Program, program_of
from hub.tests.sites import Site, Visitor, words_of

GAME = "code-battle"


class Duel:
    """Ann's Swarm and Bob's Gopher, two active web services in a rated competition."""

    def __init__(self, resources: Resources, clock: StillClock) -> None:
        self.resources, self.clock = resources, clock
        self.arena = Arena(resources, clock)
        with resources.database.writing() as session:
            session.execute(update(Bot).values(status="SUSPENDED"))
        self.ann, self.bob = Owner(resources, "ann"), Owner(resources, "bob")
        self.swarm, self.gopher = self.add(self.ann, "Swarm"), self.add(self.bob, "Gopher")

    def add(self, owner: Owner, name: str) -> int:
        """Register a bot that plays."""
        bot = owner.register(name, GAME)
        with self.resources.database.writing() as session:
            now = self.clock()
            session.execute(
                update(Bot).where(Bot.id == bot).values(status="ACTIVE", healthy_at=now)
            )
            ratings_of = select(Rating.competition_id).limit(1)
            session.add(Rating(competition_id=session.scalars(ratings_of).one(), bot_id=bot))
        return bot

    def begin(self, matches: int = 10, own: int = 0, opponent: int = 0) -> str:
        """Begin a challenge, of Swarm against Gopher if no others are named."""
        with self.resources.database.writing() as session:
            bots_of_it = (own or self.swarm, opponent or self.gopher)
            return friendly.plan_challenge(session, *bots_of_it, matches)

    def sent(self) -> list[int]:
        """Send what is due; return the matches."""
        with self.resources.database.writing() as session:
            return [message.id for message in to_send(session)]

    def find(self, challenge: str) -> ChallengeView:
        """Return a challenge as it is."""
        with self.resources.database.reading() as session:
            view = friendly.find_challenge(session, MATCH_TYPES, challenge)
        assert view is not None
        return view

    def play(self, match: int, winner: int | None, seconds: float = 5) -> None:
        """Let a match be played, which a slot wins or nobody."""
        with self.resources.database.writing() as session:
            claim = MATCH_TYPES.claim(session, match, "worker", LEASE)
        assert claim is not None
        began = self.clock()
        self.clock.advance(seconds)
        ranks = [1 if winner in (None, slot) else 2 for slot, _ in enumerate(claim.seats)]
        slots = tuple(SlotResult(rank, 2.0 - rank) for rank in ranks)
        battle = BattleResult("turn_limit", slots, 5, None, 0, began, self.clock())
        with self.resources.database.writing() as session:
            assert MATCH_TYPES.finish(session, claim, [battle]) == "done"

    def release(self) -> None:
        """Let the bots go whose match is over, as a tick does before it pairs."""
        with self.resources.database.writing() as session:
            ratings.release_ended(session)


@pytest.fixture
def duel(resources: Resources, hub_clock: StillClock) -> Duel:
    return Duel(resources, hub_clock)


def test_a_series_plays_each_seed_from_both_seats(duel: Duel) -> None:
    duel.begin()
    with duel.resources.database.reading() as session:
        rows = session.scalars(select(Match).order_by(Match.id)).all()
        first = select(MatchParticipant.name).where(MatchParticipant.slot == 0)
        names = session.scalars(first.order_by(MatchParticipant.match_id)).all()
    assert names == ["Swarm", "Gopher"] * 5
    assert list(Counter(row.seed for row in rows).values()) == [2] * 5
    assert all(row.seed == rows[at ^ 1].seed for at, row in enumerate(rows))


def test_a_challenge_has_its_sides_while_the_slots_of_its_matches_are_hidden(duel: Duel) -> None:
    challenge = duel.begin()
    view = duel.find(challenge)
    assert [seat.name for seat in view.matches[0].seats] == ["Gopher", "Swarm"]
    assert (view.challenger.name, view.challenged.name) == ("Swarm", "Gopher")


def test_both_bots_list_a_challenge_and_know_who_began_it(duel: Duel) -> None:
    other = duel.add(Owner(duel.resources, "eve"), "Stork")
    first, second = duel.begin(), duel.begin(1, own=other)
    at = duel.clock()
    with duel.resources.database.reading() as session:
        of_swarm, of_gopher = (
            [tuple(row) for row in friendly.challenges_of(session, bot)]
            for bot in (duel.swarm, duel.gopher)
        )
    assert of_swarm == [(first, "Gopher", True, 10, at)]
    assert of_gopher == [(second, "Stork", False, 1, at), (first, "Swarm", False, 10, at)]


def test_the_score_is_of_the_challenger_whatever_its_seat(duel: Duel) -> None:
    challenge = duel.begin()
    for winner in (0, 0, None):
        (match,) = duel.sent()
        duel.play(match, winner)
        duel.release()
        duel.clock.advance(60)
    view = duel.find(challenge)
    assert view.results == {"won": 1, "drawn": 1, "lost": 1}
    assert view.sentence == ("Swarm 1.5 : 1.5 Gopher: match 4 of 10 begins when both bots are free")
    with duel.resources.database.writing() as session:
        friendly.stop_challenge(session, challenge)
        friendly.stop_challenge(session, challenge)
    assert duel.find(challenge).sentence == "Swarm 1.5 : 1.5 Gopher after 3 of 10 matches"
    assert duel.sent() == []


def test_challenges_hold_a_bot_one_match_at_a_time_and_half_of_its_time(duel: Duel) -> None:
    eve = Owner(duel.resources, "eve")
    other = duel.add(eve, "Stork")
    duel.begin()
    duel.begin(own=other)
    (first,) = duel.sent()
    assert duel.sent() == []
    duel.play(first, 0, seconds=50)
    assert duel.sent() == [], "the tick has not let the bots go yet"
    duel.release()
    duel.clock.advance(49)
    assert duel.sent() == [], "the bots are left alone for as long as the match has lasted"
    duel.clock.advance(1)
    (second,) = duel.sent()
    assert second == first + 1, "who has waited longest is next"
    with pytest.raises(bots_service.Busy):
        duel.bob.practise(duel.gopher)


def test_rated_play_comes_first(duel: Duel) -> None:
    duel.begin()
    for _ in range(3):
        # Nobody rests in this competition, so the bots meet again at once.
        tick(duel.resources)
        (rated,) = duel.arena.queued()
        assert duel.sent() == []
        duel.play(rated, 0)
    assert "challenge" not in MATCH_TYPES.sendings_at_ends, "the end of a match sends none"
    with duel.resources.database.writing() as session:
        session.execute(update(Bot).where(Bot.id == duel.gopher).values(healthy_at=None))
    assert duel.arena.plan() == 0
    (match,) = duel.sent()
    with duel.resources.database.writing() as session:
        session.execute(update(Bot).where(Bot.id == duel.gopher).values(healthy_at=duel.clock()))
    assert duel.arena.plan() == 0, "a bot sees no two matches at once"
    duel.play(match, 0)
    assert duel.arena.plan() == 1, "a challenge does not count for the rest of a bot"


def play_what_is_due(duel: Duel) -> list[str]:
    """Plan and send as a tick does, and play it; return the kinds of the matches of Gopher."""
    duel.arena.plan()
    its = select(Match.kind).join(MatchParticipant).where(MatchParticipant.bot_id == duel.gopher)
    due = [*duel.arena.queued(), *duel.sent()]
    for match in due:
        duel.play(match, 0)
    with duel.resources.database.writing() as session:
        session.execute(update(Bot).values(healthy_at=duel.clock()))
        return list(session.scalars(its.where(Match.id.in_(due))))


def test_a_challenge_has_its_turn_after_ten_rated_matches(duel: Duel) -> None:
    duel.begin()
    # Nobody rests in this competition, so the bots meet again at once.
    kinds = [kind for _ in range(30) for kind in play_what_is_due(duel)]
    assert kinds[:24] == [
        *["rated"] * 10,
        "challenge",
        *["rated"] * 10,
        "challenge",
        *["rated"] * 2,
    ]


def test_many_challenges_of_a_bot_leave_it_its_rated_matches(duel: Duel) -> None:
    for name in ("eve", "fay", "gus"):
        duel.begin(own=duel.add(Owner(duel.resources, name), name))
    kinds = Counter(kind for _ in range(60) for kind in play_what_is_due(duel))
    assert kinds["challenge"] >= 3
    assert kinds["rated"] > 5 * kinds["challenge"]


def test_a_match_whose_message_was_lost_is_sent_again(duel: Duel) -> None:
    duel.begin()
    first = duel.sent()
    duel.clock.advance(299)
    assert duel.sent() == []
    duel.clock.advance(1)
    assert duel.sent() == first


def test_a_bot_that_plays_no_more_ends_its_challenges(duel: Duel) -> None:
    challenge = duel.begin()
    (first,) = duel.sent()
    duel.play(first, 0)
    with duel.resources.database.writing() as session:
        bots_service.retire(session, duel.gopher)
    assert duel.sent() == []
    view = duel.find(challenge)
    assert [match.state for match in view.matches] == ["done", *["void"] * 9]
    assert view.matches[1].reason == "a bot is no longer active"
    assert view.is_over


def test_what_cannot_be_is_refused_with_a_sentence(duel: Duel) -> None:
    duel.begin()
    with pytest.raises(bots_service.Busy, match="Swarm has a challenge that is not over"):
        duel.begin(1)
    with pytest.raises(UsageError, match="does not play against itself"):
        duel.begin(1, duel.gopher, duel.gopher)
    hexed = duel.bob.register("Hex", "hexagon")
    with pytest.raises(UsageError, match="must play the same game"):
        duel.begin(1, duel.gopher, hexed)
    duel.ann.retire(duel.swarm)
    with pytest.raises(UsageError, match="Swarm is retired now: only active bots can be chall"):
        duel.begin(1, duel.gopher, duel.swarm)


def test_an_admin_sets_how_many_matches_a_player_may_begin(duel: Duel) -> None:
    hub = duel.resources
    with hub.database.writing() as session:
        personal_limits.put(session, duel.ann.id, "challenges", 12)
    began = friendly.begin_challenge(hub, duel.ann.id, duel.swarm, duel.gopher, 10)
    left = friendly.allowance(hub, duel.ann.id)
    assert left is not None
    assert (left.left, left.most) == (2, 12)
    assert left.more_at is not None
    with hub.database.writing() as session:
        friendly.stop_challenge(session, began)
    with pytest.raises(friendly.NoneLeft, match="2 matches of challenges left of 12 in an hour"):
        friendly.begin_challenge(hub, duel.ann.id, duel.swarm, duel.gopher, 10)
    assert friendly.allowance(hub, duel.bob.id) == (30, 30, None)


def test_by_two_at_once_each_match_is_sent_once(duel: Duel) -> None:
    duel.begin()
    with ThreadPoolExecutor(4) as threads:
        numbers = list(threads.map(lambda _: duel.sent(), range(8)))
    assert len([match for some in numbers for match in some]) == 1


def test_a_tick_sends_what_waits(duel: Duel) -> None:
    challenge = duel.begin(1)
    with duel.resources.database.writing() as session:
        session.execute(update(Rating).values(last_match_at=duel.clock()))
        session.execute(update(Bot).values(healthy_at=None))
    tick(duel.resources)
    with duel.resources.database.reading() as session:
        match = session.scalars(select(Match).where(Match.kind == "challenge")).one()
    assert match.sent_at == duel.clock()
    assert match.match_id == duel.find(challenge).matches[0].match_id


# The pages


@pytest.fixture
def hexagon(site: Site) -> Iterator[tuple[Site, Visitor, Visitor]]:
    """A site with Ann's Swarm and Bob's Gopher, served and active."""
    site.open_competition("hexagon")
    ann, bob = site.player("Ann"), site.player("Bob")
    with served("hexagon", "greedy") as strong, served("hexagon", "random") as weak:
        register(ann, endpoint=strong)
        register(bob, name="Gopher", endpoint=weak)
        do_jobs(site)
        with site.resources.database.writing() as session:
            session.execute(update(Competition).values(state="paused"))
        yield site, ann, bob


PAGE = "/bot/Gopher?game=hexagon"


def challenge(ann: Visitor, matches: str = "1", own: str = "Swarm") -> str:
    """Challenge Gopher; return where that leads."""
    values = {"game": "hexagon", "own": own, "matches": matches}
    answer = ann.fill("/bot/Gopher/challenge", on=PAGE, **values)
    assert answer.status_code == 303
    return str(answer.headers["Location"])


@ON_BOTH
def test_a_player_challenges_a_bot_and_both_owners_see_the_series(
    hexagon: tuple[Site, Visitor, Visitor],
) -> None:
    site, ann, bob = hexagon
    visitor = site.visitor()
    assert "Log in and play a bot of yours against Gopher" in words_of(visitor.open(PAGE))
    assert "30 of 30 matches left this hour." in words_of(ann.open(PAGE))
    path = challenge(ann, "10")
    assert path.startswith("/challenge/c_")
    tick(site.resources)
    do_jobs(site)
    words = words_of(ann.open(path))
    assert "Swarm 1 : 0 Gopher: match 2 of 10 begins when both bots are free" in words
    assert "1 Swarm Swarm won 0 2 Gopher waiting" in words
    polled = ann.open(f"{path}/state")
    assert not polled.json()["isOver"]
    tag = {"If-None-Match": polled.headers["ETag"]}
    assert ann.open(f"{path}/state", headers=tag).status_code == 304
    match = bob.open(path).text.partition('href="/match/')[2].partition('"')[0]
    assert path in bob.open(f"/match/{match}").text
    for nobody in (visitor, site.player("Eve")):
        assert nobody.open(f"/match/{match}").status_code == 404
        assert nobody.open(path).status_code in (303, 404)
        assert nobody.fill(f"{path}/stop", on="/login").status_code in (303, 400, 404)
    assert bob.fill(f"{path}/stop", on="/settings").status_code == 404
    assert f'href="{path}"' in bob.open(PAGE).text
    assert "20 of 30 matches left this hour, more" not in words_of(ann.open(PAGE))
    assert ann.fill(f"{path}/stop", on=path).status_code == 303
    assert "Swarm 1 : 0 Gopher after 1 of 10 matches" in words_of(ann.open(path))
    assert "Matches 0" not in words_of(visitor.open("/matches"))


@pytest.mark.thorough
@ON_SQLITE
def test_thirty_matches_an_hour_and_what_is_refused_costs_nothing(
    hexagon: tuple[Site, Visitor, Visitor],
) -> None:
    site, ann, _ = hexagon
    for refused in ({"own": "Gopher"}, {"own": "nobody"}, {"matches": "7"}, {"matches": "x"}):
        assert challenge(ann, **refused) == PAGE
    assert "Please choose one match, or a series of 10." in words_of(ann.open(PAGE))
    for left in (20, 10, 0):
        path = challenge(ann, "10")
        assert challenge(ann, "10") == PAGE
        notice = (
            "Swarm has a challenge" if left else "0 matches of challenges left of 30 in an hour"
        )
        page = words_of(ann.open(PAGE))
        assert notice in page
        ann.fill(f"{path}/stop", on=path)
        site.clock.advance(60)
    page = words_of(ann.open(PAGE))
    assert "0 of 30 matches left this hour, more in 57 minutes." in page
    assert 'value="1" disabled' in ann.open(PAGE).text
    assert challenge(ann) == PAGE
    site.clock.advance(57 * 60 + 1)
    assert "10 of 30 matches left" in words_of(ann.open(PAGE))
    assert challenge(ann).startswith("/match/m_")


@ON_SQLITE
def test_programs_challenge_by_the_api(hexagon: tuple[Site, Visitor, Visitor]) -> None:
    site, _, _ = hexagon
    ann, bob = program_of(site, "Ann", "read", "bots"), program_of(site, "Bob", "read")
    own, opponent = (
        Program(site).read("/bots", owner=name)["items"][0]["bot_id"] for name in ("Ann", "Bob")
    )
    begun = ann.do(f"/bots/{own}/challenges", {"opponent": opponent, "matches": 10})
    assert begun.status_code == 201
    payload = begun.json()
    assert (payload["bot_id"], payload["opponent"], len(payload["matches"])) == (own, opponent, 10)
    assert payload["left"]["matches"] == 20
    tick(site.resources)
    do_jobs(site)
    at = f"/challenges/{payload['challenge_id']}"
    page = bob.read(at)
    assert (page["won"], page["drawn"], page["lost"], page["is_over"]) == (1, 0, 0, False)
    assert page["left"] == {"matches": 30, "more_at": None}
    assert Program(site).ask(at).status_code == 401
    busy = ann.do(f"/bots/{own}/challenges", {"opponent": opponent})
    assert (busy.status_code, busy.json()["error"]) == (409, "conflict")
    odd = ann.do(f"/bots/{own}/challenges", {"opponent": opponent, "matches": 3})
    assert odd.status_code == 422
    assert ann.do(f"/bots/{opponent}/challenges", {"opponent": own}).status_code == 403
    assert program_of(site, "Bob", "bots").do(f"{at}/stop").status_code == 404
    writes = program_of(site, "Ann", "bots")
    assert writes.do(f"{at}/stop").json()["is_over"]
    for _ in range(2):
        begun = writes.do(f"/bots/{own}/challenges", {"opponent": opponent, "matches": 10}).json()
        writes.do(f"/challenges/{begun['challenge_id']}/stop")
    late = writes.do(f"/bots/{own}/challenges", {"opponent": opponent})
    assert (late.status_code, late.json()["limit"]) == (429, "30 per 1 hour")
    assert int(late.headers["Retry-After"]) <= 3601
