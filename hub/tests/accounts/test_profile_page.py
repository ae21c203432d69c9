"""The Profile page over real HTTP: what is shown of a user, to whom; friends and cards."""

from __future__ import annotations

import pytest

from cw_hub.accounts import service as accounts_service
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import service as daily_service
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Match, MatchParticipant
from hub.tests.conftest import ON_BOTH, ON_SQLITE
from hub.tests.sites import Site, words_of

pytestmark = ON_SQLITE


def add_daily_game(site: Site, number: int, ranks: dict[str, int | None]) -> None:
    """Store a daily game that is done, with the ranks of users."""

    def add(session: Session) -> None:
        daily_service.begin_site(session)
        match = Match(
            match_id=f"m_0000000{number}",
            competition_id=competitions_service.named(session, "daily/end-of-codes").id,
            kind="daily",
            key=f"end-of-codes {number}",
            game="end-of-codes",
            players=len(ranks),
            seed=1,
            state="done",
            at=site.clock(),
        )
        session.add(match)
        session.flush()
        for slot, (name, rank) in enumerate(ranks.items()):
            account = accounts_service.find_account(session, name)
            assert account
            bot = session.query(Bot).filter_by(user_id=account.user_id).one_or_none() or Bot(
                bot_id=f"b_0000000{account.user_id}",
                game="end-of-codes",
                user_id=account.user_id,
                name=name,
                name_key=name.lower(),
                kind="url",
                endpoint="",
                created_at=site.clock(),
            )
            session.add(bot)
            session.flush()
            session.add(
                MatchParticipant(match_id=match.id, slot=slot, bot_id=bot.id, name=name, rank=rank)
            )

    with site.resources.database.writing() as session:
        add(session)


def test_another_case_redirects_to_the_stored_name(site: Site) -> None:
    site.player("Ada")
    answer = site.visitor().open("/user/aDA")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/user/Ada")


@pytest.mark.parametrize("path", ["/user/nobody", "/user/nobody/card", "/user/%00", "/user/a%2Fb"])
def test_there_is_no_other_user(site: Site, path: str) -> None:
    assert site.visitor().open(path).status_code == 404


def test_country_and_flag_are_shown_if_they_were_chosen(site: Site) -> None:
    ada = site.player("Ada")
    visitor = site.visitor()
    assert "flag" not in visitor.open("/user/Ada").text
    ada.fill("/settings", country="GR")
    page = visitor.open("/user/Ada")
    assert "Ada Greece" in words_of(page)
    assert '/vendor/flag-icons-7.5.0/gr.svg" alt=""' in page.text


def test_owner_other_player_and_visitor_see_their_buttons(site: Site) -> None:
    ada, bob = site.player("Ada"), site.player("Bob")
    for visitor, label in ((ada, "Edit profile"), (bob, "Add friend"), (site.visitor(), None)):
        words = words_of(visitor.open("/user/Ada"))
        for button in ("Edit profile", "Add friend", "Remove friend"):
            assert (button in words) == (button == label)


def test_friendship_is_one_way(site: Site) -> None:
    ada, bob = site.player("Ada"), site.player("Bob")
    answer = bob.fill("/user/ada/friend", on="/user/Ada")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/user/Ada")
    assert "Remove friend" in bob.open("/user/Ada").text
    assert "Add friend" in ada.open("/user/Bob").text
    bob.fill("/user/Ada/unfriend", on="/user/Ada")
    assert "Add friend" in bob.open("/user/Ada").text


@pytest.mark.parametrize("path", ["/user/Ada/friend", "/user/nobody/friend", "/user/ada/unfriend"])
def test_nobody_befriends_themselves_or_nobody(site: Site, path: str) -> None:
    assert site.player("Ada").fill(path, on="/ranking").status_code == 404


def test_pages_of_others_hold_neither_email_nor_birthday(site: Site) -> None:
    ada, bob = site.player("Ada"), site.player("Bob")
    ada.fill("/settings", born="1990-12-10", country="GR")
    for visitor in (bob, site.visitor()):
        for path in ("/user/Ada", "/user/Ada/card"):
            page = visitor.open(path).text
            assert "example.org" not in page
            assert "1990" not in page


@ON_BOTH
def test_the_rank_is_that_of_the_last_game(site: Site) -> None:
    site.player("Ada")
    site.player("Bob")
    visitor = site.visitor()
    assert "Last game ranking: did not play" in words_of(visitor.open("/user/Ada"))
    add_daily_game(site, 1, {"Ada": 1, "Bob": 2})
    site.clock.advance(86_400)
    add_daily_game(site, 2, {"Ada": 2, "Bob": 1})
    for path in ("/user/Ada", "/user/Ada/card"):
        assert "Last game ranking: 2" in words_of(visitor.open(path))
    site.clock.advance(86_400)
    add_daily_game(site, 3, {"Bob": 1})
    assert "Last game ranking: did not play" in words_of(visitor.open("/user/Ada"))


def test_the_card_is_a_piece_of_html(site: Site) -> None:
    site.player("Ada").fill("/settings", country="CH")
    card = site.visitor().open("/user/Ada/card")
    assert "<html" not in card.text
    assert words_of(card) == "Ada Last game ranking: did not play Switzerland"
