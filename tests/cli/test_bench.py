"""`cw bench` measures what it says; how fast this machine is, is not tested."""

import json
import socket
import subprocess
import sys
from math import inf
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest
import requests

from bench import (
    agents,
    classroom,
    commands,
    envs,
    fast_board,
    match,
    replays,
    report,
    status,
)
from bench.client import connect, get
from bench.plain_server import PLAIN
from bench.rows import INSTALL, Goal, NotMeasured, Row, medians, rate
from bench.server import FIXED, running
from cw.assets import asset
from cw.cli.bench import PARTS
from tests.benches import (
    TINY,
    check,
    check_figures,
    measured_at_once,
    printed,
    run,
    started_processes,  # noqa: F401 - a fixture
)
from tests.tools import YARDSTICKS


@pytest.fixture
def no_yardsticks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pyspiel", "chess", *envs.YARDSTICKS.values(), "kaggle_environments"):
        monkeypatch.setitem(sys.modules, module, None)


def test_fast_board_plays_whole_games() -> None:
    for make in fast_board.OURS.values():
        assert 49 <= make(Random(1))() <= 112


def test_fast_board_gives_a_row_for_each_yardstick() -> None:
    rows = fast_board.rows(TINY)
    check(rows, "fast-board")
    assert {row.yardstick for row in rows} == set(fast_board.YARDSTICKS)
    assert [row.goal for row in rows] == [">= 1 x", ">= 1 x", ""]


@pytest.mark.parametrize("name", fast_board.YARDSTICKS)
def test_a_yardstick_that_is_installed_plays_a_game(name: str) -> None:
    if name not in fast_board.installed():
        YARDSTICKS.missing()
    assert 7 <= fast_board.YARDSTICKS[name](Random(1))() <= 300


def test_environments_play_whole_games_in_the_same_loop() -> None:
    environments = envs.installed()
    if not environments:
        YARDSTICKS.missing()
    assert 9 <= envs.play(environments[envs.OURS], Random(1)) <= 24
    rows = envs.rows(TINY)
    check(rows, "envs")
    assert {row.yardstick for row in rows} == set(envs.YARDSTICKS)


def test_agents_play_a_whole_match() -> None:
    rows = agents.rows(TINY)
    check(rows, "agents")
    assert rows[0].ours


@pytest.mark.usefixtures("no_yardsticks")
def test_without_their_packages_environments_and_agents_leave_rows_open() -> None:
    for row in (*envs.rows(TINY), *agents.rows(TINY)):
        assert (row.theirs, row.ratio, row.note) == (None, None, INSTALL)


@pytest.mark.usefixtures("no_yardsticks")
def test_a_yardstick_that_is_not_installed_leaves_its_row_open() -> None:
    for row in fast_board.rows(TINY):
        assert row.ours
        assert (row.theirs, row.ratio, row.met, row.note) == (None, None, None, INSTALL)
        assert any(INSTALL in cell for cell in report.cells(row))


def test_the_server_offers_fixed_bytes_of_the_same_length_and_ends(
    processes: list[subprocess.Popen[str]],
) -> None:
    with running(*status.MID_GAME) as address:
        connection = connect(address)
        answer = get(connection, "/status")
        fixed = get(connection, FIXED)
        connection.close()
        assert json.loads(answer.body)["status_code"] == 201
        assert len(fixed.body) == len(answer.body)
    assert [process.returncode for process in processes] == [0]
    parts = urlsplit(address)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((parts.hostname, parts.port))


@pytest.mark.thorough
@pytest.mark.usefixtures("processes")
def test_the_plain_server_shows_the_same_status_as_ours() -> None:
    with running(*status.MID_GAME) as ours, running(*status.MOVES, module=PLAIN) as plain:
        documents = [
            requests.get(f"{server}/status", timeout=60).json() for server in (ours, plain)
        ]
    assert documents[0].keys() == documents[1].keys()
    assert [document["status_code"] for document in documents] == [201, 201]
    assert documents[0]["board"] == documents[1]["board"]


def test_the_server_ends_when_the_measurement_fails(processes: list[subprocess.Popen[str]]) -> None:
    with pytest.raises(ZeroDivisionError), running():
        raise ZeroDivisionError
    assert len(processes) == 1


@pytest.mark.usefixtures("processes")
def test_a_server_that_does_not_start_is_explained(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotMeasured, match="too early"), running("--size", "2"):
        pass
    assert "odd" in capfd.readouterr().err


@pytest.mark.thorough
@pytest.mark.usefixtures("processes")
def test_status_compares_fixed_bytes_and_unchanged_answers() -> None:
    rows = status.rows(TINY)
    check(rows, "status")
    assert [row.goal for row in rows] == [">= 0.85 x", "> 1 x", ">= 1 x"]


@pytest.mark.thorough
@pytest.mark.usefixtures("processes")
def test_an_answer_of_another_status_is_no_figure() -> None:
    with running() as address:
        connection = connect(address)
        with pytest.raises(NotMeasured, match="answered 404"):
            status.asking(connection, "/nowhere", 200)()
        connection.close()


@pytest.mark.thorough
@pytest.mark.usefixtures("processes")
def test_classroom_plays_all_games_to_their_end() -> None:
    rows = {row.what: row for row in classroom.rows(TINY)}
    check(list(rows.values()), "classroom")
    assert rows["games ended by time-out"].theirs == TINY.rooms
    median, p99 = rows["latency, median"].ours, rows["latency, p99"].ours
    assert median is not None
    assert p99 is not None
    assert median <= p99
    assert rows["requests reached"].theirs == pytest.approx(30)


@pytest.mark.thorough
@pytest.mark.usefixtures("processes")
def test_match_counts_the_moves_of_two_clients() -> None:
    rows = match.rows(TINY)
    check(rows, "match")
    assert [row.goal for row in rows] == ["", ">= 1 x"]


