"""What guards all pages: who may do what, tokens, and the size of forms."""

from __future__ import annotations

from random import Random

import pytest
from flask import Flask

from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import PASSWORD, Site, Visitor, words_of
from tests.effort import amount

pytestmark = ON_SQLITE
EXPIRED = "Nothing has changed: this form is more than a day old,"

WHO = {
    "GET /": "all",
    "GET /home": "all",
    "GET /health": "all",
    "GET /ready": "all",
    "GET /metrics": "all",
    "GET /login": "visitor",
    "POST /login": "visitor",
    "GET /register": "visitor",
    "POST /register": "visitor",
    "GET /forgot": "visitor",
    "POST /forgot": "visitor",
    "GET /reset/x": "link",
    "POST /reset/x": "link",
    "GET /verify/x": "link",
    "POST /verify/x": "link",
    "POST /verify": "player",
    "GET /email/x": "link",
    "POST /email/x": "link",
    "GET /unsubscribe/x": "missing",
    "POST /unsubscribe/x": "missing",
    "POST /settings/email": "player",
    "POST /logout": "all",
    "GET /user/Bob": "all",
    "GET /user/Bob/card": "all",
    "POST /user/Bob/friend": "player",
    "POST /user/Bob/unfriend": "player",
    "GET /avatar/x.webp": "missing",
    "GET /settings": "player",
    "POST /settings": "player",
    "POST /settings/mails": "player",
    "POST /settings/avatar": "player",
    "POST /settings/password": "json",
    "POST /settings/delete": "json",
    "GET /settings/data.zip": "player",
    "POST /settings/github": "player",
    "POST /settings/github/connect": "own",
    "POST /settings/tokens": "player",
    "POST /settings/tokens/x/revoke": "own",
    "GET /login/github": "missing",
    "GET /login/github/callback": "missing",
    "GET /welcome": "visitor",
    "POST /welcome": "visitor",
    "GET /api": "all",
    "GET /docs/": "all",
    "GET /docs/<path:name>": "missing",
    "GET /feed.atom": "all",
    "GET /sitemap.xml": "all",
    "GET /robots.txt": "all",
    "GET /ranking": "all",
    "GET /ranking/rows": "asking",
    "GET /ranking/calendar": "asking",
    "GET /ranking/now": "all",
    "GET /user/Bob/graph": "all",
    "GET /bots/end-of-codes": "player",
    "POST /bots/end-of-codes": "player",
    "POST /bots/end-of-codes/key": "player",
    "GET /bots/end-of-codes/probe": "json_get",
    "POST /bots/end-of-codes/upload": "player",
    "POST /bots/end-of-codes/use-version": "player",
    "GET /bots/end-of-codes/version/1.zip": "own",
    "GET /bots/end-of-codes/compare": "own",
    "GET /match/1": "missing",
    "GET /bots": "player",
    "GET /bots/new": "player",
    "POST /bots/new": "player",
    "POST /bots/new/program": "player",
    "GET /workshop/paint/": "player",
    "GET /workshop/paint/files": "json_get",
    "POST /workshop/paint/versions": "json",
    "GET /workshop/paint/versions/x/1": "own json",
    "POST /workshop/paint/play": "json",
    "POST /workshop/paint/open": "own",
    "GET /workshop/paint/language": "player",
    "POST /workshop/paint/language": "player",
    "POST /workshop/paint/run": "begun",
    "GET /workshop/paint/run": "own json",
    "GET /workshop/paint/run/1/document": "own json",
    "GET /workshop/paint/run/turns/1": "own json",
    "POST /workshop/paint/stop": "json_get",
    "POST /workshop/paint/ask": "begun",
    "GET /workshop/paint/ask": "json_get",
    "POST /workshop/paint/series": "begun",
    "GET /workshop/paint/series": "json_get",
    "POST /workshop/paint/series/stop": "json_get",
    "GET /workshop/paint/series/1/document": "own json",
    "POST /workshop/paint/check": "begun",
    "GET /workshop/paint/check": "json_get",
    "POST /workshop/paint/check/stop": "json_get",
    "GET /bot/x": "missing",
    "GET /bot/x/ratings": "missing",
    "POST /bot/x/edit": "own",
    "POST /bot/x/rotate": "own",
    "POST /bot/x/suspend": "admin",
    "POST /bot/x/restore": "admin",
    "GET /leaderboard": "all",
    "GET /matches": "all",
    "GET /cup/": "all",
    "GET /cup/x": "missing",
    "POST /bot/x/challenge": "own",
    "GET /challenge/x": "own",
    "GET /challenge/x/state": "own json",
    "POST /challenge/x/stop": "own",
    "GET /cup/x/stand": "missing",
    "GET /cup/x/<any('report.json', 'report.md', 'games.csv'):name>": "missing",
    "GET /cup/x/matches/<stem>": "missing",
    "GET /cup/x/games/<stem>.json.gz": "missing",
    "GET /cup/x/games/<stem>.log": "missing",
    "GET /t/x/host": "missing",
    "GET /t/x/host/teams": "missing",
    "GET /t/x/host/people": "missing",
    "GET /join/x": "missing",
    "POST /join/x/team": "own",
    "POST /join/x/member": "own",
    "POST /t/x/my-team/leave": "own",
    "POST /t/x/my-team/rename": "own",
    "GET /t/x/host/events": "missing",
    "GET /t/x/host/rounds": "missing",
    "GET /t/x/host/log": "missing",
    "GET /t/x/host/export.zip": "missing",
    "POST /t/x/host/start": "missing",
    "POST /t/x/host/picture": "missing",
    "GET /admin": "admin",
    "GET /admin/people": "admin",
    "POST /admin/people/Bob/lock": "admin",
    "POST /admin/people/Bob/unlock": "admin",
    "POST /admin/people/Bob/end-sessions": "admin",
    "POST /admin/people/Bob/confirm-email": "admin",
    "GET /competitions/new": "admin",
    "POST /competitions/new": "admin",
    "GET /competitions/rated/x": "admin",
    "POST /competitions/rated/x/words": "admin",
    "POST /competitions/rated/x/settings": "admin",
    "POST /competitions/rated/x/dates": "admin",
    "POST /competitions/rated/x/picture": "admin",
    "POST /admin/people/Bob/limit": "admin",
    "POST /competitions/rated/x/state": "admin",
    "GET /admin/bots": "admin",
    "POST /admin/bots/x/check": "admin",
    "GET /admin/competitions": "admin",
    "GET /admin/matches": "admin",
    "POST /admin/matches/x/requeue": "admin",
    "POST /admin/matches/x/void": "admin",
    "GET /admin/mails": "admin",
    "POST /admin/mails/1/send": "admin",
    "GET /admin/log": "admin",
    "POST /admin/rated/x/pause": "admin",
    "POST /admin/rated/x/resume": "admin",
    "GET /bot/x/state": "own json",
    "GET /bot/x/version/1.zip": "own",
    "GET /bot/x/compare": "own",
    "POST /bot/x/comparisons": "own",
    "GET /bot/x/comparisons/1": "own",
    "GET /bot/x/comparisons/1/state": "own json",
    "POST /bot/x/comparisons/1/stop": "own",
    "POST /bot/x/upload": "own",
    "POST /bot/x/use-version": "own",
    "POST /bot/x/check": "own",
    "POST /bot/x/test-match": "own",
    "POST /bot/x/retire": "own",
    "GET /match/x": "missing",
    "GET /match/x/state": "missing",
    "GET /match/x/live": "missing",
    "GET /live": "all",
    "GET /live/state": "all",
    "GET /match/x/people": "missing",
    "GET /match/x/picture.png": "missing",
    "GET /bot/x/picture.png": "missing",
    "GET /competitions/rated/x/picture.png": "missing",
    "GET /match/x/replay": "missing",
    "GET /match/x/download": "missing",
    "GET /replay/x": "missing",
    "GET /objects/maps/x": "signed",
    "GET /t/": "all",
    "GET /t/x/": "missing",
    "GET /t/x/events": "missing",
    "GET /t/x/events.json": "missing",
    "GET /t/x/g/": "missing",
    "GET /t/x/g/ladder.json": "missing",
    "GET /t/x/g/a": "missing",
    "GET /t/x/g/a.json": "missing",
    "POST /t/x/join": "missing",
    "POST /t/x/leave": "missing",
    "GET /t/x/my-team": "missing",
    "POST /t/x/my-team/bot": "missing",
    "POST /t/x/my-team/check": "missing",
    "POST /t/x/my-team/rotate": "missing",
    "POST /t/x/my-team/upload": "missing",
    "POST /t/x/my-team/own-program": "missing",
    "POST /t/x/my-team/use-version": "missing",
    "POST /t/x/my-team/ssh-key": "missing",
    "GET /t/x/my-team/version/1.zip": "missing",
    "GET /t/x/my-team/compare": "missing",
    "POST /t/x/my-team/practice": "missing",
    "GET /t/x/kit/x.zip": "missing",
    "GET /games/x/kit/x.zip": "missing",
    "GET /blog": "all",
    "GET /contribute": "all",
}
"""Each route of people's pages, and who is answered: visitors elsewhere, or players too."""

