"""Pages are asked with any addresses, queries and forms, by anybody: none is a fault of ours."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, cast
from urllib.parse import quote

import pytest
from flask import Request, request
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.routing import Rule

from cw_hub.competitions.tournament.actions import ACTIONS
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.daily_hub import Hub
from hub.tests.ladder_rows import duel
from hub.tests.program import make_admin, program_of
from hub.tests.site.test_api import names_of
from hub.tests.sites import Site, Visitor
from tests.effort import THOROUGH, amount

FORM = "application/x-www-form-urlencoded"
TOKEN = "ABCD-EFGH-JKMN-PQRS"

NUMBERS = (
    0,
    1,
    2,
    7,
    30,
    101,
    10**9,
    2**31,
    2**32,
    2**53,
    2**63,
    2**64,
    10**30,
    10**400,
    -1,
    -(2**63),
)

HOSTILE = (
    *map(str, NUMBERS),
    *(
        "1.5",
        "1e9",
        "1e999",
        "nan",
        "inf",
        "-0",
        "+1",
        " 1 ",
        "0x10",
        "1_000",
        "²",
        "١٢",
        "𝟜𝟚",
        "０",
    ),
    *("2026-11", "9999-12", "9000-01", "0001-01", "0000-01", "2026-13", "-001-01", "２０２６-１１"),
    *("2026-11-20", "9999-12-31", "0001-01-01", "2026-02-30", "20261120", "2026-W47-5"),
    *("2026-11-21T18:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00+14:00"),
    *("", " ", "\0", "a\0b", "\u202eabc", "\u200b", "\ud800", "\ufeff", "é", "İ", "ß" * 64, "\r\n"),
    *("a" * 64, "a" * 65, "a" * 5000, "%", "%00", "_", "\\", "'", '"', "<b>", "{{7*7}}", "=1+1"),
    *("..", "../../etc/passwd", "/", "//evil.example", "/\\evil.example", "http://", "https://["),
    *(
        "http://127.0.0.1:9",
        "http://[::1]:9",
        "http://127.0.0.1:99999999",
        "http://a:b@127.0.0.1:9",
    ),
    *("[]", "{}", "null", "[" * 3000, '[{"options": {"size": 1e999}}]', '[{"factor": 1}]', "[1]"),
    *('[{"options": {"size": 99999999999999999999}, "factor": 99999999999}]', "size=5 x 9999"),
    *("size=99999999999999999999", "a" * 600 + "=1", "NAME: size=3, size=5 x 0", "x x 1"),
    *("human", "builtin:random", "builtin:", "bot:", "own:t1", "own:", "true", "on", "all", "1,2"),
)
"""What texts may say that programs read as numbers, times, names, addresses and documents."""


@dataclass(frozen=True)
class Asker:
    """Somebody who asks, by the cookies of a browser."""

    name: str
    cookies: str


class Listening(ImmutableMultiDict[str, Any]):
    """The values of a query or a form; notes which names a view looks for."""

    names: dict[str, set[str]] = defaultdict(set)  # noqa: RUF012 - of all requests

    def _note(self, key: object) -> None:
        self.names[str(request.endpoint)].add(str(key))

    def __contains__(self, key: object) -> bool:
        self._note(key)
        return super().__contains__(key)

    def __getitem__(self, key: str) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def getlist(self, key: str, *more: Any) -> Any:
        self._note(key)
        return super().getlist(key, *more)


class ListeningRequest(Request):
    """A request whose views are listened to."""

    parameter_storage_class = cast(Any, Listening)


@pytest.fixture
def database_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    """The pages are the same on both databases, but SQLite is pickier about numbers."""
    file = tmp_path / "hub.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    return f"sqlite:///{file}"


def cookies_of(visitor: Visitor) -> str:
    """Return the cookies of a browser as a header."""
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.cookies)


@pytest.fixture
def filled(site: Site) -> Iterator[Site]:
    """A site with all that pages are about; forms need no token, and nothing is limited."""
    Arena(site.resources, site.clock).play(8, Random(1))
    daily = Hub(site.resources)
    daily.begin()
    rows = duel(site.resources.database, site.clock)
    rows.card("Alpha", TOKEN.replace("-", ""))
    site.app.config["WTF_CSRF_ENABLED"] = False
    site.app.extensions["limiter_of_hub"].enabled = False
    site.app.request_class = ListeningRequest
    yield site
    site.app.extensions["matches"].close()


def askers_of(site: Site) -> list[Asker]:
    """Return a visitor, a player who is in a team too, and an admin."""
    ann, root = site.player("Ann"), site.player("Root")
    make_admin(site, "Root")
    form = {"token": TOKEN, "group": "grodno"}
    assert ann.send_form("/t/t1/join", form).status_code == 303
    return [Asker("visitor", ""), Asker("Ann", cookies_of(ann)), Asker("Root", cookies_of(root))]


def known_names(site: Site) -> dict[str, list[str]]:
    """Return what may stand for the names in the paths of pages."""
    there = names_of(program_of(site, "Ann", "read"))
    games = ["end-of-codes", "code-battle", "hexagon"]
    return {
        "slug": ["t1", *games],
        "group": ["grodno"],
        "team": ["alpha", "beta"],
        "match_id": [there["match_id"]],
        "bot_id": [there["bot_id"]],
        "name": ["bot-0", "report.json", "games.csv", "none"],
        "username": ["Ann", "Root", "house"],
        "verb": list(ACTIONS),
        "format_name": ["rated", "daily", "tournament", "cup"],
        "game": games,
        "language": ["python"],
        "gameid": ["1"],
    }


@dataclass(frozen=True)
class Route:
    """A way to ask a page."""

    rule: Rule
    method: str

    def path(self, draw: Any, known: Mapping[str, Sequence[str]]) -> str:
        """Return a path with names of what there is, or with any others."""

        def name(match: re.Match[str]) -> str:
            there = known.get(match[1].rpartition(":")[2], ())
            is_there = bool(there) and draw(st.integers(0, 3)) > 0
            value = draw(st.sampled_from(there) if is_there else TEXTS)
            return quote(value.encode("utf-8", "surrogatepass"), safe="")

        return re.sub("<([^>]+)>", name, self.rule.rule)


ENDS_A_SESSION = ("account.logout", "joining.leave")
"""What nobody asks who is needed later."""

OF_THE_MACHINE = ("ready.ready",)
"""What answers 503 on a machine that is too busy, whatever it is asked."""

TEXTS = st.one_of(
    st.sampled_from(HOSTILE),
    st.sampled_from(HOSTILE),
    st.text(max_size=20),
    st.integers().map(str),
    st.datetimes().map(str),
)
MEANT = (
    *("1", "2", "7", "2026-11", "2026-12-01T18:00", "builtin:random", "builtin:greedy", "human"),
    *(
        "note",
        "boards",
        "start",
        "final",
        "public",
        "internal",
        "add",
        "replace",
        "sandboxed",
        "off",
    ),
    *(
        "size=5",
        "size=3 x 2",
        "Small: size=3",
        '[{"options": {"size": 3}}]',
        "grodno",
        "Omega",
        "yes",
    ),
    *("ACTIVE", "done", "rating", "name", "json", "all", "GR", "1990-01-01", "http://127.0.0.1:9"),
)
"""What some fields take."""

BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def routes_of(site: Site) -> list[Route]:
    """Return all routes but those of the API, which has a description, and of files."""
    return [
        Route(rule, method)
        for rule in site.app.url_map.iter_rules()
        for method in sorted((rule.methods or set()) & {"GET", "POST"})
        if not rule.endpoint.startswith(("api.", "static", "room."))
        and rule.endpoint not in (*ENDS_A_SESSION, *OF_THE_MACHINE)
    ]


def send(site: Site, asker: Asker, route: Route, path: str, **more: Any) -> int:
    """Ask a page; return the status of its answer."""
    headers = {"Accept": "text/html"} | ({"Cookie": asker.cookies} if asker.cookies else {})
    client = site.app.test_client(use_cookies=False)
    with client.open(path, method=route.method, headers=headers, **more) as answer:
        return answer.status_code


def learn(site: Site, askers: Sequence[Asker], known: Mapping[str, Sequence[str]]) -> None:
    """Let each view say which names it looks for: with none, then with those it has looked for."""
    Listening.names.clear()
    for filler in (None, "1"):
        for route in routes_of(site):
            for asker, verb in product(askers, known["verb"]):
                if verb == known["verb"][0] or "<verb>" in route.rule.rule:
                    names = Listening.names[route.rule.endpoint] if filler else ()
                    values = dict.fromkeys(names, filler)
                    arguments = {"query_string" if route.method == "GET" else "data": values}
                    send(site, asker, route, first_path(route, known, verb), **arguments)


def first_path(route: Route, known: Mapping[str, Sequence[str]], verb: str) -> str:
    """Return a path of a route with what there is."""
    names = {name: values[0] for name, values in known.items()} | {"verb": verb}
    return re.sub(
        "<([^>]+)>", lambda match: names.get(match[1].rpartition(":")[2], "x"), route.rule.rule
    )


def values_as_sent(values: Mapping[str, str]) -> str:
    """Return the values of a form or a query, also those that are no Unicode."""
    encoded = {name: value.encode("utf-8", "surrogatepass") for name, value in values.items()}
    return "&".join(f"{quote(name)}={quote(value)}" for name, value in encoded.items())


def send_values(
    site: Site, asker: Asker, route: Route, path: str, values: Mapping[str, str]
) -> int:
    """Ask a page with a query, or a form if it takes one."""
    sent = values_as_sent(values)
    if route.method == "GET":
        return send(site, asker, route, f"{path}?{sent}")
    return send(site, asker, route, path, data=sent, content_type=FORM)


def ask_with_single_values(
    site: Site, askers: Sequence[Asker], known: Mapping[str, Sequence[str]], most: int
) -> None:
    """Send one hostile value at a time."""
    cases = [
        (route, verb, name, value)
        for route in routes_of(site)
        for verb in (known["verb"] if "<verb>" in route.rule.rule else [""])
        for name in sorted(Listening.names[route.rule.endpoint])
        for value in HOSTILE
    ]
    draw = Random(1)
    draw.shuffle(cases)
    for route, verb, name, value in cases[:most]:
        asker = askers[-1] if verb else draw.choice(askers)
        path = first_path(route, known, verb)
        code = send_values(site, asker, route, path, {name: value})
        assert code < 500, (asker.name, route.method, path, name, value)


def ask_with_values_together(
    site: Site, askers: Sequence[Asker], known: Mapping[str, Sequence[str]], most: int
) -> None:
    """Send any values of several fields together."""
    names = {endpoint: sorted(ids) for endpoint, ids in Listening.names.items()}
    routes = routes_of(site)
    codes: Counter[int] = Counter()
    there = {value for values in known.values() for value in values}
    meant = st.sampled_from(sorted({*there, *MEANT}))

    @seed(0)
    @settings(
        max_examples=most,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def ask(data: Any) -> None:
        asker = data.draw(st.sampled_from(askers), "asker")
        route = data.draw(st.sampled_from(routes), "route")
        path = route.path(data.draw, known)
        looked_for = names.get(route.rule.endpoint, ())
        optional = {name: st.one_of(*[meant] * 5, TEXTS) for name in looked_for}
        values = data.draw(st.fixed_dictionaries({}, optional=optional), "values")
        if route.rule.endpoint == "matches.move":
            code = send(site, asker, route, path, json=data.draw(BODIES, "body"))
        else:
            code = send_values(site, asker, route, path, values)
        codes[code] += 1
        assert code < 500, (asker.name, route.method, path, values)

    ask()
    assert {200, 303, 404} <= set(codes), codes


def test_no_values_are_a_fault_of_ours(filled: Site) -> None:
    """One value at a time and, among all tests, several together: the pages are learned once."""
    askers, known = askers_of(filled), known_names(filled)
    learn(filled, askers, known)
    most = amount(150, 1_000, "CW_FORM_CASES")
    ask_with_single_values(filled, askers, known, most)
    if THOROUGH:
        ask_with_values_together(filled, askers, known, most)


BOUNDED = {
    "/matches?best=9999-12": 200,
    "/matches?best=0001-01": 200,
    "/ranking/calendar?month=9999-12": 400,
    "/ranking/calendar?month=2026-13": 400,
    "/ranking/rows?from=1&to=9999999999": 400,
    "/ranking/rows?from=1&to=%C2%B2": 400,
    f"/t/t1/grodno/?round={'0' * 9}{2**64}": 404,
    f"/t/t1/grodno/?round={'0' * 5000}1": 404,
    f"/match/{2**63}": 404,
    f"/match/{'9' * 5000}": 404,
}
"""Addresses with numbers and months beyond what databases and calendars take."""


def test_numbers_and_months_are_bounded(filled: Site) -> None:
    client = filled.app.test_client()
    assert {path: client.get(path).status_code for path in BOUNDED} == BOUNDED