@pytest.mark.thorough
def test_commands_are_run_to_their_end() -> None:
    rows = commands.rows(TINY)
    check(rows, "commands")
    assert [row.what for row in rows] == list(commands.COMMANDS)
    with pytest.raises(NotMeasured, match="there is no game 'chess'"):
        commands.milliseconds(["-m", "cw", "step", "chess"])


@pytest.mark.parametrize(
    ("ours", "theirs", "aim", "met"),
    [
        (90, 100, Goal(">=", 0.85), True),
        (80, 100, Goal(">=", 0.85), False),
        (100, 100, Goal(">", 1.0), False),
        (99.9, 1, Goal("<", 100, "ours"), True),
        (1, 50, Goal("=", 0, "ours"), False),
        (90, None, Goal(">=", 0.85), None),
        (90, 100, None, None),
    ],
)
def test_goals(ours: float, theirs: float | None, aim: Goal | None, met: bool | None) -> None:
    assert Row("part", "what", ours, "ms", "yardstick", theirs, aim).met is met


@pytest.mark.parametrize(
    ("ours", "aim", "margin"),
    [
        (200, Goal(">=", 1.0), 2),
        (50, Goal(">", 1.0), 0.5),
        (25, Goal("<", 100, "ours"), 4),
        (400, Goal("<=", 2.0), 0.5),
        (0, Goal("<=", 2.0), inf),
        (0, Goal("=", 0, "ours"), inf),
        (1, Goal("=", 0, "ours"), 0),
        (1, None, None),
    ],
)
def test_a_margin_is_below_one_where_a_goal_is_missed(
    ours: float, aim: Goal | None, margin: float | None
) -> None:
    row = Row("part", "what", ours, "ms", "yardstick", 100, aim)
    assert row.margin == margin
    assert row.met is (None if margin is None else margin >= 1)


def test_a_page_says_of_each_part_what_it_missed_or_met_least() -> None:
    def row(part: str, what: str, ours: float | None, aim: Goal | None = None) -> Row:
        return Row(part, what, ours, "ms", "yardstick", 2, aim)

    page = printed(
        [
            row("fast", "easily", 9, Goal(">=", 1.0)),
            row("fast", "just", 2.1, Goal(">=", 1.0)),
            row("slow", "missed", 5, Goal("<=", 4, "ours")),
            row("slow", "met", 1, Goal("<=", 4, "ours")),
            row("slow", "missed too", 9, Goal("<", 4.0)),
            row("open", "no goal", 3),
            row("gone", "no figure", None, Goal("<", 4.0)),
        ]
    )
    assert page[0].endswith(": 3/5 goals met")
    assert [line.split() for line in page[-5:]] == [
        ["fast", "2/2", "just", "1.05", "x", ">=", "1", "x"],
        ["slow", "1/3", "missed", "5", "ms", "<=", "4", "ms"],
        ["missed", "too", "4.5", "x", "<", "4", "x"],
        ["open", "0/0", "no", "goal", "1.5", "x", "none"],
        ["gone", "0/0", "no", "figure", "n/a", "<", "4", "x"],
    ]


def test_the_figures_of_the_documentation_are_of_all_parts_and_fit_on_a_page() -> None:
    check_figures((asset("docs") / "performance.md").read_text("utf-8"), PARTS)


def test_the_median_does_not_mind_one_slow_repeat() -> None:
    figures = {"a": iter([3.0, 900.0, 4.0]), "b": iter([1.0, 2.0, 0.0])}
    runs = {name: values.__next__ for name, values in figures.items()}
    assert medians(runs, 3) == {"a": 4.0, "b": 1.0}


def test_a_rate_is_what_the_steps_count_per_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.rows.perf_counter", iter([0.0, 0.5, 1.0, 2.0]).__next__)
    assert rate(lambda: 5, 1.5) == 15 / 2.0


@pytest.mark.usefixtures("no_yardsticks")
class TestCommand:
    @pytest.fixture(autouse=True)
    def tiny(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("bench.rows.QUICK", TINY)

    def test_json(self) -> None:
        result = run("fast-board", "--quick", "--json")
        assert result.exit_code == 0, result.output
        document = json.loads(result.stdout)
        assert {"date", "cores", "python"} <= document.keys()
        assert document["rows"][0]["goal"] == ">= 1 x"
        assert document["rows"][0]["met"] is None
        assert "fast-board" in result.stderr

    def test_markdown_and_table(self) -> None:
        markdown = run("fast-board", "--quick", "--markdown").stdout.splitlines()
        assert len({line.count("|") for line in markdown[2:]}) == 1
        assert len(markdown) == 2 + 2 + 3
        assert "OpenSpiel" in run("fast-board", "--quick").stdout

    def test_without_parts_all_run_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("cw.cli.bench.extensions", lambda _: ())
        assert measured_at_once(monkeypatch, PARTS) == list(PARTS)
        assert len(json.loads(run("match", "match", "--json").stdout)["rows"]) == 1


def test_an_unknown_part_is_wrong_usage() -> None:
    result = run("coffee")
    assert result.exit_code == 2
    assert "fast-board" in result.stderr


def test_without_the_bench_folder_the_command_says_where_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("cw.cli.bench.asset", tmp_path.joinpath)
    result = run("--quick")
    assert result.exit_code == 2
    assert "clone" in result.stderr


def test_replays_are_smaller_than_with_whole_frames() -> None:
    rows = list(replays.of_game("hexagon", 2))
    check(rows, "replays")
    assert all(row.ratio is not None and row.ratio < 1 for row in rows)
    plain, packed = rows
    assert packed.ours is not None
    assert plain.ours is not None
    assert packed.ours < plain.ours
