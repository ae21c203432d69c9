"""Who may do what by the API: each route with each kind of token, and when a token ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select, update

from cw.cli import main
from cw_hub.accounts import administration, audit, tickets
from cw_hub.accounts import service as accounts_service
from cw_hub.bots import checks
from cw_hub.site.api.description import operations_of
from cw_hub.site.formats import FORMATS
from cw_hub.store.models import Bot, Match, Ticket
from hub.tests.program import Program, make_admin, new_token, program_of
from hub.tests.site.test_api import SWARM, registered
from hub.tests.sites import PASSWORD, Site

OPERATIONS = operations_of(FORMATS)

NEEDS = {
    "leaderboard_rows": None,
    "list_bots": None,
    "bot": None,
    "bot_ratings": None,
    "bot_opponents": None,
    "bot_matches": None,
    "bot_checks": "owner",
    "list_matches": None,
    "match": None,
    "match_replay": None,
    "user": None,
    "game_map": None,
    "list_competitions": None,
    "status": None,
    "daily_games": None,
    "ranking": None,
    "tournaments": None,
    "tournament": None,
    "ladder": None,
    "round_matches": None,
    "team_rounds": None,
    "cup_tables": None,
    "me": "any",
    "register_bot": "bots",
    "change_bot": "bots",
    "check_bot": "bots",
    "rotate_secret": "bots",
    "test_match": "bots",
    "retire_bot": "bots",
    "suspend_bot": "admin",
    "restore_bot": "admin",
    "bot_versions": "read",
    "bot_version": "read",
    "save_version": "bots",
    "use_version": "bots",
    "begin_challenge": "bots",
    "challenge": "owner",
    "stop_challenge": "bots",
}
"""What a token must allow, by the name of each route."""

OWNERS = ("read", "admin")
"""The tokens that show what only its owner and admins see."""

NAMES = {
    "bot_id": "b_0",
    "match_id": "m_0",
    "challenge_id": "c_0",
    "username": "nobody",
    "map_id": "m0",
    "number": "1",
    "slug": "nowhere",
    "group": "none",
    "team": "nobody",
    "cup": "none",
}
PERMITTED = {200, 400, 404, 415}
"""What who is let through is answered: nothing of this is there."""


def status_of(program: Program, name: str) -> int:
    """Ask a route about what is not there; return the status."""
    one = next(one for one in OPERATIONS if one.name == name)
    path = one.path.replace("<", "{").replace(">", "}").format(**NAMES)
    return program.ask(path, one.method).status_code


def test_each_route_is_closed_to_each_token_that_does_not_allow_it(site: Site) -> None:
    for name in ("Ann", "Root"):
        site.player(name)
    make_admin(site, "Root")
    assert set(NEEDS) == {one.name for one in OPERATIONS}
    programs = {
        "none": Program(site),
        "garbage": Program(site, "cw_garbage"),
        "read": program_of(site, "Ann", "read"),
        "bots": program_of(site, "Ann", "bots"),
        "admin": program_of(site, "Root", "admin"),
    }
    for name, needed in NEEDS.items():
        for kind, program in programs.items():
            site.clock.advance(60)
            code = status_of(program, name)
            if kind == "garbage" or (kind == "none" and needed):
                assert code == 401, (name, kind, code)
            elif needed in (None, "any", kind) or (needed == "owner" and kind in OWNERS):
                assert code in PERMITTED, (name, kind, code)
            else:
                assert code == 403, (name, kind, code)


def test_a_token_without_the_role_is_no_admin(site: Site) -> None:
    site.player("Root")
    make_admin(site, "Root")
    root = program_of(site, "Root", "admin")
    assert status_of(root, "suspend_bot") == 415
    with site.resources.database.writing() as session:
        administration.set_role(session, "Root", "player")
    assert status_of(root, "suspend_bot") == 403


def test_what_is_no_token_is_refused_everywhere(site: Site) -> None:
    ann = site.player("Ann")
    with site.app.test_request_context(headers={"Cookie": f"cw={ann.cookies['cw']}"}) as context:
        opened = site.app.session_interface.open_session(site.app, context.request)
        assert opened is not None
        ticket = opened["ticket"]
    credentials = ("cw_x", "Basic cw_x", "Bearer", "Bearer x", "Bearer cw_\u00fc")
    for header in (*credentials, f"Bearer {ticket}", f"Bearer cw_{ticket}"):
        headers = {"Authorization": header.encode("latin-1")}
        refused = Program(site).ask("/status", headers=headers)
        assert refused.status_code == 401, header
        assert refused.headers["WWW-Authenticate"].startswith("Bearer")
        assert refused.json()["message"] == "The access token is unknown, revoked or expired."


# The end of a token


def revoke(site: Site) -> None:
    with site.resources.database.writing() as session:
        user_id = administration.find(session, "Ann").id
        digest = tickets.of_user(session, user_id)[0].digest
        assert tickets.revoke_token(session, user_id, digest)
        assert not tickets.revoke_token(session, user_id, digest)


def lock_for_a_while(site: Site) -> None:
    with site.resources.database.writing() as session:
        administration.lock(session, "Ann")
        administration.unlock(session, "Ann")


def delete(site: Site) -> None:
    with site.resources.database.writing() as session:
        administration.delete(session, "Ann")


def reset(site: Site) -> None:
    with site.resources.database.writing() as session:
        link = administration.reset_link(session, "Ann")
        accounts_service.reset_password(session, link, "hash")


@pytest.mark.parametrize(
    "end",
    [revoke, lock_for_a_while, delete, reset, lambda site: site.clock.advance(30 * 86_400)],
    ids=["revoked", "locked", "deleted", "reset", "expired"],
)
def test_a_copied_token_is_dead_at_once(site: Site, end: Callable[[Site], None]) -> None:
    site.player("Ann")
    ann = program_of(site, "Ann", "read", "bots")
    assert ann.read("/me") == {
        "username": "Ann",
        "is_admin": False,
        "scopes": ["bots", "read"],
        "expires_at": (site.clock() + timedelta(days=30)).isoformat()[:19] + "Z",
    }
    end(site)
    assert ann.ask("/me").status_code == 401
    assert ann.do("/bots", SWARM).status_code == 401


def test_the_database_knows_the_digest_alone_and_when_a_token_was_used(site: Site) -> None:
    site.player("Ann")
    token = new_token(site, "Ann")

    def row() -> Ticket:
        with site.resources.database.reading() as session:
            return session.scalars(select(Ticket).where(Ticket.kind == "api")).one()

    assert token not in str(vars(row()))
    assert row().last_used_at is None
    Program(site, token).read("/me")
    first = row().last_used_at
    assert first == site.clock()
    site.clock.advance(599)
    Program(site, token).read("/me")
    assert row().last_used_at == first
    site.clock.advance(1)
    Program(site, token).read("/me")
    assert row().last_used_at == site.clock()


# On the Settings page


def test_a_token_is_made_on_the_settings_page_shown_once_and_revoked(site: Site) -> None:
    ann = site.player("Ann")
    answer = ann.fill(
        "/settings/tokens",
        on="/settings",
        token_name="ci",
        days="90",
        bots="y",
        token_password=PASSWORD,
    )
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Copy it now. It is shown only once." in answer.text
    token = answer.text.partition("<textarea")[2].partition(">")[2].partition("<")[0]
    assert Program(site, token).read("/me")["scopes"] == ["bots"]
    page = ann.open("/settings").text
    assert token not in page
    assert "Last used" in page
    address = page.partition('action="/settings/tokens/')[2].partition('"')[0]
    bob = site.player("Bob")
    assert bob.fill(f"/settings/tokens/{address}", on="/settings").status_code == 404
    assert Program(site, token).ask("/me").status_code == 200
    assert ann.fill(f"/settings/tokens/{address}", on="/settings").status_code == 303
    assert "The token was revoked" in ann.open("/settings").text
    assert Program(site, token).ask("/me").status_code == 401
    with site.resources.database.reading() as session:
        verbs = [line.verb for line in audit.history(session, "user:1")]
    assert verbs == ["revoke token", "create token"]


def test_a_token_is_refused_with_a_word_at_its_field(site: Site) -> None:
    ann = site.player("Ann")
    for changed, words in (
        ({"token_name": " "}, "Please enter a name"),
        ({"token_name": "n" * 41}, "The name must be at most 40 characters long"),
        ({"days": "366"}, "Please choose how long it is valid"),
        ({"read": ""}, "Please choose what the token may do"),
        ({"token_password": ""}, "Your password is incorrect"),
        ({"token_password": "guessed"}, "Your password is incorrect"),
    ):
        values = {"token_name": "ci", "days": "30", "read": "y", "token_password": PASSWORD}
        values |= changed
        values = {name: value for name, value in values.items() if value}
        refused = ann.fill("/settings/tokens", on="/settings", **values)
        assert refused.status_code == 422, words
        assert words in refused.text
    with site.resources.database.writing() as session:
        new = tickets.NewToken("ci", frozenset({"read"}), 365)
        for _ in range(10):
            tickets.create(session, 1, new)
    full = ann.fill(
        "/settings/tokens",
        on="/settings",
        token_name="ci",
        days="30",
        read="y",
        token_password=PASSWORD,
    )
    assert "You have 10 tokens. Please revoke one first." in full.text


def test_ten_tokens_an_hour_are_made_and_refused_forms_are_not_counted(site: Site) -> None:
    ann = site.player("Ann")

    def make(**values: str) -> int:
        known = {"days": "30", "token_password": PASSWORD}
        code = ann.fill("/settings/tokens", on="/settings", **known, **values).status_code
        if code == 200:
            revoke(site)
        return code

    assert {make(token_name="", read="y") for _ in range(12)} == {422}
    assert [make(token_name="ci", read="y") for _ in range(11)] == [200] * 10 + [429]
    site.clock.advance(3601)
    assert make(token_name="ci", read="y") == 200


def test_a_display_name_is_kept(site: Site) -> None:
    ann = site.player("Ann")
    ann.fill("/settings", display_name=" Ann of Somewhere ")
    assert "Ann of Somewhere" in ann.open("/user/Ann").text
    page = ann.fill("/settings", display_name="n" * 65).text
    assert "Your display name must be at most 64 characters long" in page
    assert Program(site).read("/users/Ann")["display_name"] == "Ann of Somewhere"


# By the operator


def type_command(site: Site, *words: str) -> Result:
    settings = site.resources.settings
    environment = {
        "CW_DATA": str(settings.data),
        "CW_DATABASE_URL": settings.database_url,
        "CW_MASTER_KEYS": settings.master_keys,
        "CW_SECRET_KEY": settings.secret_key,
    }
    return CliRunner().invoke(main, ["hub", "token", *words], env=environment)


def test_the_operator_makes_lists_and_revokes(site: Site) -> None:
    site.player("Ann")
    refused = type_command(site, "create", "Ann", "ops", "--scope", "admin")
    assert refused.exit_code == 2
    assert "Ann is not an admin: cw hub user admin Ann" in refused.stderr
    make_admin(site, "Ann")
    result = type_command(site, "create", "ann", "ops", "--scope", "admin", "--scope", "read")
    token = result.stdout.strip()
    assert token.startswith("cw_")
    with site.resources.database.reading() as session:
        entries = tickets.of_user(session, 1)
    assert [(one.name, one.scopes) for one in entries] == [("ops", ("admin", "read"))]
    listed = type_command(site, "list", "Ann").stdout
    assert listed.startswith(f"{entries[0].short}  ops  admin, read  until 20")
    assert token not in listed
    assert type_command(site, "revoke", "Ann", "zz").exit_code == 2
    assert type_command(site, "revoke", "Ann", entries[0].short).stdout == "revoked ops\n"
    assert type_command(site, "list", "Ann").stdout == ""
    assert type_command(site, "list", "Nobody").exit_code == 2


# Limits


def practise(site: Site, program: Program, at: str) -> int:
    """Ask for a match of an active bot, and let it be over; return the status of the answer."""
    with site.resources.database.writing() as session:
        session.execute(update(Bot).values(status="ACTIVE"))
    status = program.do(f"{at}/test-match", {"opponent": "random"}).status_code
    with site.resources.database.writing() as session:
        session.execute(update(Match).values(state="done"))
    return status


def check(site: Site, program: Program, at: str) -> int:
    """Ask for a check, and let it be over; return the status of the answer."""
    status = program.do(f"{at}/check").status_code
    if status == 202:
        _, (_, owner, visitor), _ = site.queue.jobs.pop()
        checks.release(site.resources.rate_counts, str(owner), str(visitor))
    return status


@pytest.mark.thorough
def test_what_the_api_is_asked_is_limited(site: Site) -> None:
    for name in ("Ann", "Bob"):
        site.player(name)
    ann = program_of(site, "Ann", "read", "bots")
    at = f"/bots/{registered(site, ann)}"

    def times(act: Callable[[], int], most: int) -> None:
        site.clock.advance(86_401)
        codes = [act() for _ in range(most + 1)]
        assert 429 not in codes[:most]
        assert codes[most] == 429

    visitor, bob = Program(site), program_of(site, "Bob", "read", "bots")
    times(lambda: visitor.ask("/me").status_code, 120)
    assert bob.ask("/me").status_code == 200
    times(lambda: ann.ask("/me").status_code, 300)
    assert bob.ask("/me").status_code == 200
    times(lambda: bob.ask("/matches/m_0/replay").status_code, 60)
    assert {bob.do("/bots", "no bot").status_code for _ in range(7)} == {422}
    names = iter(range(6))
    times(lambda: bob.do("/bots", SWARM | {"name": f"Bob-{next(names)}"}).status_code, 5)
    times(lambda: bob.do(f"{at}/retire").status_code, 30)
    times(lambda: check(site, ann, at), 10)
    times(lambda: ann.do(f"{at}/rotate").status_code, 10)
    # What was refused costs nothing; each match is over before the next one.
    assert {ann.do(f"{at}/test-match", {"opponent": "x"}).status_code for _ in range(7)} == {422}
    times(lambda: practise(site, ann, at), 6)
    refused = ann.do(f"{at}/test-match", {"opponent": "x"})
    assert refused.headers["Retry-After"] == "3601"
    payload = refused.json()
    assert (payload["error"], payload["limit"]) == ("rate_limited", "6 per 1 hour")
    assert payload["retry_after"] == 3601
    page = site.visitor()
    page.log_in("Ann")
    assert page.fill("/bot/Swarm/test-match", "/bots/new", opponent="x").status_code == 429