OF_ARENA = ("games", "lobby", "matches", "outputs", "play_on", "replay_forms", "replays", "room")
OF_OTHERS = ("static", "api", *OF_ARENA)
"""Blueprints with tests of their own; those of the API are in test_api_permissions.py."""

ENDS_A_SESSION = "POST /logout"
PROVEN_BY_ITS_LINK = "POST /unsubscribe/x"
"""What mail programs post, which have no token: the link is signed."""
POSTS = [route for route in WHO if route.startswith("POST") and route != PROVEN_BY_ITS_LINK]


def routes_of(app: Flask) -> set[str]:
    """Return method and address of each route, with names put in."""
    names = {"ticket": "x", "username": "Bob", "digest": "x", "name": "x", "match_id": "x"}
    names |= {"bot_id": "x", "format_name": "rated", "slug": "x", "int:gameid": "1"}
    names |= {"game:game": "paint"}
    names |= {"int:mail_id": "1", "int:number": "1", "int:turn": "1", "code": "x"}
    names |= {
        "group": "g",
        "team": "a",
        "verb": "start",
        "game": "x",
        "language": "x",
        "challenge": "x",
    }
    routes = set()
    for rule in app.url_map.iter_rules():
        if rule.endpoint.partition(".")[0] in OF_OTHERS:
            continue
        address = rule.rule.replace("<any('replays', 'maps'):kind>/<path:name>", "maps/x")
        for name, value in names.items():
            address = address.replace(f"<{name}>", value)
        routes |= {f"{method} {address}" for method in (rule.methods or set()) & {"GET", "POST"}}
    return routes


