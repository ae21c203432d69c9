"""Digests by mail: what they tell, to whom, and that each is sent once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email import message_from_string
from email.policy import default
from random import Random

import pytest
from sqlalchemy import select, update

from cw.hub.accounts.mails import delivery
from cw.hub.accounts.news import digests
from cw.hub.site import digest
from cw.hub.site.formats import FORMATS
from cw.hub.store.tables import Bot, DigestEvery, Mail, MatchParticipant, TeamMember, User
from tests.hub.competitions.rated.test_rated import Arena
from tests.hub.conftest import ON_SQLITE, StillClock
from tests.hub.ladder_rows import duel
from tests.hub.sites import Site, words_of

DAY = 86_400


@pytest.mark.parametrize(
    ("now", "every", "due"),
    [
        ("2026-11-26T05:59", "daily", "2026-11-26T06:00"),
        ("2026-11-26T06:00", "daily", "2026-11-27T06:00"),
        ("2026-11-26T05:00", "weekly", "2026-11-30T06:00"),
        ("2026-11-30T05:00", "weekly", "2026-11-30T06:00"),
        ("2026-11-30T07:00", "weekly", "2026-12-07T06:00"),
    ],
)
def test_the_first_digest_comes_with_the_next_morning(
    now: str, every: DigestEvery, due: str
) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    assert digests.first_due(moment, every) == datetime.fromisoformat(due).replace(tzinfo=UTC)
    assert digests.first_due(moment, "never") is None


class Reader:
    """Somebody with a bot and a team, who wants a digest each day."""

    def __init__(self, arena: Arena) -> None:
        self.arena, self.resources = arena, arena.resources
        arena.add_people(2)
        with self.resources.database.writing() as session:
            self.id = session.scalars(select(User.id).where(User.username == "user0")).one()
            address = {"email": "ann@example.org", "email_verified_at": arena.clock()}
            session.execute(update(User).where(User.id == self.id).values(address))
            digests.choose(session, arena.clock, self.id, "daily")

    def wait(self, days: int = 1) -> None:
        """Let days pass, one digest after the other being put and sent."""
        self.arena.clock.advance(days * DAY)
        digest.put_due(self.resources, FORMATS)
        delivery.send_due(self.resources)

    def lose(self) -> None:
        """Play until the bot has lost a match: who is paired is drawn."""
        rng = Random(7)
        its = select(MatchParticipant.match_id).join(Bot, Bot.id == MatchParticipant.bot_id)
        lost = its.where(Bot.user_id == self.id, MatchParticipant.rank > 1)
        while self.arena.scalar(lost.limit(1)) is None:
            self.arena.play(1, rng)

    def digests(self) -> list[str]:
        """Return the texts of the digests that were sent."""
        folder = self.resources.settings.data / "mail"
        texts = [path.read_text() for path in sorted(folder.glob("*.eml"))]
        mails = [message_from_string(text, policy=default) for text in texts]
        assert all("List-Unsubscribe" in one for one in mails)
        return [str(one.get_content()) for one in mails]


@pytest.fixture
def reader(resources: object, hub_clock: StillClock) -> Reader:
    return Reader(Arena(resources, hub_clock))  # type: ignore[arg-type]


def test_a_digest_tells_results_ratings_lost_matches_and_events_once(reader: Reader) -> None:
    reader.wait()
    assert reader.digests() == []
    rows = duel(reader.resources.database, reader.resources.clock)
    member = TeamMember(competition_id=rows.id, user_id=reader.id, team_id=rows.teams["Alpha"])
    member.joined_at = reader.resources.clock()
    rows.add(member)
    reader.lose()
    closed = rows.round("GRODNO", 1, closed=True)
    rows.score(closed, {"Alpha": (4, 4, 1, 3, 0, 1)})
    reader.wait()
    (text,) = reader.digests()
    assert "\nbot-0, " in text
    assert " -> " in text
    assert "Lost to " in text
    assert f"{reader.resources.settings.address}/match/m_" in text
    assert "Duel <1>, Alpha: 1 round, 3 won, 1 lost. Place 1: " in text
    assert "Duel <1>: The duel begins." in text
    assert "bot-1, " not in text
    digest.put_due(reader.resources, FORMATS)
    reader.wait(3)
    assert reader.digests() == [text]


def test_of_many_who_look_at_once_one_puts_the_digest(reader: Reader) -> None:
    reader.lose()
    reader.arena.clock.advance(DAY)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: digest.put_due(reader.resources, FORMATS), range(4)))
    with reader.resources.database.reading() as session:
        assert session.scalars(select(Mail.kind)).all() == ["digest"]


def test_after_an_outage_one_digest_tells_of_all_that_was_missed(reader: Reader) -> None:
    reader.lose()
    reader.wait(5)
    assert len(reader.digests()) == 1
    with reader.resources.database.reading() as session:
        due = session.scalars(select(User.digest_at).where(User.id == reader.id)).one()
    now = reader.arena.clock()
    assert due is not None
    assert now < due <= now + timedelta(days=1)


@ON_SQLITE
def test_digests_are_chosen_in_the_settings_and_never_come_unasked(site: Site) -> None:
    ann = site.player("Ann")
    page = ann.open("/settings").text
    assert 'value="never" checked' in page
    assert ann.fill("/settings/mails", "/settings", digest="weekly").status_code == 303
    assert 'value="weekly" checked' in ann.open("/settings").text
    assert "only to confirmed addresses" in words_of(ann.open("/settings"))
    ann.fill("/settings/mails", "/settings", digest="hourly")
    with site.resources.database.reading() as session:
        assert session.execute(select(User.digest, User.digest_at)).all() == [("never", None)]
