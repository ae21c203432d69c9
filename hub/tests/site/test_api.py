"""The API: what everybody may read, what owners and admins do with tokens, and its description."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from random import Random

import msgspec
import pytest
from sqlalchemy import select

from cw_hub.api import CODES
from cw_hub.bots import service as bots_service
from cw_hub.competitions import service as competitions_service
from cw_hub.matches import planning
from cw_hub.matches.jobs import Worker
from cw_hub.operation.resources import Resources
from cw_hub.site.api.description import describe, operations_of
from cw_hub.site.formats import FORMATS, MATCH_TYPES
from cw_hub.store.models import Match
from hub.tests.bots.test_player_bots import NOBODY
from hub.tests.competitions.daily.test_daily_pages import play_game
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.conftest import StillClock
from hub.tests.ladder_rows import duel
from hub.tests.program import Program, make_admin, program_of
from hub.tests.sites import PASSWORD, Site, words_of

OPERATIONS = operations_of(FORMATS)

DOCUMENTATION = Path(__file__).resolve().parents[2] / "docs" / "api.md"
SECRET = re.compile("[0-9a-f]{64}")
SWARM = {"game": "code-battle", "name": "Swarm", "endpoint": NOBODY, "description": "swarms"}


@pytest.fixture
def arena(resources: Resources, hub_clock: StillClock) -> Arena:
    return Arena(resources, hub_clock, options={"max_turns": 5})


@pytest.fixture
def played(arena: Arena) -> Arena:
    arena.play(12, Random(1))
    return arena


def really_played(arena: Arena) -> str:
    """Play a match to its end, with a replay; return its name."""
    arena.clock.advance(600)
    arena.plan()
    match = arena.queued()[0]
    Worker("me", 1, MATCH_TYPES).play(arena.resources, match)
    with arena.resources.database.reading() as session:
        return session.scalars(select(Match.match_id).where(Match.id == match)).one()


def names_of(program: Program) -> dict[str, str]:
    """Return names that stand in paths: of what there is."""
    return {
        "bot_id": program.read("/leaderboard")["items"][0]["bot_id"],
        "match_id": program.read("/matches", state="done")["items"][0]["match_id"],
        "username": "house",
        "map_id": "m2_001",
        "number": "1",
        "slug": "t1",
        "group": "grodno",
        "team": "alpha",
        "cup": "spring",
    }


# What everybody may read


def test_each_answer_is_what_the_description_says(played: Arena, site: Site) -> None:
    duel(site.resources.database, site.clock).event("start", -5)
    play_game(site, 3)
    with site.resources.database.writing() as session:
        cup = competitions_service.new(session, "cup", "hexagon", slug="spring")
        competitions_service.set_state(session, cup.id, "running")
    visitor = Program(site)
    names = names_of(visitor) | {"match_id": really_played(played)}
    public = [one for one in OPERATIONS if one.method == "GET" and not one.needs_token]
    assert len(public) == 21
    for one in public:
        path = one.path.replace("<", "{").replace(">", "}").format(**names)
        answer = visitor.ask(path)
        assert answer.status_code == 200, (path, answer.text)
        assert msgspec.json.decode(answer.content, type=one.answer, strict=True)
        assert answer.headers["Content-Type"] == "application/json"
        assert "Set-Cookie" not in answer.headers


def test_a_replay_is_led_to_by_a_link_that_ends(played: Arena, site: Site) -> None:
    match_id = really_played(played)
    visitor = Program(site)
    link = visitor.read(f"/matches/{match_id}/replay")
    assert link["expires_at"] == (site.clock() + timedelta(hours=1)).isoformat()[:19] + "Z"
    assert visitor.http.get(link["url"]).json()["match_id"] == match_id
    site.clock.advance(3601)
    assert visitor.http.get(link["url"]).status_code == 403
    file = visitor.read("/maps/m2_001")["file"]["url"]
    assert visitor.http.get(file).status_code in (200, 404)
    played.plan()
    open_one = visitor.read("/matches", state="queued")["items"][0]["match_id"]
    refused = visitor.ask(f"/matches/{open_one}/replay")
    assert refused.status_code == 404
    assert refused.json()["message"] == "This match is waiting for a worker."


def test_lists_are_read_part_by_part(played: Arena, site: Site) -> None:
    visitor = Program(site)
    names = names_of(visitor)
    for form, key in LISTS.items():
        path = form.format(**names)
        whole = visitor.read(path, limit=100)
        assert whole["next"] is None
        assert len(whole["items"]) > 2
        assert len({item[key] for item in whole["items"]}) == len(whole["items"])
        for limit in (2, len(whole["items"])):
            assert visitor.everything(path, limit=limit) == whole["items"]


LISTS = {
    "/leaderboard": "bot_id",
    "/bots": "bot_id",
    "/matches": "match_id",
    "/bots/{bot_id}/matches": "match_id",
    "/bots/{bot_id}/ratings": "match_id",
    "/bots/{bot_id}/opponents": "bot_id",
}


def test_what_is_new_moves_no_part(played: Arena, site: Site) -> None:
    visitor = Program(site)
    before = visitor.everything("/matches", limit=100)
    first = visitor.read("/matches", limit=5)
    played.play(2, Random(2))
    rest = visitor.everything("/matches", limit=100)
    assert [one["match_id"] for one in rest][-len(before) :] == [one["match_id"] for one in before]
    second = visitor.read("/matches", limit=5, after=first["next"])
    assert [one["match_id"] for one in second["items"]] == [one["match_id"] for one in before[5:10]]


def test_choices_hide_rows(played: Arena, site: Site) -> None:
    visitor = Program(site)
    assert visitor.read("/bots", owner="HOUSE", status="ACTIVE")["items"]
    assert not visitor.read("/bots", game="hexagon")["items"]
    assert all(len(one["seats"]) == 2 for one in visitor.read("/matches", players=2)["items"])
    assert not visitor.read("/leaderboard", q="nobody")["items"]
    assert visitor.read("/leaderboard", after="99")["items"] == []
    assert visitor.ask("/leaderboard?game=chess").status_code == 404


def test_a_parameter_that_cannot_be_is_named(site: Site) -> None:
    for query, words in ODD_QUERIES:
        refused = Program(site).ask(f"/matches?{query}")
        assert refused.status_code == 400, query
        assert refused.json()["error"] == "bad_request"
        assert refused.json()["message"].startswith(words)


ODD_QUERIES = (
    ("limit=0", "Expected `int` >= 1 - at `$.limit`."),
    ("limit=101", "Expected `int` <= 100 - at `$.limit`."),
    ("limit=many", "Expected `int`, got `str` - at `$.limit`."),
    ("after=b_00000001", "Expected `str` matching regex"),
    ("state=lost", "Invalid enum value 'lost' - at `$.state`."),
    ("colour=red", "Object contains unknown field `colour`."),
    ("players=99999999999999999999", "Expected `int` <= 1000 - at `$.players`."),
)


def test_each_operation_is_named_once() -> None:
    named = [(operation.method, operation.path) for operation in OPERATIONS]
    assert len(named) == len(set(named))


def test_what_is_not_there_is_404_in_json(site: Site) -> None:
    visitor = Program(site)
    for path, words in (
        ("/bots/b_00000000", "There is no such bot."),
        ("/bots/x%00y", "There is no such route."),
        ("/matches/m_00000000", "There is no such match."),
        ("/users/nobody", "There is no such user."),
        ("/maps/m9_999", "There is no such map."),
        ("/nothing", "There is no such route."),
        ("/leaderboard", "There is no such rated competition."),
    ):
        answer = visitor.ask(path, headers={"Accept": "text/html"})
        assert answer.status_code == 404, path
        assert answer.json() == {"error": "not_found", "message": words}
    refused = visitor.ask("/status", "DELETE")
    assert refused.status_code == 405
    assert refused.json()["error"] == "method_not_allowed"
    assert "GET" in refused.headers["Allow"]


def test_what_has_not_changed_is_304(played: Arena, site: Site) -> None:
    visitor = Program(site)
    first = visitor.ask("/leaderboard")
    assert first.headers["Cache-Control"] == "private, no-cache"
    tag = {"If-None-Match": first.headers["ETag"]}
    assert visitor.ask("/leaderboard", headers=tag).status_code == 304
    played.play(1, Random(3))
    assert visitor.ask("/leaderboard", headers=tag).status_code == 200


def test_pages_of_other_sites_may_read_without_cookies(site: Site) -> None:
    site.player("Ann")
    origin = {"Origin": "https://elsewhere.example"}
    answer = Program(site).ask("/status", headers=origin)
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer.headers
    for method, allowed in (("GET", "GET"), ("POST", None), ("PATCH", None)):
        preflight = origin | {"Access-Control-Request-Method": method}
        headers = Program(site).ask("/bots", "OPTIONS", headers=preflight).headers
        assert headers.get("Access-Control-Allow-Methods") == allowed
    browser = site.visitor()
    browser.log_in("Ann")
    assert browser.open("/api/v1/me").status_code == 401


# Bots of the one who asks


def registered(site: Site, program: Program) -> str:
    """Register a bot; return its id."""
    site.open_competition("code-battle")
    answer = program.do("/bots", SWARM)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["bot"]["bot_id"])


def test_a_bot_lives_by_the_api_alone(arena: Arena, site: Site) -> None:
    site.player("Ann")
    ann = program_of(site, "Ann", "read", "bots")
    answer = ann.do("/bots", SWARM)
    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert SECRET.fullmatch(answer.json()["shared_secret"])
    bot = answer.json()["bot"]
    at = f"/bots/{bot['bot_id']}"
    assert (bot["status"], bot["owner"], bot["standing"]["games"]) == ("PENDING", "Ann", 0)
    assert bot["own"]["endpoint"] == NOBODY
    assert bot["own"]["condition"] == {
        "word": "pending",
        "checked_at": None,
        "failed": None,
        "matches": [],
    }
    assert [job for job, *_ in site.queue.jobs] == [bots_service.CHECK]
    changed = ann.do(at, {"description": "swarms still"}, "PATCH").json()
    assert (changed["description"], changed["own"]["endpoint"]) == ("swarms still", NOBODY)
    assert len(site.queue.jobs) == 1
    changed = ann.do(at, {"endpoint": f"{NOBODY}/new"}, "PATCH").json()
    assert (changed["description"], changed["own"]["endpoint"]) == ("swarms still", f"{NOBODY}/new")
    assert ann.do(f"{at}/check").status_code == 202
    assert [job for job, *_ in site.queue.jobs] == [bots_service.CHECK] * 3
    rotated = ann.do(f"{at}/rotate")
    assert rotated.json()["shared_secret"] != answer.json()["shared_secret"]
    assert "rotate" in {line["verb"] for line in rotated.json()["bot"]["own"]["history"]}
    match = ann.do(f"{at}/test-match", {"opponent": "random"})
    assert match.status_code == 201
    assert [seat["name"] for seat in match.json()["match"]["seats"]] == ["random", "Swarm"]
    assert site.queue.jobs[-1][0] == planning.PLAY
    busy = ann.do(f"{at}/test-match", {"opponent": "random"})
    assert (busy.status_code, busy.json()["error"]) == (409, "conflict")
    assert busy.json()["message"] == "Your bot is playing. Try again when its match is over."
    wrong = ann.do(f"{at}/retire", {"name": "swarm"})
    assert wrong.json()["fields"] == {"name": "To retire the bot, confirm with its name, Swarm."}
    assert ann.do(f"{at}/retire", {"name": "Swarm"}).json()["status"] == "RETIRED"
    for verb, body in (("retire", {"name": "Swarm"}), ("check", None), ("rotate", None)):
        late = ann.do(f"{at}/{verb}", body)
        assert late.status_code == 409, verb
        assert late.json()["message"] == "The bot is RETIRED: it cannot do that."
    assert ann.do(at, {"description": ""}, "PATCH").status_code == 409


def test_a_bot_is_refused_with_the_words_of_the_page(site: Site) -> None:
    site.open_competition("code-battle")
    site.player("Ann")
    ann = program_of(site, "Ann", "bots")
    assert ann.do("/bots", SWARM | {"name": "Taken"}).status_code == 201
    for changed, field, words in REFUSED_BOTS:
        site.clock.advance(3600)
        refused = ann.do("/bots", SWARM | changed)
        assert refused.status_code == 422
        assert refused.json() == {"error": "invalid", "message": words, "fields": {field: words}}


REFUSED_BOTS: tuple[tuple[dict[str, object], str, str], ...] = (
    ({"name": ""}, "name", "Please enter a bot name"),
    ({"name": "a b c"}, "name", "The bot name must only contain letters, numbers, and hyphens"),
    ({"endpoint": "ftp://x"}, "endpoint", "Please enter a valid URL"),
    ({"game": "chess"}, "game", "Please choose a game"),
    ({"name": "TAKEN"}, "name", "This bot name is already taken"),
    (
        {"description": "d" * 501},
        "description",
        "The description must be at most 500 characters long",
    ),
    ({"name": 1}, "name", "Expected `str`, got `int`"),
    ({"colour": "red"}, "body", "Object contains unknown field `colour`"),
)


def test_a_body_that_cannot_be_is_refused(site: Site) -> None:
    site.player("Ann")
    ann = program_of(site, "Ann", "bots")
    at = f"/bots/{registered(site, ann)}/test-match"
    for body, code, error in ODD_BODIES:
        site.clock.advance(3600)
        refused = ann.ask(at, "POST", data=body, headers={"Content-Type": "application/json"})
        assert (refused.status_code, refused.json()["error"]) == (code, error), body[:20]
        plain = ann.ask(at, "POST", data=body, headers={"Content-Type": "text/plain"})
        assert plain.status_code in (413, 415)


ODD_BODIES = (
    (b"", 400, "bad_request"),
    (b"{", 400, "bad_request"),
    (b"\xff", 400, "bad_request"),
    (b'{"opponent": "\\ud800"}', 400, "bad_request"),
    (b"[]", 422, "invalid"),
    (b"[" * 60_000, 422, "invalid"),
    (b'{"opponent": "\\u0000"}', 422, "invalid"),
    (b'{"opponent": "nobody"}', 422, "invalid"),
    (b" " * 66_000, 413, "too_large"),
)


def test_others_bots_are_left_alone(site: Site) -> None:
    site.player("Ann")
    site.player("Bob")
    at = f"/bots/{registered(site, program_of(site, 'Ann', 'bots'))}"
    bob = program_of(site, "Bob", "read", "bots")
    assert bob.read(at)["own"] is None
    assert bob.ask(f"{at}/checks").status_code == 403
    for verb, body in BODIES.items():
        refused = bob.do(f"{at}/{verb}".rstrip("/"), body, "POST" if verb else "PATCH")
        assert refused.status_code == 403, verb
        assert refused.json() == {"error": "forbidden", "message": "This is not your bot."}


BODIES = {
    "": {"description": ""},
    "check": None,
    "rotate": None,
    "retire": {"name": "Swarm"},
    "test-match": {"opponent": "random"},
}


def test_an_endpoint_is_for_its_owner_with_read_and_for_admins(site: Site) -> None:
    for name in ("Ann", "Root"):
        site.player(name)
    make_admin(site, "Root")
    ann = program_of(site, "Ann", "bots")
    at = f"/bots/{registered(site, ann)}"
    match = ann.do(f"{at}/test-match", {"opponent": "random"}).json()["match"]["match_id"]
    seeing = (program_of(site, "Ann", "read"), program_of(site, "Root", "admin"))
    blind = (Program(site), ann, program_of(site, "Root", "read", "bots"))
    for program in seeing:
        assert program.read(at)["own"]["endpoint"] == NOBODY
        assert program.read(f"{at}/checks") == {"items": [], "next": None}
        assert len(program.read(f"{at}/matches")["items"]) == 1
        _, own_seat = program.read(f"/matches/{match}")["seats"]
        assert own_seat["own"]["faults"] == []
    for program in blind:
        assert program.read(at)["own"] is None
        assert NOBODY not in program.ask(at).text
        assert program.ask(f"{at}/checks").status_code in (401, 403)
        assert program.read(f"{at}/matches")["items"] == []
        assert program.ask(f"/matches/{match}").status_code == 404


def test_an_admin_suspends_and_restores(site: Site) -> None:
    for name in ("Ann", "Root"):
        site.player(name)
    make_admin(site, "Root")
    bot_id = registered(site, program_of(site, "Ann", "bots"))
    root = program_of(site, "Root", "admin")
    empty = root.do(f"/bots/{bot_id}/suspend", {"reason": " "})
    assert empty.status_code == 422
    suspended = root.do(f"/bots/{bot_id}/suspend", {"reason": "floods us"}).json()
    assert (suspended["status"], suspended["own"]["reason"]) == ("SUSPENDED", "floods us")
    again = root.do(f"/bots/{bot_id}/suspend", {"reason": "floods us"})
    assert again.json()["message"] == "The bot is SUSPENDED: it cannot do that."
    ann = program_of(site, "Ann", "bots")
    assert ann.do(f"/bots/{bot_id}/check").status_code == 409
    assert root.do(f"/bots/{bot_id}/restore").json()["status"] == "PENDING"
    assert root.do(f"/bots/{bot_id}/restore").status_code == 409
    assert root.do("/bots/b_00000000/restore").status_code == 404


def test_who_has_not_confirmed_the_address_registers_none(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.player("Ann")
    ann = program_of(site, "Ann", "bots")
    monkeypatch.setattr("cw_hub.operation.settings.HubSettings.is_local", False)
    refused = ann.do("/bots", SWARM)
    assert refused.status_code == 403
    assert refused.json()["message"].startswith("Please confirm your email address")


# The description


def test_the_description_names_each_route_and_what_it_says_is_there(site: Site) -> None:
    description = Program(site).http.get(f"{site.address}/api/openapi.json").json()
    assert description == describe(site.resources.settings.address, OPERATIONS)
    described = {
        f"{method.upper()} /api/v1{path}"
        for path, operations in description["paths"].items()
        for method in operations
    }
    routes = {
        f"{method} {rule.rule.replace('<', '{').replace('>', '}')}"
        for rule in site.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.rule.startswith("/api/v1/")
    }
    assert described == routes
    named = set(
        re.findall('"#/components/schemas/([^"]+)"', msgspec.json.encode(description).decode())
    )
    assert named == set(description["components"]["schemas"])


def test_the_documentation_names_what_there_is(played: Arena, site: Site) -> None:
    text = DOCUMENTATION.read_text(encoding="utf-8")
    routes = set(re.findall(r"^\| (GET|POST|PATCH) `([^`]+)`", text, re.M))
    assert routes == {(one.method, one.path) for one in OPERATIONS}
    codes = {int(code): word for code, word in re.findall(r"^\| (\d+) \| `(\w+)` \|", text, re.M)}
    assert codes == {code: word for code, word in CODES.items() if code != 500}
    site.player("Ann")
    ann = program_of(site, "Ann")
    examples = re.findall(r"^    (?:GET |curl .*?http://127.0.0.1:8000)/api/v1(/\S+)", text, re.M)
    assert len(examples) == 4
    for path in examples:
        assert ann.ask(path).status_code == 200, path


def test_no_answer_holds_a_token_or_a_secret_again(site: Site) -> None:
    site.open_competition("code-battle")
    site.player("Ann")
    ann = program_of(site, "Ann", "read", "bots")
    payload = ann.do("/bots", SWARM).json()
    at = f"/bots/{payload['bot']['bot_id']}"
    secrets = (payload["shared_secret"], str(ann.http.headers["Authorization"])[7:], PASSWORD)
    for path in ("/me", "/bots", at, f"{at}/checks", f"{at}/matches", "/users/Ann", "/status"):
        text = ann.ask(path).text
        assert not any(secret in text for secret in secrets), path
        assert "ann@example.org" not in text


def test_the_page_of_the_api_says_who_reads_the_checks_of_a_bot(site: Site) -> None:
    words = words_of(site.visitor().open("/api"))
    summary = "Return the steps of the last check of a bot, for its owner and admins alone."
    assert f"/bots/<bot_id>/checks {summary} the owner's, scope read" in words