def test_the_table_names_each_route(site: Site) -> None:
    assert routes_of(site.app) == set(WHO)


def answer_to(visitor: Visitor, route: str, token: str) -> tuple[int, str]:
    """Return the status of a route, and where it leads."""
    method, _, path = route.partition(" ")
    if method == "GET":
        answer = visitor.open(path)
    else:
        answer = visitor.send_form(path, {"csrf_token": token})
    return answer.status_code, answer.headers.get("Location", "")


def test_visitors_are_answered_as_the_table_says(site: Site) -> None:
    site.player("Bob")
    visitor, token = site.visitor(), ""
    for route, who in WHO.items():
        path = route.partition(" ")[2]
        token = token or visitor.token()
        code, leads_to = answer_to(visitor, route, token)
        if route == ENDS_A_SESSION:
            token = ""
        expected = {
            "all": code in (200, 303) and "/login" not in leads_to,
            "visitor": code in (200, 303, 422),
            "link": code == 410,
            "missing": code == 404,
            "signed": code == 403,
            "asking": code == 400,
            "json_get": code == 401,
            "own": leads_to.startswith("/login"),
            "player": (code, leads_to)
            == (303, f"/login?next={path}" if route.startswith("GET") else "/login"),
            "admin": leads_to.startswith("/login"),
            "json": code == 401,
            "begun": code == 401,
            "own json": code == 401,
        }
        assert expected[who], (route, code, leads_to)


