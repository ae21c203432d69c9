"""The verbs of people: what each does, and what when called twice, late, or by two at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TypeVar

import pytest
from sqlalchemy import func, select

from cw_hub.accounts import administration, tickets
from cw_hub.accounts import service as accounts_service
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Database, Session
from cw_hub.store.models import Bot, Friend, Match, MatchParticipant, Ticket, User
from hub.tests.conftest import StillClock

DAY = 86_400

T = TypeVar("T")


@dataclass
class Town:
    """People who do things, each in a transaction."""

    database: Database
    clock: StillClock

    def do(self, verb: Callable[[Session], T]) -> T:
        with self.database.writing() as session:
            return verb(session)

    def register(self, name: str, password_hash: str = "hash") -> tuple[int, str]:
        mail = f"{name.lower()}@example.org"
        return self.do(lambda s: accounts_service.register(s, name, mail, password_hash))

    def account(self, name: str) -> accounts_service.Account:
        account = self.do(lambda s: accounts_service.find_account(s, name))
        assert account
        return account

    def log_in(self, name: str, *, remembered: bool = False) -> str:
        account = self.account(name)
        return self.do(lambda s: accounts_service.log_in(s, account, remembered=remembered))

    def link(self, user: int, kind: tickets.LinkKind = "reset", label: str | None = None) -> str:
        return self.do(lambda s: tickets.issue_link(s, kind, user, label))

    def is_in(self, ticket: str) -> bool:
        return self.do(lambda s: tickets.find_holder(s, ticket)) is not None

    def user(self, user: int) -> User:
        row = self.do(lambda s: s.get(User, user))
        assert row
        return row

    def count(self, table: type[Ticket | Friend]) -> int:
        return self.do(lambda s: s.scalar(select(func.count()).select_from(table))) or 0


@pytest.fixture
def town(database: Database, hub_clock: StillClock) -> Town:
    return Town(database, hub_clock)


# Coming


def test_who_registers_is_logged_in(town: Town) -> None:
    user, ticket = town.register("Ada")
    assert town.is_in(ticket)
    assert town.user(user).username == "Ada"
    assert town.user(user).email_verified_at is None


@pytest.mark.parametrize("name", ["Ada", "ADA", "ada"])
def test_a_name_in_any_case_is_one_name(town: Town, name: str) -> None:
    town.register("Ada")
    with pytest.raises(accounts_service.UsernameTaken):
        town.register(name)
    assert town.account(name).username == "Ada"


def test_a_sign_that_folds_to_a_letter_is_no_letter(town: Town) -> None:
    town.register("kim")
    assert town.do(lambda s: accounts_service.find_account(s, "\u212aim")) is None


def test_of_twenty_who_register_a_name_at_once_one_wins(town: Town) -> None:
    def attempt(_: int) -> bool:
        try:
            town.register("Ada")
        except accounts_service.UsernameTaken:
            return False
        return True

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(attempt, range(20))) == 1
    assert town.count(Ticket) == 1


def test_each_log_in_opens_a_session_and_log_out_ends_its_own(town: Town) -> None:
    town.register("Ada")
    first, second = town.log_in("ada"), town.log_in("ada", remembered=True)
    for _ in range(2):
        town.do(lambda s: accounts_service.log_out(s, first))
    assert not town.is_in(first)
    assert town.is_in(second)


def test_a_dated_hash_is_renewed_at_log_in(town: Town) -> None:
    user, _ = town.register("Ada")
    account = town.account("Ada")
    town.do(lambda s: accounts_service.log_in(s, account, remembered=False, renewed_hash="renewed"))
    assert town.user(user).password_hash == "renewed"


def test_nobody_logs_in_with_a_password_that_was_changed_meanwhile(town: Town) -> None:
    town.register("Ada")
    account = town.account("Ada")
    town.do(lambda s: accounts_service.change_password(s, account, "new", remembered=False))
    with pytest.raises(accounts_service.Refused):
        town.do(lambda s: accounts_service.log_in(s, account, remembered=False))


def test_the_locked_are_out_and_stay_out(town: Town) -> None:
    user, ticket = town.register("Ada")
    account, link = town.account("Ada"), town.link(user)
    town.do(lambda s: administration.lock(s, "Ada"))
    locked_at = town.user(user).locked_at
    assert not town.is_in(ticket)
    assert town.account("Ada").is_locked
    with pytest.raises(accounts_service.Refused):
        town.do(lambda s: accounts_service.log_in(s, account, remembered=False))
    with pytest.raises(accounts_service.LinkExpired):
        town.do(lambda s: accounts_service.reset_password(s, link, "new"))
    town.clock.advance(DAY)
    town.do(lambda s: administration.lock(s, "Ada"))
    assert town.user(user).locked_at == locked_at


# Passwords and links


def test_a_reset_changes_the_password_ends_all_tickets_and_confirms_the_address(
    town: Town,
) -> None:
    user, first = town.register("Ada")
    link, other = town.link(user), town.link(user)
    _, ticket = town.do(lambda s: accounts_service.reset_password(s, link, "new"))
    assert town.is_in(ticket)
    assert not town.is_in(first)
    assert town.user(user).password_hash == "new"
    assert town.user(user).email_verified_at == town.clock()
    for used in (link, other):
        with pytest.raises(accounts_service.LinkExpired):
            town.do(partial(accounts_service.reset_password, link=used, password_hash="x"))
    assert town.user(user).password_hash == "new"


def test_a_printed_link_confirms_no_address(town: Town) -> None:
    user, _ = town.register("Ada")
    link = town.link(user, label=tickets.PRINTED)
    town.do(lambda s: accounts_service.reset_password(s, link, "new"))
    assert town.user(user).email_verified_at is None


def test_of_twenty_who_reset_with_a_link_at_once_one_wins(town: Town) -> None:
    user, _ = town.register("Ada")
    link = town.link(user)

    def attempt(number: int) -> str | None:
        try:
            town.do(lambda s: accounts_service.reset_password(s, link, f"hash {number}"))
        except accounts_service.LinkExpired:
            return None
        return f"hash {number}"

    with ThreadPoolExecutor(20) as pool:
        won = [one for one in pool.map(attempt, range(20)) if one]
    assert won == [town.user(user).password_hash]


def test_an_address_is_confirmed_once(town: Town) -> None:
    user, _ = town.register("Ada")
    link = town.link(user, "verify")
    assert town.do(lambda s: accounts_service.confirm_email(s, link)) == user
    assert town.user(user).email_verified_at == town.clock()
    with pytest.raises(accounts_service.LinkExpired):
        town.do(lambda s: accounts_service.confirm_email(s, link))


def test_a_changed_password_ends_other_sessions_and_links_and_opens_one(town: Town) -> None:
    user, first = town.register("Ada")
    link, account = town.link(user), town.account("Ada")
    ticket = town.do(lambda s: accounts_service.change_password(s, account, "new", remembered=True))
    assert town.is_in(ticket)
    assert not town.is_in(first)
    with pytest.raises(accounts_service.LinkExpired):
        town.do(lambda s: accounts_service.reset_password(s, link, "newer"))
    with pytest.raises(accounts_service.Refused):
        town.do(lambda s: accounts_service.change_password(s, account, "late", remembered=True))
    assert town.user(user).password_hash == "new"


# Profile and friends


def test_the_last_profile_and_picture_win(town: Town) -> None:
    user, _ = town.register("Ada")
    for country, born in (("GR", date(1990, 1, 2)), (None, None), ("CH", date(1991, 3, 4))):
        town.do(partial(accounts_service.save_profile, user_id=user, country=country, born=born))
    town.do(lambda s: accounts_service.set_avatar(s, user, "a" * 64))
    settings = town.do(lambda s: accounts_service.own_settings(s, user))
    assert settings.profile == accounts_service.Profile(user, "Ada", None, "a" * 64, "CH")
    assert settings.born == date(1991, 3, 4)


def is_friend(town: Town, username: str, viewer: int) -> bool:
    """Return whether a user is told that they have added another."""
    profile = town.do(lambda s: accounts_service.find_profile(s, username, viewer))
    assert profile
    return profile.is_friend


def test_friendship_goes_one_way_and_twice_is_once(town: Town) -> None:
    (ada, _), (bob, _) = town.register("Ada"), town.register("Bob")
    for _ in range(2):
        assert town.do(lambda s: accounts_service.befriend(s, ada, "BOB")) == "Bob"
    assert is_friend(town, "bob", ada)
    assert not is_friend(town, "ada", bob)
    assert town.count(Friend) == 1
    for _ in range(2):
        assert town.do(lambda s: accounts_service.unfriend(s, ada, "bob")) == "Bob"
    assert town.count(Friend) == 0


def test_of_twenty_who_befriend_at_once_all_succeed(town: Town) -> None:
    (ada, _), _ = town.register("Ada"), town.register("Bob")
    with ThreadPoolExecutor(20) as pool:
        names = pool.map(
            lambda _: town.do(lambda s: accounts_service.befriend(s, ada, "Bob")),
            range(20),
        )
        assert set(names) == {"Bob"}
    assert town.count(Friend) == 1


@pytest.mark.parametrize("name", ["Ada", "ada", "nobody", ""])
def test_nobody_befriends_themselves_or_nobody(town: Town, name: str) -> None:
    ada, _ = town.register("Ada")
    with pytest.raises(accounts_service.NoSuchUser):
        town.do(lambda s: accounts_service.befriend(s, ada, name))
    with pytest.raises(accounts_service.NoSuchUser):
        town.do(lambda s: accounts_service.unfriend(s, ada, name))


# Leaving


def test_who_deletes_the_account_is_forgotten_and_the_name_rests(town: Town) -> None:
    (ada, ticket), (bob, _) = town.register("Ada"), town.register("Bob")
    town.do(lambda s: accounts_service.befriend(s, ada, "Bob"))
    town.do(lambda s: accounts_service.befriend(s, bob, "Ada"))
    town.do(lambda s: accounts_service.save_profile(s, ada, "GR", date(1990, 1, 2)))
    town.link(ada)
    account = town.account("Ada")
    town.do(lambda s: administration.delete_account(s, account))
    lasting_columns = {"id", "role", "created_at", "deleted_at", "username_key", "bot_mails"}
    lasting_columns |= {"host_mails"}
    row = town.user(ada)
    values = {column.name: getattr(row, column.name) for column in User.__table__.columns}
    assert {name for name, value in values.items() if value is not None} == lasting_columns
    assert not town.is_in(ticket)
    assert town.count(Friend) == 0
    assert town.count(Ticket) == 1
    with pytest.raises(accounts_service.Refused):
        town.do(lambda s: administration.delete_account(s, account))
    with pytest.raises(accounts_service.UsernameTaken):
        town.register("ada")


@pytest.mark.parametrize("verb", ["own", "operator"])
def test_a_deleted_name_rests_for_ninety_days(town: Town, verb: str) -> None:
    ada, _ = town.register("Ada")
    if verb == "own":
        account = town.account("Ada")
        town.do(lambda s: administration.delete_account(s, account))
    else:
        town.do(lambda s: administration.delete(s, "Ada"))
    assert town.do(lambda s: accounts_service.find_profile(s, "Ada")) is None
    town.clock.advance(90 * DAY - 1)
    with pytest.raises(accounts_service.UsernameTaken):
        town.register("ADA")
    town.clock.advance(1)
    again, _ = town.register("ADA")
    assert again != ada
    assert town.user(ada).username_key is None
    assert town.account("ada").user_id == again


def test_names_that_have_rested_are_forgotten_once(resources: Resources, town: Town) -> None:
    (ada, _), (bob, _) = town.register("Ada"), town.register("Bob")
    for name in ("Ada", "Bob"):
        town.do(lambda s, name=name: administration.delete(s, name))  # type: ignore[misc]
        town.clock.advance(DAY)
    town.clock.advance(88.5 * DAY)
    assert accounts_service.release_names(resources) == 1
    assert accounts_service.release_names(resources) == 0
    assert (town.user(ada).username_key, town.user(bob).username_key) == (None, "bob")


def test_no_id_is_given_twice(town: Town) -> None:
    ada, _ = town.register("Ada")
    town.do(lambda s: s.delete(s.get(User, ada)))
    assert town.register("Bob")[0] > ada


def test_bots_of_the_deleted_are_retired_and_those_of_end_of_codes_renamed(town: Town) -> None:
    ada, _ = town.register("Ada")

    def add_bots(session: Session) -> None:
        for number, game in enumerate(("end-of-codes", "code-battle")):
            bot = Bot(
                bot_id=f"b_0000000{number}",
                game=game,
                user_id=ada,
                name="Ada",
                name_key="ada",
                kind="url",
                endpoint="http://127.0.0.1:1/",
                secret=b"sealed",
                key_id="k",
                created_at=town.clock(),
                check_due_at=town.clock(),
            )
            match = Match(
                match_id=f"m_0000000{number}",
                kind="practice",
                key=str(number),
                game=game,
                players=1,
                seed=1,
                at=town.clock(),
            )
            session.add_all((bot, match))
            session.flush()
            session.add(MatchParticipant(match_id=match.id, slot=0, bot_id=bot.id, name="Ada"))

    town.do(add_bots)
    account = town.account("Ada")
    town.do(lambda s: administration.delete_account(s, account))
    first, second = town.do(lambda s: list(s.scalars(select(Bot).order_by(Bot.id))))
    for bot in (first, second):
        assert bot.status == "RETIRED"
        assert (bot.endpoint, bot.secret, bot.key_id, bot.check_due_at) == ("", None, None, None)
    assert (first.name, first.name_key, second.name) == (f"deleted-{ada}", f"deleted-{ada}", "Ada")
    names = town.do(lambda s: list(s.scalars(select(MatchParticipant.name))))
    assert sorted(names) == ["Ada", f"deleted-{ada}"]


def test_who_was_deleted_meanwhile_leaves_no_trace(town: Town) -> None:
    (ada, _), _ = town.register("Ada"), town.register("Bob")
    town.do(lambda s: administration.delete(s, "Ada"))
    town.do(lambda s: accounts_service.save_profile(s, ada, "GR", None))
    town.do(lambda s: accounts_service.set_avatar(s, ada, "a" * 64))
    with pytest.raises(accounts_service.NoSuchUser):
        town.do(lambda s: accounts_service.befriend(s, ada, "Bob"))
    row = town.user(ada)
    assert (row.country, row.avatar) == (None, None)
