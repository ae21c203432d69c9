"""Every route, status code and error code, over real HTTP with a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any
from urllib.parse import urlencode

import pytest
import requests

from cw import game
from cw.errors import UsageError
from cw.games.circuit_wars.protocol import STATUS
from cw.server.names import HostNames
from cw.server.session import ABSENCE, GITHUB
from cw.server.settings import read_origin
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.fixtures import FakeClock, Serve
from tests.games.circuit_wars.examples import BOUNDARY, SEED_MOVES, SEED_STATUS

KEYS = list(SEED_STATUS)


def allowed(response: requests.Response) -> str | None:
    """Return the origin whose pages may read a response."""
    return response.headers.get("Access-Control-Allow-Origin")


class Server:
    """A running server and a session that asks it."""

    def __init__(self, base: str, clock: FakeClock) -> None:
        self.base = base
        self.clock = clock
        self.session = requests.Session()

    def close(self) -> None:
        self.session.close()

    def ask(self, path: str, **headers: str) -> requests.Response:
        return self.session.get(self.base + path, headers=headers, allow_redirects=False)

    def json(self, path: str) -> Any:
        response = self.ask(path)
        assert response.status_code == 200, response.text
        assert response.headers["Content-Type"] == "application/json"
        assert response.headers["Cache-Control"] == "no-store"
        return response.json()

    def code(self, prefix: str = "") -> int:
        status = self.json(f"{prefix}/status")
        assert list(status) == KEYS
        assert status["status"] == STATUS[status["status_code"]]
        code: int = status["status_code"]
        return code

    def start(self, prefix: str = "") -> None:
        for team in ("a", "b"):
            assert self.json(f"{prefix}/reg/{team}")["response"] == "OK"

    def play(self, moves: list[str], prefix: str = "") -> Any:
        for turn, move in enumerate(moves):
            status = self.json(f"{prefix}/move/{'ab'[turn % 2]}/{move}")
        return status


@pytest.fixture
def make(serve: Serve, clock: FakeClock) -> Iterator[Any]:
    with ExitStack() as servers:

        def build(**settings: Any) -> Server:
            base = serve(create_app(SiteSettings(**{"timeout": 3} | settings), clock))
            return servers.enter_context(closing(Server(base, clock)))

        yield build


@pytest.fixture
def server(make: Any) -> Server:
    instance: Server = make()
    return instance


class TestStatusCodes:
    def test_100_101_201_202(self, server: Server) -> None:
        assert server.code() == 100
        server.json("/reg/a")
        assert server.code() == 101
        server.json("/reg/b")
        assert server.code() == 201
        assert server.json("/move/a/1,2,top")["status_code"] == 202
        assert server.code() == 202
        assert server.json("/move/b/1,2,left")["status_code"] == 201

    def test_302_when_player_2_draws_the_last_boundary_segment(self, server: Server) -> None:
        server.start()
        status = server.play(BOUNDARY)
        assert (status["status_code"], status["score_1"], status["score_2"]) == (302, 0, 49)
        assert status["time_left"] == -1
        assert server.json("/move/a/3,3,top") == status == server.json("/status")

    def test_301_when_player_1_does(self, server: Server) -> None:
        server.start()
        status = server.play(["3,3,top", *BOUNDARY])
        assert (status["status_code"], status["score_1"], status["score_2"]) == (301, 49, 0)

    @pytest.mark.parametrize("move", ["9,9,top", "1,2,up", "x", "1,2", "1,1,bottom"])
    def test_401_402_by_a_move_that_is_no_free_segment(self, server: Server, move: str) -> None:
        server.start()
        before = server.json("/move/a/1,2,top")
        after = server.json(f"/move/b/{move}")
        assert after["status_code"] == 402
        assert after["board"] == before["board"]
        assert after["last_move"] == "1,2,top"
        server.json("/restart")
        server.start()
        assert server.json("/move/a/0,9,top")["status_code"] == 401

    def test_401_402_out_of_turn(self, server: Server) -> None:
        server.start()
        assert server.json("/move/b/1,2,top")["status_code"] == 402
        server.json("/restart")
        server.start()
        server.json("/move/a/1,2,top")
        assert server.json("/move/a/1,3,top")["status_code"] == 401

    def test_401_before_the_game_has_started(self, server: Server) -> None:
        server.json("/reg/a")
        assert server.json("/move/a/1,2,top")["status_code"] == 401
        assert server.json("/reg/b")["error_code"] == 3

    def test_501_502_by_the_clock_whoever_asks(self, server: Server) -> None:
        server.start()
        server.clock.advance(3.0)
        assert server.code() == 201
        server.clock.advance(0.001)
        assert server.code() == 501
        server.json("/restart")
        server.start()
        server.json("/move/a/1,2,top")
        server.clock.advance(3.5)
        late = server.json("/move/b/1,3,top")
        assert (late["status_code"], late["last_move"]) == (502, "1,2,top")

    def test_the_example_of_the_seed(self, server: Server) -> None:
        server.start()
        assert server.play(SEED_MOVES) == SEED_STATUS

    def test_time_left_is_whole_milliseconds(self, server: Server) -> None:
        assert server.json("/status")["time_left"] == -1
        server.json("/reg/a")
        assert server.json("/status")["time_left"] == -1
        server.json("/reg/b")
        assert server.json("/status")["time_left"] == 3000
        server.clock.advance(1.2346)
        assert server.json("/status")["time_left"] == 1766
        server.clock.advance(3)
        assert server.json("/status")["time_left"] == -1


class TestRegistration:
    def test_both_seats_and_every_error_code(self, server: Server) -> None:
        for path in ("/reg/", "/reg/a-b", "/reg/12345678901", "/reg/a/b", "/reg/%C3%A9"):
            refused = server.json(path)
            assert (refused["response"], refused["error_code"]) == ("ERROR", 1)
            assert "1 to 10 letters or digits" in refused["message"]
        assert server.json("/reg/1234567890") == {"response": "OK", "player": 1}
        answer = server.json("/reg/1234567890")
        assert (answer["error_code"], "taken" in answer["message"]) == (2, True)
        assert server.json("/reg/b") == {"response": "OK", "player": 2}
        late = server.json("/reg/c")
        assert (late["error_code"], "already started" in late["message"]) == (3, True)

    def test_github_names_where_they_are_allowed(self, make: Any) -> None:
        server = make(team_ids=GITHUB)
        assert server.json("/reg/octo-cat-" + "x" * 29)["response"] == "OK"
        assert server.json("/reg/" + "x" * 40)["error_code"] == 1
        assert server.json("/reg/a%0A")["error_code"] == 1

    def test_whoever_comes_after_the_end_is_told_so(self, server: Server) -> None:
        server.start()
        server.json("/move/b/1,2,top")
        late = server.json("/reg/c")
        assert (late["error_code"], "the game is over" in late["message"]) == (3, True)


class TestMoves:
    def test_an_unknown_team_is_refused_and_changes_nothing(self, server: Server) -> None:
        server.start()
        before = server.json("/status")
        response = server.ask("/move/zed/1,2,top")
        assert response.status_code == 403
        document = response.json()
        assert "no team 'zed'" in document.pop("error")
        assert document == before == server.json("/status")

    def test_nothing_changes_after_the_end(self, server: Server) -> None:
        server.start()
        ended = server.json("/move/b/1,2,top")
        for path in ("/move/a/1,2,top", "/move/b/1,2,top", "/move/a/nonsense"):
            assert server.json(path) == ended

    @pytest.mark.parametrize("end", ["%0A", "%00", "/", "%20", "%0D%0A"])
    def test_a_move_that_cannot_be_read_is_illegal(self, server: Server, end: str) -> None:
        server.start()
        assert server.json(f"/move/a/1,2,top{end}")["status_code"] == 401

    def test_both_names_of_a_segment_and_the_move_as_it_was_sent(self, server: Server) -> None:
        server.start()
        assert server.json("/move/a/1,1,bottom")["last_move"] == "1,1,bottom"
        assert server.json("/move/b/1,2,top")["status_code"] == 402


class TestRestart:
    def test_it_forgets_both_teams(self, server: Server) -> None:
        server.start()
        server.json("/move/a/1,2,top")
        status = server.json("/restart")
        assert (status["status_code"], status["last_move"]) == (100, "")
        assert not any(map(any, status["board"]))
        server.start()

    @pytest.mark.parametrize("prefix", ["", "/rooms/x"])
    @pytest.mark.parametrize("form", ["{}", 'W/"{}"', '"{}"'])
    def test_only_what_was_seen_is_forgotten(self, server: Server, prefix: str, form: str) -> None:
        server.start(prefix)
        tag = server.ask(f"{prefix}/status").headers["ETag"]
        seen = form.format(tag.removeprefix("W/").strip('"'))
        path = f"{prefix}/restart?{urlencode({'seen': seen})}"
        assert server.json(path)["status_code"] == 100
        server.json(f"{prefix}/reg/c")
        refused = server.ask(path)
        assert (refused.status_code, refused.headers["Cache-Control"]) == (409, "no-store")
        assert list(refused.json()) == [*KEYS, "error"]
        assert refused.json()["status_code"] == 101
        assert "has changed since you looked" in refused.json()["error"]
        assert server.json(f"{prefix}/history")["teams"] == ["c"]

    def test_the_answer_to_a_registration_has_the_tag_of_what_began_with_it(
        self, server: Server
    ) -> None:
        for team in "ab":
            tag = server.ask(f"/reg/{team}").headers["ETag"]
            assert server.ask("/status").headers["ETag"] == tag
        assert "ETag" not in server.ask("/reg/c").headers

    def test_whoever_waits_gives_the_own_seat_back_unless_somebody_has_come(
        self, server: Server
    ) -> None:
        own = urlencode({"seen": server.ask("/reg/a").headers["ETag"]})
        assert server.json(f"/restart?{own}")["status_code"] == 100
        own = urlencode({"seen": server.ask("/reg/a").headers["ETag"]})
        server.json("/reg/b")
        assert server.ask(f"/restart?{own}").status_code == 409
        assert server.code() == 201

    @pytest.mark.parametrize(
        "seen",
        ["", "0", "*", "W/", '""', "x" * 9000, "%00", "%ff", "0" * 12, "g" * 12 + "-1", "-1"],
    )
    def test_what_is_no_tag_restarts_nothing(self, server: Server, seen: str) -> None:
        server.start()
        answer = server.ask(f"/restart?seen={seen}")
        assert (answer.status_code, "must be the ETag" in answer.json()["error"]) == (400, True)
        assert server.code() == 201

    @pytest.mark.parametrize("tag", ["0" * 12 + "-1", "0" * 12 + "-" + "9" * 9000])
    def test_a_tag_of_an_earlier_run_restarts_nothing(self, server: Server, tag: str) -> None:
        server.start()
        assert server.ask(f"/restart?seen={tag}").status_code == 409
        assert server.code() == 201

    def test_it_can_be_removed(self, make: Any) -> None:
        server = make(restart=False)
        server.start()
        response = server.ask("/restart")
        assert (response.status_code, "turned off" in response.json()["error"]) == (404, True)
        assert server.ask("/rooms/x/restart").status_code == 404
        assert server.ask("/restart?seen=any").status_code == 404
        assert server.code() == 201


class TestNotModified:
    def test_an_unchanged_board_costs_a_304_while_the_clock_runs(self, server: Server) -> None:
        server.start()
        first = server.ask("/status")
        server.clock.advance(1)
        again = server.ask("/status", **{"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"]
        assert "Connection" not in again.headers

    def test_every_change_gives_the_document(self, server: Server) -> None:
        tag = server.ask("/status").headers["ETag"]
        for change in ("/reg/a", "/reg/b", "/move/a/1,2,top", "", "/restart"):
            if change:
                server.json(change)
            else:
                server.clock.advance(4)
            response = server.ask("/status", **{"If-None-Match": tag})
            assert response.status_code == 200
            tag = response.headers["ETag"]

    def test_a_tag_that_begins_like_the_right_one_does_not_match(self, server: Server) -> None:
        tag = server.ask("/status").headers["ETag"]
        for other in (tag[:-1] + '0"', tag.replace("W/", "")[:-2] + '"', "*", ""):
            assert server.ask("/status", **{"If-None-Match": other}).status_code == 200

    def test_the_connection_is_closed_when_the_client_asks_for_it(self, server: Server) -> None:
        tag = server.ask("/status").headers["ETag"]
        response = server.ask("/status", **{"If-None-Match": tag, "Connection": "close"})
        assert (response.status_code, response.headers["Connection"]) == (304, "close")


class TestHistory:
    def test_teams_moves_and_points(self, server: Server) -> None:
        assert server.json("/history") == {
            "teams": [],
            "limit": 3000,
            "moves": [],
            "fault": None,
            "replay": None,
        }
        server.start()
        server.play(SEED_MOVES)
        history = server.json("/history")
        assert history["teams"] == ["a", "b"]
        assert [move for _, move, _ in history["moves"]] == SEED_MOVES
        assert [player for player, _, _ in history["moves"]] == [1, 2] * 9
        points = [points for _, _, points in history["moves"]]
        assert (sum(points[0::2]), sum(points[1::2])) == (3, 4)

    def test_what_ended_the_game(self, server: Server) -> None:
        server.start()
        server.json("/move/a/9,9,top")
        assert server.json("/history")["fault"] == {
            "player": 1,
            "kind": "illegal",
            "detail": "9,9,top is off the board: x and y go from 0 to 6",
        }


class TestRooms:
    def test_a_room_is_a_game_of_its_own(self, server: Server) -> None:
        server.start("/rooms/table-4")
        server.json("/rooms/table-4/move/a/1,2,top")
        assert server.code("/rooms/table-4") == 202
        assert server.code() == 100
        assert server.code("/rooms/table-5") == 100
        assert server.json("/rooms/table-5/history")["teams"] == []
        server.json("/rooms/table-4/restart")
        assert server.code("/rooms/table-4") == 100

    def test_a_room_is_made_by_its_first_registration_only(self, server: Server) -> None:
        assert server.ask("/rooms/x/move/a/1,2,top").status_code == 403
        server.json("/rooms/x/restart")
        tag = server.ask("/rooms/x/status").headers["ETag"]
        assert server.ask("/rooms/y/status").headers["ETag"] == tag
        server.json("/rooms/x/reg/a")
        assert server.code("/rooms/y") == 100

    @pytest.mark.parametrize("room", ["X", "a_b", "a" * 33, "%20", "é", "a%2Fb", "%00", "a%0A"])
    def test_other_names_are_no_rooms(self, server: Server, room: str) -> None:
        assert server.ask(f"/rooms/{room}/status").status_code == 404
        assert server.ask(f"/rooms/{room}/reg/a").status_code == 404

    def test_its_monitor_has_an_address_that_ends_in_a_slash(self, server: Server) -> None:
        response = server.ask("/rooms/x")
        assert (response.status_code, response.headers["Location"][-9:]) == (308, "/rooms/x/")
        assert server.ask("/rooms/x/").status_code == 200

    def test_rooms_can_be_turned_off(self, make: Any) -> None:
        assert make(rooms=False).ask("/rooms/x/status").status_code == 404

    def test_at_most_256_and_the_oldest_finished_makes_room(self, server: Server) -> None:
        for number in range(256):
            server.json(f"/rooms/r{number}/reg/a")
        full = server.ask("/rooms/more/reg/a")
        assert (full.status_code, "all 256 rooms" in full.json()["error"]) == (503, True)
        assert server.json("/rooms/r7/reg/b")["player"] == 2
        server.json("/rooms/r9/reg/b")
        server.json("/rooms/r9/move/b/1,2,top")
        server.clock.advance(1)
        server.json("/rooms/r7/move/b/1,2,top")
        server.json("/rooms/more/reg/a")
        assert server.code("/rooms/more") == 101
        assert server.code("/rooms/r7") == 402
        assert server.code("/rooms/r9") == 100

    def test_an_idle_hour_makes_room(self, make: Any) -> None:
        server = make(timeout=-1)
        for number in range(256):
            server.json(f"/rooms/r{number}/reg/a")
        server.clock.advance(3600)
        assert server.ask("/rooms/more/reg/a").status_code == 503
        server.clock.advance(1)
        assert server.json("/rooms/more/reg/a")["player"] == 1
        assert server.code("/rooms/r0") == 100


class TestVanishedTeams:
    def test_a_program_that_asks_for_the_status_keeps_its_seat(self, server: Server) -> None:
        server.json("/rooms/x/reg/a")
        for _ in range(3):
            server.clock.advance(ABSENCE)
            assert server.code("/rooms/x") == 101

    @pytest.mark.parametrize(
        "browser",
        [
            {"Sec-Fetch-Mode": "cors"},  # `fetch` of Node
            {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"},
            {"X-Requested-With": "XMLHttpRequest"},  # jQuery
        ],
    )
    def test_so_does_a_page_that_plays(self, server: Server, browser: dict[str, str]) -> None:
        assert server.ask("/reg/a", **browser).json()["player"] == 1
        for _ in range(3):
            server.clock.advance(ABSENCE)
            assert server.ask("/status", **browser).json()["status_code"] == 101

    def test_a_monitor_keeps_no_seat(self, server: Server) -> None:
        server.json("/reg/a")
        server.clock.advance(ABSENCE)
        monitor = {"X-Monitor": "1", "X-Requested-With": "XMLHttpRequest", "Sec-Fetch-Mode": "cors"}
        assert server.ask("/status", **monitor).json()["status_code"] == 101
        server.clock.advance(1)
        assert server.code() == 100
        assert server.json("/reg/a")["player"] == 1


class TestBrowsers:
    @pytest.mark.parametrize(
        "headers",
        [
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:1"},
            {"Host": "evil.example"},
            {"Host": "evil.example:5000"},
            {"Host": "127.0.0.1.evil.example"},
            {"Host": "[::"},
            {"Host": ""},
        ],
    )
    def test_no_other_site_can_play_or_restart(
        self, server: Server, headers: dict[str, str]
    ) -> None:
        server.start()
        before = server.json("/status")
        for path in ("/move/a/1,2,top", "/restart", "/reg/c", "/rooms/x/reg/c"):
            response = server.ask(path, **headers)
            assert (response.status_code, bool(response.json()["error"])) == (403, True)
        assert server.json("/status") == before

    def test_our_own_page_can(self, server: Server) -> None:
        own = {"Origin": server.base, "Sec-Fetch-Site": "same-origin"}
        assert server.ask("/reg/a", **own).json()["response"] == "OK"
        typed = {"Sec-Fetch-Site": "none"}
        assert server.ask("/restart", **typed).json()["status_code"] == 100

    def test_localhost_is_ours_too(self, server: Server) -> None:
        port = server.base.rpartition(":")[2]
        host = f"localhost:{port}"
        own = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
        assert server.ask("/reg/a", **own).json()["response"] == "OK"

    def test_further_names_and_addresses_where_they_are_allowed(self, make: Any) -> None:
        server = make(names=HostNames.of("0.0.0.0", "arena.local"))
        assert server.ask("/reg/a", Host="Arena.local:5000").status_code == 200
        assert server.ask("/restart", Host="192.168.7.9:5000").status_code == 200
        assert server.ask("/restart", Host="evil.example").status_code == 403

    def test_the_refusal_of_a_name_says_what_came_and_what_to_do(self, make: Any) -> None:
        server = make(further_names=", or do this")
        words = (
            "this server is not called 'evil.example': use the address that it printed, or do this"
        )
        answer = server.ask("/games/", Host="evil.example")
        assert (answer.status_code, answer.json()) == (403, {"error": words})
        answer = server.ask("/games/", Host="evil.example", Accept="text/html")
        assert answer.text == words
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"

    def test_other_origins_may_read_the_status_and_that_they_may_not_play(
        self, server: Server
    ) -> None:
        origin = {"Origin": "http://other.example", "Sec-Fetch-Site": "cross-site"}
        for path in ("/status", "/rooms/x/status"):
            answer = server.ask(path, **origin)
            assert (answer.status_code, allowed(answer)) == (200, origin["Origin"])
        for path in ("/reg/a", "/move/a/1,2,top", "/restart", "/rooms/x/reg/a", "/rooms/x/restart"):
            answer = server.ask(path, **origin)
            assert (answer.status_code, allowed(answer)) == (403, origin["Origin"])
            assert "--allow-origin" in answer.json()["error"]
        for path in ("/", "/history", "/rooms/x/history", "/register", "/statuses", "/rooms/"):
            assert allowed(server.ask(path, **origin)) is None

    @pytest.mark.parametrize("origin", ["http://other.example", "http://[::1]:3000"])
    @pytest.mark.parametrize("prefix", ["", "/rooms/x"])
    def test_an_origin_that_is_let_in_plays(self, make: Any, origin: str, prefix: str) -> None:
        server = make(origins=frozenset({origin}))
        page = {"Origin": origin, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
        for path in ("/reg/a", "/reg/b", "/move/a/1,2,top", "/history", "/status", "/restart"):
            answer = server.ask(f"{prefix}{path}", **page)
            assert (answer.status_code, allowed(answer)) == (200, origin)
        assert server.code(prefix) == 100

    def test_no_other_origin_is_let_in_with_it(self, make: Any) -> None:
        server = make(origins=frozenset({"http://other.example"}))
        for origin in (
            "http://other.example:81",
            "https://other.example",
            "http://other.example.evil.example",
            "http://another.example",
            "http://otherxexample",
            "null",
        ):
            assert server.ask("/reg/a", Origin=origin).status_code == 403
            assert allowed(server.ask("/history", Origin=origin)) is None
        friend = {"Origin": "http://other.example", "Host": "evil.example"}
        assert server.ask("/reg/a", **friend).status_code == 403
        # An image or a link on its page sends no Origin.
        assert server.ask("/reg/a", **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert server.code() == 100

    def test_it_may_play_and_nothing_else(self, make: Any) -> None:
        server = make(origins=frozenset({"http://other.example"}))
        answer = server.session.post(
            f"{server.base}/games/paint/matches", headers={"Origin": "http://other.example"}
        )
        assert (answer.status_code, allowed(answer)) == (403, None)

    @pytest.mark.parametrize("path", ["/reg/a", "/move/a/1,2,top", "/restart", "/rooms/x/reg/a"])
    def test_a_preflight_is_answered(self, make: Any, path: str) -> None:
        server = make(origins=frozenset({"http://other.example"}))
        answer = server.session.options(
            f"{server.base}{path}",
            headers={
                "Origin": "http://other.example",
                "Access-Control-Request-Method": "GET",
                "Access-Control-Request-Headers": "x-mine",
            },
        )
        assert (answer.status_code, allowed(answer)) == (200, "http://other.example")
        assert answer.headers["Access-Control-Allow-Methods"] == "GET"
        assert answer.headers["Access-Control-Allow-Headers"] == "x-mine"
        assert server.code() == 100

    @pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
    def test_only_get_changes_anything(self, server: Server, method: str) -> None:
        server.start()
        before = server.json("/status")
        for path in ("/move/a/1,2,top", "/restart"):
            server.session.request(method, server.base + path)
        assert server.json("/status") == before

    def test_a_refused_method_names_those_that_are_allowed(self, server: Server) -> None:
        answer = server.session.head(f"{server.base}/reg/a")
        assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, OPTIONS")

    def test_pages_forbid_foreign_and_inline_script(self, server: Server) -> None:
        policy = server.ask("/").headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy


class TestSettings:
    @pytest.mark.parametrize("timeout", [0, -2, float("nan"), "3", True])
    def test_a_time_limit_is_a_positive_number_or_minus_one(self, timeout: Any) -> None:
        with pytest.raises(UsageError, match="time limit"):
            create_app(SiteSettings(timeout=timeout))

    def test_the_timeout_of_the_students_file_is_read_when_the_app_is_made(
        self, monkeypatch: pytest.MonkeyPatch, clock: FakeClock, serve: Serve
    ) -> None:
        for timeout, expected in ((7, 7000), (0.5, 500), (-1, -1)):
            monkeypatch.setattr(game, "TIMEOUT", timeout)
            with closing(Server(serve(create_app(clock=clock)), clock)) as server:
                server.start()
                assert server.json("/status")["time_left"] == expected

    def test_without_a_limit_nobody_is_late(self, make: Any) -> None:
        server = make(timeout=-1)
        server.start()
        server.clock.advance(10**6)
        assert server.code() == 201

    def test_size(self, make: Any) -> None:
        status = make(size=31).json("/status")
        assert (status["board_size"], len(status["board"])) == (31, 31)
        with pytest.raises(UsageError, match="odd"):
            make(size=6)


class TestOrigins:
    @pytest.mark.parametrize(
        ("text", "origin"),
        [
            ("http://localhost:3000", "http://localhost:3000"),
            ("HTTPS://Team.Example", "https://team.example"),
            ("http://team.example:80", "http://team.example"),
            ("https://team.example:80", "https://team.example:80"),
            ("http://[0:0::1]:8000", "http://[::1]:8000"),
        ],
    )
    def test_they_are_as_browsers_send_them(self, text: str, origin: str) -> None:
        assert read_origin(text) == origin

    @pytest.mark.parametrize(
        "text",
        [
            *("", "*", "null", "localhost", "localhost:3000", "http://", "http://*", "ftp://x"),
            *("http://x/", "http://x/page", "http://x?a", "http://x#a", "http://a@x", " http://x"),
            *("http://x:", "http://x:99999", "http://[::", "http://[x]", "http://é.example"),
            *("file:///tmp/bot.html", "http://x\n", "http://x,http://y"),
        ],
    )
    def test_anything_else_is_refused(self, text: str) -> None:
        with pytest.raises(UsageError, match="is not an origin"):
            read_origin(text)


class TestErrors:
    @pytest.mark.parametrize(
        "path", ["/nope", "/move", "/move//", "/rooms/X/", "/static/", "/static/../cw/game.py"]
    )
    def test_an_unknown_page_says_which_there_are(self, server: Server, path: str) -> None:
        response = server.ask(path)
        assert response.status_code == 404
        assert "error" in response.json()