def test_players_are_answered_as_the_table_says(site: Site) -> None:
    site.player("Bob")
    site.player("Ada")
    ada, token = site.visitor(), ""
    for route, who in WHO.items():
        if route == "POST /settings/delete":
            continue
        if not token:
            ada.log_in("Ada")
            token = ada.token("/settings")
        code, leads_to = answer_to(ada, route, token)
        if route == ENDS_A_SESSION:
            token = ""
        expected = {
            "all": code in (200, 303),
            "visitor": (code, leads_to) == (303, "/ranking"),
            "link": code == 410,
            "missing": code == 404,
            "signed": code == 403,
            "asking": code == 400,
            "json_get": code == 200,
            "own": code == 404,
            "player": code in (200, 303, 422) and "/login" not in leads_to,
            "admin": code == 403,
            "json": code == 422,
            "begun": code in (201, 400),
            "own json": code == 404,
        }
        assert expected[who], (route, code, leads_to)


# Tokens


@pytest.mark.parametrize("kind", ["none", "foreign", "old", "garbage"])
def test_no_form_is_taken_without_its_token(site: Site, kind: str) -> None:
    site.player("Bob")
    ada = site.visitor()
    old = ada.token()
    ada.register("Ada")
    token = {"none": "", "foreign": site.visitor().token(), "old": old, "garbage": "ü" * 99}[kind]
    for route in POSTS:
        values = {"csrf_token": token, "password": PASSWORD, "country": "GR"}
        answer = ada.send_form(route.partition(" ")[2], values)
        assert answer.status_code == 400, route
        assert EXPIRED in words_of(answer)
    assert ada.is_player()
    assert "selected" not in ada.open("/settings").text
    assert "Add friend" in ada.open("/user/Bob").text


def test_a_token_may_come_in_a_header(site: Site) -> None:
    ada = site.player("Ada")
    token = ada.token("/settings")
    assert ada.send_form("/logout", {}, headers={"X-CSRFToken": token}).status_code == 303


def test_no_cookie_is_set_before_a_form_needs_one(site: Site) -> None:
    for path in ("/", "/ranking", "/games/", "/blog", "/nothing", "/static/base.css"):
        assert "Set-Cookie" not in site.visitor().open(path).headers, path


# Sizes


def test_forms_are_bounded(site: Site) -> None:
    visitor = site.visitor()
    token = visitor.token()
    fine = {"csrf_token": token, "username": "u" * 60_000}
    assert visitor.send_form("/login", fine).status_code == 303
    large = {"csrf_token": token, "username": "u" * 66_000}
    assert visitor.send_form("/login", large).status_code == 413
    many = {"csrf_token": token} | {f"field{number}": "1" for number in range(50)}
    assert visitor.send_form("/login", many).status_code == 413


@pytest.mark.thorough
def test_hostile_requests_are_no_fault_of_ours(site: Site) -> None:
    random = Random(1)
    site.player("Bob")
    visitor = site.player("Ada")
    pieces = ["%00", "%ff", "..", "/", "\\", "é", "'", '"', "<script>", "%", "A" * 300]
    token = visitor.token("/settings")
    with site.app.test_client() as client:
        client.set_cookie("cw", visitor.cookies["cw"])
        for _ in range(amount(300, 1500, "CW_CASES")):
            method, _, path = random.choice(sorted(WHO)).partition(" ")
            place = random.randrange(1, len(path) + 1)
            noise = "".join(random.choices(pieces, k=random.randrange(3)))
            address = path[:place] + noise + path[place:]
            if address.startswith("//") or address == "/logout":
                # Our client would take what follows for a host; and it shall stay logged in.
                continue
            values = {
                name: random.choice(["", "x", "\0", "\ud7ff", "9" * 50, token])
                for name in random.sample(
                    ["username", "password", "email", "country", "born", "next", "csrf_token"], 4
                )
            }
            answer = client.open(
                address,
                method=method,
                data=values | {"csrf_token": token} if method == "POST" else None,
                query_string={"next": noise},
                headers={"Accept": "text/html"},
                environ_base={
                    "REMOTE_ADDR": f"10.0.{random.randrange(256)}.{random.randrange(256)}"
                },
            )
            assert answer.status_code < 500, (method, address, values)
            # As servers do: a file that is sent is closed then.
            answer.close()
    assert visitor.is_player()
