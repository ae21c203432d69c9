"""Who may do what in a tournament: each of its routes, asked by visitor, team, host and admin."""

from __future__ import annotations

from inspect import signature
from random import Random

import pytest
from sqlalchemy import func, select, update

from cw_hub.competitions.tournament.actions import ACTIONS
from cw_hub.store.models import Audit, Bot, Entry, Event, Match, Team, Ticket
from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_rows import HEXAGON_3, Rows, duel
from hub.tests.program import make_admin
from hub.tests.sites import Site, Visitor
from tests.effort import amount

T = "/t/t1"
PUBLIC = (
    *("/t/", f"{T}/", f"{T}/events", f"{T}/events.json", f"{T}/kit/python.zip"),
    *(f"{T}/grodno/", f"{T}/grodno/ladder.json", f"{T}/grodno/alpha", f"{T}/grodno/alpha.json"),
    *("/match/m_00000001", "/match/m_00000001?battle=2", "/match/m_00000001/state"),
)
OF_TEAM = (
    *("bot", "rotate", "check", "upload", "own-program", "use-version"),
    *("ssh-key", "practice"),
)
PAGES_OF_HOST = ("", "/teams", "/events", "/rounds", "/log", "/export.zip")

CASES = amount(150, 600, "CW_CASES")
FAULT = "from [0, 9]"
ROLES = ("visitor", "alpha", "beta", "host", "admin")


@pytest.fixture
def rows(site: Site) -> Rows:
    rows = duel(site.resources.database, site.clock)
    one = rows.round("GRODNO", 1, HEXAGON_3, positions={"Alpha": 1, "Beta": 1, "Gamma": 1})
    played = [("illegal", (1, 2), (3, 3))] * 2
    name = rows.match(one, ("Alpha", "Beta"), played)
    rows.set_faults(name, 1, [{"kind": "illegal", "turn": 1, "battle": 1, "detail": FAULT}])
    practice = rows.match(one, ("Alpha", "Beta"), played)
    with site.resources.database.writing() as session:
        its = update(Match).where(Match.match_id == practice)
        session.execute(its.values(kind="practice", round_id=None))
    return rows


@pytest.fixture
def people(site: Site, rows: Rows) -> dict[str, Visitor]:
    """A browser of each role."""
    visitors = {"visitor": site.visitor(), "admin": site.player("Ada")}
    make_admin(site, "Ada")
    for team, letter in (("Alpha", "A"), ("Beta", "B"), (None, "H")):
        visitor = site.visitor()
        token = rows.card(team, letter * 16)
        assert visitor.fill(f"{T}/join", on=f"{T}/grodno/", token=token).status_code == 303
        visitors[(team or "host").lower()] = visitor
    return {role: visitors[role] for role in ROLES}


def counts(site: Site) -> dict[str, int]:
    """Return how many rows there are of all that is done to a tournament."""
    with site.resources.database.reading() as session:
        return {
            one.__tablename__: session.scalar(select(func.count()).select_from(one)) or 0
            for one in (Audit, Bot, Entry, Event, Match, Team, Ticket)
        }


def token_of(visitor: Visitor) -> str:
    return visitor.token(f"{T}/grodno/") or visitor.token("/login") or visitor.token("/settings")


@ON_SQLITE
def test_what_everybody_sees_is_the_same_for_all(people: dict[str, Visitor]) -> None:
    for path in PUBLIC:
        codes = {role: visitor.open(path).status_code for role, visitor in people.items()}
        assert set(codes.values()) == {200}, (path, codes)


@ON_SQLITE
def test_what_a_form_of_hosts_holds_is_what_its_function_takes(site: Site) -> None:
    for name, action in ACTIONS.items():
        form = action.form(now=site.clock())
        values = form.arguments() | action.of_site(site.resources.settings)
        signature(action.do).bind(None, 1, **values)
        typed = [value.metavar for value in action.form.parameters]
        assert all(typed) or not action.command, name
        assert bool(action.help) == bool(action.command), name
        assert ("sure" in form) or action.confirmation is None, name


