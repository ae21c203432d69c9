"""The pages of daily games, over real HTTP: ranking, rows, calendar, graph, Bot settings."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest

from cw.games.registry import load_game
from cw.replays.document import decode
from cw.replays.verify import verify
from cw_hub.accounts import service as accounts_service
from cw_hub.bots import service as bots_service
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily.bots import PROBE, probe_bot
from cw_hub.competitions.daily.service import GAME
from cw_hub.matches.jobs import Worker
from cw_hub.pages.polls import Tags
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Bot, Match, User
from hub.tests.served_bots import Answer, Asked, serving_bots
from hub.tests.sites import PASSWORD, Site, Visitor, words_of

PLAYERS = 14


@pytest.fixture
def played(site: Site) -> str:
    return play_game(site, PLAYERS)


def play_game(site: Site, players: int, name_of: str = "player") -> str:
    """Play a small game of so many more, every other one from Greece; return its name."""
    resources = site.resources
    with resources.database.writing() as session:
        daily_service.begin_site(session)
        competition = competitions_service.named(session, GAME)
        small = {"M": 1, "MAX_HP": 1, "max_rounds": 30}
        competitions_service.set_values(session, competition.id, {"options": small})
        for number in range(players):
            name = f"{name_of}{number}"
            user_id, _ = accounts_service.register(session, name, f"{name}@example.org", "x")
            accounts_service.save_profile(session, user_id, "GR" if number % 2 else None, None)
            bots_service.add_builtin(session, user_id, GAME, name, "sample")
        game = daily_service.begin(session, competition.id)
        row = session.query(Match.id).filter_by(match_id=game).scalar()
    Worker("me", 1, MATCH_TYPES).play(resources, row)
    return game


def test_a_stored_game_holds_no_name_and_its_page_names_who_is_still_here(site: Site) -> None:
    resources, names = site.resources, ("Ada", "Bob")
    ada, _ = (site.player(name) for name in names)
    with resources.database.writing() as session:
        daily_service.begin_site(session)
        competition = competitions_service.named(session, GAME)
        small = {"M": 1, "MAX_HP": 1, "max_rounds": 30}
        competitions_service.set_values(session, competition.id, {"options": small})
        users = {user.username or "": user.id for user in session.query(User)}
        for name, user_id in users.items():
            bots_service.add_builtin(session, user_id, GAME, name, "sample")
        game = daily_service.begin(session, competition.id)
        row = session.query(Match.id).filter_by(match_id=game).scalar()
    Worker("me", 1, MATCH_TYPES).play(resources, row)
    numbers = {user_id: name for name, user_id in users.items()}
    assert named(ada, game) == numbers
    ada.fill("/settings/delete", on="/settings", password=PASSWORD)
    assert not ada.is_player()
    visitor = site.visitor()
    link = visitor.open(f"/match/{game}/replay").headers["Location"]
    replay = decode(visitor.get(urljoin(site.address, link)).content)
    text = str(replay)
    assert not any(name in text for name in names)
    assert {player["player"]: player["name"] for player in replay["players"]} == {
        user_id: f"player{user_id}" for user_id in numbers
    }
    assert verify(load_game(GAME), replay) is None
    assert named(visitor, game) == {**numbers, users["Ada"]: "deleted player"}
    assert f'data-people="/match/{game}/people"' in visitor.open(f"/match/{game}").text


def named(visitor: Visitor, game: str) -> dict[int, str]:
    """Return the names that the page of a game gives to the players of its replay."""
    players = visitor.open(f"/match/{game}/people").json()["people"]
    return {number: name for number, name, *_ in players}


def begin_paint(site: Site) -> tuple[int, str]:
    """Begin a daily game of Paint: Ada has two bots, Bob one, and another that rests."""
    resources = site.resources
    with resources.database.writing() as session:
        competition = competitions_service.new(session, "daily", "paint")
        competitions_service.set_state(session, competition.id, "running")
        competitions_service.set_values(session, competition.id, {"options": {"turns": 20}})
        owners = {name: accounts_service.find_account(session, name) for name in ("Ada", "Bob")}
        for owner, name in (("Ada", "Brush"), ("Bob", "Roller"), ("Ada", "Spray"), ("Bob", "Rest")):
            account = owners[owner]
            assert account
            bots_service.add_builtin(session, account.user_id, "paint", name, "walker")
        session.query(Bot).filter_by(name="Rest").one().status = "INACTIVE"
        game = daily_service.begin(session, competition.id)
        return session.query(Match).filter_by(match_id=game).one().id, game


def test_paint_has_a_daily_game_by_the_same_pages(site: Site) -> None:
    ada = site.player("Ada")
    site.player("Bob")
    row, game = begin_paint(site)
    assert "Game is currently running" in words_of(ada.open("/ranking?game=paint"))
    assert "Game is currently running" in words_of(ada.open(f"/match/{game}"))
    assert ada.open("/ranking/now?game=paint").json()["running"] == game
    Worker("me", 1, MATCH_TYPES).play(site.resources, row)
    page = ada.open("/ranking?game=paint")
    words = words_of(page)
    assert "Ranking of Paint" in words
    assert "Rank Bot Country Score" in words
    assert rows(page.text) == [1, 2, 3]
    assert page.text.count('class="own"') == 2
    for name, owner in (("Brush", "Ada"), ("Roller", "Bob"), ("Spray", "Ada")):
        assert f"{name} {owner}" in words
    assert "Rest" not in words
    assert "You have not set up your bot yet." not in words
    assert "Bot settings" not in words
    assert f"/match/{game}" in page.text
    positions = rows(ada.open("/ranking/rows?game=paint&from=2&to=3").text)
    assert positions == [2, 3]
    days = ada.open("/ranking/calendar?game=paint&month=2026-11").json()
    assert [one["match"] for one in days["2026-11-20"]] == [game]
    # One point for a game, by the better of two bots.
    (point,) = ada.open("/user/Ada/graph?game=paint&period=all").json()
    ranks = [
        int(text)
        for text in re.findall(r'class="own">\s*<td class="rank"><a[^>]*>(\d+)', page.text)
    ]
    assert (point["match"], point["rank"]) == (game, min(ranks))
    assert ada.open("/user/Ada/graph?period=all").json() == []
    map_page = ada.open(f"/match/{game}")
    assert "/ranking?match=" in map_page.text
    assert "data-people" not in map_page.text
    assert ada.open("/ranking").text.count("No game has been played yet.") == 1


def test_an_open_game_says_that_it_is_running(site: Site, played: str) -> None:
    resources, visitor = site.resources, site.visitor()
    tag = visitor.open("/ranking/now").headers["ETag"]
    site.clock.advance(60)
    with resources.database.writing() as session:
        game = daily_service.begin(session, competitions_service.named(session, GAME).id)
    site.app.extensions["tags"] = Tags()
    answer = visitor.open("/ranking/now", headers={"If-None-Match": tag})
    assert answer.json()["running"] == game
    assert answer.json()["last"] == played
    words = words_of(visitor.open("/ranking"))
    assert "Game is currently running" in words
    assert "Next game" not in words
    page = visitor.open(f"/match/{game}")
    assert "Game is currently running" in words_of(page)
    assert 'id="viewer"' not in page.text
    assert visitor.open(f"/ranking?match={game}").status_code == 404
    assert visitor.open(f"/match/{game}/people").status_code == 404


def rows(text: str) -> list[int]:
    return [int(position) for position in re.findall(r'data-position="(\d+)"', text)]


def test_before_the_first_game_the_pages_say_so(site: Site) -> None:
    words = words_of(site.visitor().open("/ranking"))
    assert "No game has been played yet." in words
    assert "No game is planned" in words


def test_visitors_see_ten_rows_and_players_their_notice(site: Site, played: str) -> None:
    page = site.visitor().open("/ranking")
    assert rows(page.text) == list(range(1, 11))
    assert "Last game" in words_of(page)
    assert "Your recent ranking" not in page.text
    mine = site.player("Ada").open("/ranking")
    assert "You have not set up your bot yet." in words_of(mine)
    assert "You are not in this list." in words_of(mine)
    assert "No games in this period." in words_of(mine)
    assert site.visitor().open(f"/match/{played}").status_code == 200


def test_a_country_is_remembered_and_ranks_stay_global(site: Site, played: str) -> None:
    visitor = site.visitor()
    page = visitor.open("/ranking?country=GR")
    assert len(rows(page.text)) == PLAYERS // 2
    assert rows(visitor.open("/ranking").text) == rows(page.text)
    assert rows(visitor.open("/ranking?country=ZZ").text) == list(range(1, 11))
    assert rows(visitor.open("/ranking").text) == rows(page.text)
    assert rows(visitor.open("/ranking?country=all").text) == list(range(1, 11))
    assert "No players from this country." in visitor.open("/ranking?country=JP").text


def test_what_cannot_be_read_is_refused(site: Site, played: str) -> None:
    visitor = site.visitor()
    answers = {
        "/ranking/rows?from=11&to=14": 200,
        "/ranking/rows?from=1&to=11": 400,
        "/ranking/rows?from=0&to=3": 400,
        "/ranking/rows?from=x&to=3": 400,
        "/ranking/calendar?month=2026-13": 400,
        "/ranking/calendar?month=2026-11": 200,
        "/user/player1/graph?period=2w": 400,
        "/user/player1/graph?period=all": 200,
        "/ranking?match=m_00000000": 404,
        f"/ranking?match={played}": 200,
        "/ranking?game=chess": 404,
        "/match/1": 301,
        "/match/2": 404,
        "/bots/end-of-codes/probe": 401,
    }
    assert {path: visitor.open(path).status_code for path in answers} == answers
    assert rows(visitor.open("/ranking/rows?from=11&to=14").text) == [11, 12, 13, 14]
    days = visitor.open("/ranking/calendar?month=2026-11").json()
    assert days == {"2026-11-20": [{"match": played, "at": "2026-11-20T18:00:00Z"}]}
    (point,) = visitor.open("/user/player1/graph?period=10d").json()
    assert (point["match"], point["players"]) == (played, PLAYERS)
    assert visitor.open("/match/1").headers["Location"] == f"/match/{played}"


def test_what_is_going_on_is_told_once(site: Site, played: str) -> None:
    visitor = site.visitor()
    answer = visitor.open("/ranking/now")
    assert answer.json() == {"running": None, "next": "2026-11-21T18:00:00Z", "last": played}
    tag = {"If-None-Match": answer.headers["ETag"]}
    assert visitor.open("/ranking/now", headers=tag).status_code == 304


@pytest.mark.parametrize(
    ("url", "error"),
    [
        (" ", "Please enter your bot URL"),
        ("ftp://h", "Please enter a valid HTTP URL"),
        ("http://u:p@h", "Please enter a valid HTTP URL"),
        ("http://h/", "Please enter a valid HTTP URL"),
        ("http://h?x", "Please enter a valid HTTP URL"),
        ("http://h/" + 492 * "x", "Please enter a valid HTTP URL"),
    ],
)
def test_no_bot_base_is_refused(site: Site, url: str, error: str) -> None:
    ada = site.player("Ada")
    answer = ada.fill("/bots/end-of-codes", endpoint=url, form="urlencoded")
    assert (answer.status_code, error in answer.text) == (422, True)
    assert 'value=""' in ada.open("/bots/end-of-codes").text


def test_a_bot_is_asked_when_it_is_saved_and_its_key_is_its_owners(site: Site) -> None:
    ada = site.player("Ada")
    key = re.search(r'id="api-key" value="([0-9a-f]{32})"', ada.open("/bots/end-of-codes").text)
    assert key
    saved = ada.fill("/bots/end-of-codes", endpoint="http://127.0.0.1:1", form="urlencoded")
    assert saved.status_code == 303
    assert "Your bot is being checked" in words_of(ada.open("/bots/end-of-codes"))
    (arguments_of_job,) = [arguments for job, arguments, _ in site.queue.jobs if job == PROBE]
    probe_bot(site.resources, *arguments_of_job)  # type: ignore[arg-type]
    page = ada.open("/bots/end-of-codes")
    words = words_of(page)
    assert "Your bot is incorrectly configured" in words
    assert "The bot hostname resolves. ✓ The bot IP is accessible in the network. ✗ " in words
    assert '/games/end-of-codes/rules#check-3">Did you port forward correctly?</a>' in page.text
    assert "The bot is responding" not in words
    assert 'id="check-3"' in ada.open("/games/end-of-codes/rules").text
    assert "You have set up a bot, but it doesn't seem to work" in words_of(ada.open("/settings"))
    ada.fill("/bots/end-of-codes/key", on="/bots/end-of-codes")
    assert key[1] not in ada.open("/bots/end-of-codes").text
    bob = site.player("Bob")
    for path in ("/user/Ada", "/ranking", "/bots/end-of-codes"):
        assert "127.0.0.1:1<" not in bob.open(path).text


def test_a_bot_that_asks_for_the_old_key_fails_the_fourth_check(site: Site) -> None:
    ada = site.player("Ada")
    key = re.search(r'id="api-key" value="([0-9a-f]{32})"', ada.open("/bots/end-of-codes").text)
    assert key

    def guarded(asked: Asked) -> Answer | None:
        return None if asked.fields["api_key"] == key[1] else Answer(b"", 403)

    with serving_bots() as served:
        served.behave["Ada"] = guarded
        address = served.at("Ada")
        ada.fill("/bots/end-of-codes", endpoint=address, form="multipart")
        probe(site, ada)
        assert "Your bot is correctly configured" in words_of(ada.open("/bots/end-of-codes"))
        assert "Your bot is working correctly" in words_of(ada.open("/ranking"))
        site.clock.advance(10)
        ada.fill("/bots/end-of-codes/key", on="/bots/end-of-codes")
        probe(site, ada)
    page = ada.open("/bots/end-of-codes")
    assert "#check-4" in page.text
    assert "#check-5" not in page.text
    assert "Your bot is running, but not responding to initiation." in words_of(page)
    pages = ("/user/Ada", "/ranking", "/bots/end-of-codes", "/settings", "/bots", "/user/Ada/card")
    for other in (site.player("Bob"), site.visitor()):
        text = "".join(other.open(path).text for path in pages)
        assert address.removeprefix("http://") not in text
        assert key[1] not in text


def probe(site: Site, player: Visitor) -> None:
    """Open the settings of a bot, and let it be asked as that wants."""
    player.open("/bots/end-of-codes")
    waiting, site.queue.jobs[:] = list(site.queue.jobs), []
    for job, arguments, _ in waiting:
        if job == PROBE:
            probe_bot(site.resources, *arguments)  # type: ignore[arg-type]
