"""Two clients that are started while others play meet each other, whoever asks first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from threading import Condition, Thread
from types import SimpleNamespace
from typing import Any, Final

import pytest
import requests
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from cw.cli.bots import join
from cw.errors import Failure
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.effort import amount
from tests.fixtures import FakeClock, Serve
from tests.server.served import Served, serving_process
from tests.test_clients import start

ROOT: Final = Path(__file__).resolve().parents[1]
PATIENCE: Final = 300.0
AT_ONCE: Final = 4

FAREWELL: Final = "\nFAREWELL = 1\n"
LONG_FAREWELL: Final = "\nFAREWELL = 5\n"
"""On a busy machine a second may be too short for a player to see that its match is over."""


def client(server: str) -> Any:
    """Return game_ai.py as a module of its own, which plays at a server without pauses."""
    spec = spec_from_file_location("game_ai", ROOT / "game_ai.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.__dict__.update(SERVER=server, PAUSE=0.0, FAREWELL=0.0)
    return module


# In every order of their requests

CLIENTS: Final = {name: client("") for name in "abc"}


Choose = Callable[[Sequence[str]], str]


@dataclass
class Turns:
    """Lets clients ask one at a time, in an order that the test chooses."""

    app: Flask
    choose: Choose
    busy: set[str] = field(default_factory=set)
    """Clients that do something else than wait for their turn."""
    asking: set[str] = field(default_factory=set)
    idle: set[str] = field(default_factory=set)
    """Clients that will ask again when the game has changed."""
    turn: str | None = None
    is_over: bool = False
    changed: Condition = field(default_factory=Condition)

    def get(self, name: str, url: str, params: dict[str, str] | None = None) -> requests.Response:
        """Ask the app for a path, when it is the turn of the client."""
        self._wait(name, self.asking)
        before = self.tag()
        answer = self.app.test_client().get(url, query_string=params)
        if self.tag() != before:
            with self.changed:
                self.asking |= self.idle
                self.idle.clear()
        response = requests.Response()
        response.status_code = answer.status_code
        response.headers.update(answer.headers)
        response._content = answer.data
        return response

    def tag(self) -> str:
        """Return the tag of the game."""
        return self.app.test_client().get("/status").headers["ETag"]

    def sleep(self, name: str, seconds: float) -> None:
        """Wait until the game has changed, and for the next turn."""
        if seconds:
            self._wait(name, self.idle)

    def _wait(self, name: str, place: set[str]) -> None:
        with self.changed:
            self.busy.discard(name)
            place.add(name)
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.turn == name or self.is_over)
            if self.is_over:
                raise SystemExit
            self.turn = None

    def run(self, clients: dict[str, Callable[[], object]]) -> None:
        """Run clients until all have ended, or the others wait for something that does not come."""
        self.busy |= set(clients)
        threads = [Thread(target=self._live, args=item) for item in clients.items()]
        for thread in threads:
            thread.start()
        with self.changed:
            while True:
                self.changed.wait_for(lambda: not self.busy)
                if not self.asking:
                    break
                self.turn = self.choose(sorted(self.asking))
                self.asking.discard(self.turn)
                self.busy.add(self.turn)
                self.changed.notify_all()
            self.is_over = True
            self.changed.notify_all()
        for thread in threads:
            thread.join()

    def _live(self, name: str, act: Callable[[], object]) -> None:
        try:
            act()
        except SystemExit:
            pass
        finally:
            with self.changed:
                self.busy.discard(name)
                self.changed.notify_all()


def every_order() -> Iterator[Choose]:
    """Yield choices until there are no others: each takes one more branch of the tree of turns."""
    begin: list[int] = []
    while True:
        taken: list[tuple[int, int]] = []

        def choose(asking: Sequence[str], begin: list[int] = begin, taken: Any = taken) -> str:
            at = begin[len(taken)] if len(taken) < len(begin) else 0
            taken.append((at, len(asking)))
            return asking[at]

        yield choose
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        if not taken:
            return
        begin = [at for at, _ in taken[:-1]] + [taken[-1][0] + 1]


def set_up(app: Flask, state: str) -> None:
    """Bring the game of an app into a state."""
    ask = app.test_client().get
    ask("/restart")
    teams = {
        "empty": (),
        "one waits": ("old",),
        "running": ("old", "older"),
        "over": ("old", "older"),
    }
    for team in teams[state]:
        ask(f"/reg/{team}")
    if state == "over":
        ask("/move/old/9,9,top")


def meet(app: Flask, state: str, names: str, choose: Choose) -> dict[str, Any]:
    """Let clients register, in the order of requests that is chosen; return the seats they have."""
    set_up(app, state)
    turns, seats = Turns(app, choose), dict[str, Any]()

    def register(name: str) -> None:
        module = CLIENTS[name]
        module.session = SimpleNamespace(
            get=lambda url, params, timeout: turns.get(name, url, params)  # noqa: ARG005
        )
        module.time = SimpleNamespace(sleep=lambda seconds: turns.sleep(name, seconds))
        seats[name] = module.register(name)

    clients: dict[str, Callable[[], object]] = {name: partial(register, name) for name in names}
    if state == "running":
        clients["older"] = partial(turns.get, "older", "/move/older/0,0,top")
    turns.run(clients)
    return seats


def teams_of(app: Flask) -> set[str]:
    """Return the teams that play at an app."""
    history: Any = app.test_client().get("/history").json
    return set(history["teams"])


@pytest.mark.parametrize(
    ("state", "orders"),
    [
        ("over", 50),
        pytest.param("running", 100, marks=pytest.mark.thorough),
        ("empty", 2),
    ],
)
def test_two_clients_meet_in_every_order_of_their_requests(
    clock: FakeClock, state: str, orders: int
) -> None:
    app, tried = create_app(SiteSettings(timeout=3), clock), 0
    for choose in every_order():
        seats = meet(app, state, "ab", choose)
        assert {seat.player for seat in seats.values()} == {1, 2}
        assert teams_of(app) == {"a", "b"}
        tried += 1
    assert tried >= orders


@given(
    random=st.randoms(use_true_random=False), state=st.sampled_from(["over", "running", "empty"])
)
def test_of_three_clients_two_meet_and_the_third_waits(random: Random, state: str) -> None:
    app = create_app(SiteSettings(timeout=3), FakeClock())
    seats = meet(app, state, "abc", random.choice)
    assert sorted(seat.player for seat in seats.values()) == [1, 2]
    assert teams_of(app) == set(seats)


# After a restart by somebody who did not look


def test_a_client_does_not_play_in_a_match_of_others(serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=-1)))
    module, seat = client(server), client(server).register("alice")
    built_in = join.Server(f"{server}/rooms/x")
    place = join.take_seat(built_in, "greedy", 0)
    for prefix in (server, f"{server}/rooms/x"):
        for path in ("restart", "reg/bob", "reg/carol"):
            ask(prefix, path)
    assert module.play("alice", seat) is None
    assert join.play(built_in, "greedy", "greedy", place, 0, 0) is None
    for prefix in (server, f"{server}/rooms/x"):
        assert ask(prefix, "history")["moves"] == []
        assert ask(prefix, "status")["status_code"] == 201


def test_a_client_whose_match_is_restarted_says_so(serve: Serve) -> None:
    server = serve(create_app(SiteSettings(timeout=-1)))
    module = client(server)
    seat = module.register("alice")
    built_in = join.Server(f"{server}/rooms/x")
    place = join.take_seat(built_in, "greedy", 0)
    for prefix in (server, f"{server}/rooms/x"):
        ask(prefix, "reg/bob")
    with ThreadPoolExecutor(1) as threads:
        for prefix, play, failure, says in (
            (server, partial(module.play, "alice", seat), SystemExit, "run this again"),
            (
                f"{server}/rooms/x",
                partial(join.play, built_in, "greedy", "greedy", place, 0, 0),
                Failure,
                "join again",
            ),
        ):
            playing = threads.submit(play)
            until = time.monotonic() + PATIENCE
            while not ask(prefix, "history")["moves"]:
                assert time.monotonic() < until
            ask(prefix, "restart")
            with pytest.raises(failure, match=says):
                playing.result(PATIENCE)


# On the real server


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    # No client is late, however long it takes to start.
    options = ("--size", "1", "--timeout", "-1")
    with serving_process(tmp_path_factory.mktemp("served"), *options) as server:
        yield server


def ask(server: str, path: str) -> Any:
    return requests.get(f"{server}/{path}", timeout=PATIENCE).json()


def start_at_any_moment(server: str, seed: int) -> None:
    """Start two clients around the end of a match of others, and let them play to the end."""
    rng = Random(seed)
    ask(server, "restart")
    for team in ("old", "older"):
        ask(server, f"reg/{team}")

    def wait_and(act: Callable[[], Any]) -> Any:
        time.sleep(rng.choice((0.0, 0.0, rng.random() / 20)))
        return act()

    def play(team: str) -> tuple[int, dict[str, Any]]:
        module = client(server)
        seat = module.register(team)
        while (status := module.play(team, seat)) is None:
            seat = module.register(team)
        return seat.player, status

    with ThreadPoolExecutor(3) as threads:
        ending = threads.submit(wait_and, lambda: ask(server, "move/old/9,9,top"))
        players = [threads.submit(wait_and, partial(play, team)) for team in "ab"]
        ending.result()
        (one, status), (two, other) = [player.result(PATIENCE) for player in players]
    assert {one, two} == {1, 2}, seed
    assert status == other, seed
    assert status["status_code"] == 302, seed
    assert set(ask(server, "history")["teams"]) == {"a", "b"}, seed


def test_two_clients_that_are_started_at_any_moment_play_each_other(served: Served) -> None:
    """Two hundred times of two hundred: in rooms, so that several starts share the machine."""

    def starts(room: int) -> None:
        for seed in range(room, amount(24, 200), AT_ONCE):
            start_at_any_moment(f"{served.address}/rooms/r{room}", seed)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(starts, range(AT_ONCE)))


@pytest.mark.parametrize("is_over", [False, True])
def test_three_programs_started_at_once(served: Served, is_over: bool, tmp_path: Path) -> None:
    source = (ROOT / "game_ai.py").read_text(encoding="utf-8")
    assert FAREWELL in source
    file = tmp_path / "game_ai.py"
    file.write_text(source.replace(FAREWELL, LONG_FAREWELL), encoding="utf-8")
    room = f"{served.address}/rooms/three-{is_over}".lower()
    for team in ("old", "older"):
        ask(room, f"reg/{team}")
    if is_over:
        ask(room, "move/old/9,9,top")
    programs = {team: start(room, str(file), team) for team in ("a", "b", "c")}
    try:
        if not is_over:
            for program in programs.values():
                assert program.stdout is not None
                assert program.stdout.readline().startswith("Waiting for the end of the match")
            ask(room, "move/old/9,9,top")
        until = time.monotonic() + PATIENCE
        while sum(program.poll() is None for program in programs.values()) > 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        (third,) = [team for team, program in programs.items() if program.poll() is None]
        programs["d"] = start(room, str(file), "d")
        outputs = {team: program.communicate(timeout=300) for team, program in programs.items()}
    finally:
        for program in programs.values():
            program.kill()
            program.communicate()
    assert {program.returncode for program in programs.values()} == {0}, outputs
    results = {team: out.splitlines()[-1] for team, (out, _) in outputs.items()}
    assert sorted(results.values()) == ["You lost.", "You lost.", "You won.", "You won."]
    assert {results[third], results["d"]} == {"You lost.", "You won."}
    if is_over:
        assert "Waiting for" in outputs[third][0]