def test_each_route_lets_in_whom_it_should(site: Site, people: dict[str, Visitor]) -> None:
    of_hosts = {role: role in ("host", "admin") for role in ROLES}
    of_teams = {role: role in ("alpha", "beta") for role in ROLES}
    for part in PAGES_OF_HOST:
        codes = {role: one.open(f"{T}/host{part}").status_code for role, one in people.items()}
        assert codes == {role: 200 if may else 403 for role, may in of_hosts.items()}, part
    before = counts(site)
    for verb in ACTIONS:
        site.clock.advance(5)  # An address may send 120 of these forms a minute.
        for role, visitor in people.items():
            # Whoever may do it is told what is missing; of `Start` and the like, that it is late.
            form = {"csrf_token": token_of(visitor)}
            if of_hosts[role] and verb in ("settings", "pause", "end"):
                continue
            code = visitor.send_form(f"{T}/host/{verb}", form).status_code
            assert code == (422 if of_hosts[role] else 403), (verb, role)
    for verb in OF_TEAM:
        for role, visitor in people.items():
            answer = visitor.send_form(f"{T}/my-team/{verb}", {"csrf_token": token_of(visitor)})
            to = answer.headers.get("Location", "")
            assert answer.status_code in (303, 409, 422), (verb, role)
            assert (to != f"{T}/") == of_teams[role], (verb, role)
    after = counts(site)
    # Each team has taken its key away, and practised.
    changed = {name: after[name] - before[name] for name in before if after[name] != before[name]}
    assert changed == {"audit": 2, "matches": 2}
    for role, visitor in people.items():
        answer = visitor.open(f"{T}/my-team")
        assert answer.status_code == (200 if of_teams[role] else 303)


def test_what_is_of_a_team_is_for_it_and_the_host_alone(people: dict[str, Visitor]) -> None:
    faults = {role: FAULT in one.open("/match/m_00000001").text for role, one in people.items()}
    assert faults == {"visitor": False, "alpha": False, "beta": True, "host": True, "admin": True}
    practice = {role: one.open("/match/m_00000002").status_code for role, one in people.items()}
    assert practice == dict.fromkeys(ROLES, 200) | {"visitor": 404}
    # The API knows no cookie.
    api = {one.open("/api/v1/matches/m_00000002").status_code for one in people.values()}
    assert api == {404}


SIGNS = (
    "\0",
    "\u202e",
    "\u2028",
    "İ",
    "ﷺ",
    "<b>",
    "'\"",
    "{{7*7}}",
    "%00",
    "../",
    "\r\n",
)
TEXTS = (*SIGNS, "", "9" * 30, "-1", "x" * 300, "size=5", "[[[", "NaN x 3", "GRODNO", "A, GRODNO")
FIELDS = (
    *("team", "text", "title", "at", "group", "boards", "mode", "kind", "event", "match", "round"),
    *("reason", "bot", "machine", "name", "lines", "nonce", "confirm", "settings", "parallel"),
    *("hosting", "stores", "announced", "token", "endpoint", "key", "version", "as"),
)


@pytest.mark.thorough
def test_what_is_hostile_is_no_fault_of_ours(
    site: Site, rows: Rows, people: dict[str, Visitor]
) -> None:
    random = Random(1)
    forms = [*(f"{T}/host/{verb}" for verb in ACTIONS), f"{T}/join", f"{T}/leave"]
    forms += [f"{T}/my-team/{verb}" for verb in OF_TEAM]
    browser = site.app.test_client()
    cookies = {**people["alpha"].cookies, **people["host"].cookies}
    token = token_of(people["host"])
    for number in range(CASES):
        for name, value in cookies.items():
            browser.set_cookie(name, value)
        values = {name: random.choice(TEXTS) for name in random.sample(FIELDS, 8)}
        for name in random.sample(FIELDS, 2):
            values[name] = "".join(random.choices(TEXTS, k=3))
        values["team"] = random.choice([str(one) for one in rows.teams.values()] + ["9" * 9, "x"])
        path = random.choice(forms)
        if random.random() < 0.2:
            path = f"/t/{random.choice(('t1', 'x%00', '%ff'))}/{random.choice(('%00', 'grodno'))}/"
            answer = browser.get(path + random.choice(("", "%00", "alpha.json", "\u202e")))
        else:
            data = {**values, "csrf_token": token}
            address = {"REMOTE_ADDR": f"10.0.{number // 200}.{number % 200}"}
            answer = browser.post(path, data=data, environ_base=address)
        assert answer.status_code < 500, (path, values)
        site.clock.advance(60)


@pytest.mark.thorough
@ON_SQLITE
def test_wrong_tokens_by_the_thousand_change_nothing(
    site: Site, people: dict[str, Visitor]
) -> None:
    before, codes = counts(site), dict[int, int]()
    browser = site.app.test_client()
    page = browser.get(f"{T}/grodno/").text
    form = {"csrf_token": page.partition('name="csrf_token" value="')[2].partition('"')[0]}
    for number in range(CASES):
        # Ten a second, which is as many as any page may be asked for.
        site.clock.advance(0.11)
        digits = f"{number:016}".translate(str.maketrans("0123456789", "ABCDEFGHJK"))
        answer = browser.post(f"{T}/join", data={**form, "token": f"Z{digits[1:]}"})
        codes[answer.status_code] = codes.get(answer.status_code, 0) + 1
    looked_at = 60 * (1 + int((CASES - 1) * 0.11) // 600)
    assert codes == {422: looked_at, 429: CASES - looked_at}
    assert counts(site) == before
    assert browser.post(f"{T}/join", data={**form, "token": "A" * 16}).status_code == 303
