"""`cw championship table`: what it prints, and what it says to files that it cannot use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cw.championship.recorded import LONGEST_LINE
from cw.cli import main

EXTRACT = Path(__file__).parents[1] / "league" / "data" / "two_groups.jsonl"


def table(*arguments: str, stdin: str | bytes = b"") -> Result:
    return CliRunner().invoke(main, ["championship", "table", *arguments], input=stdin)


def line(**changed: Any) -> str:
    game = {"group": "A", "player_1": "ann", "player_2": "bob"}
    game |= {"status_code": 301, "score_1": 30, "score_2": 19} | changed
    return json.dumps(game) + "\n"


def read(*lines: str) -> Any:
    done = table("-", "--json", stdin="".join(lines))
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


class TestJson:
    def test_recorded_groups(self) -> None:
        done = table(str(EXTRACT), "--json")
        assert done.exit_code == 0
        groups = json.loads(done.stdout)["groups"]
        assert {name: len(rows) for name, rows in groups.items()} == {"1A": 8, "1B": 8}
        assert groups["1A"][0] == {
            "rank": 1,
            "team": "team05",
            "wins": 14,
            "losses": 0,
            "score_for": 644,
            "score_against": 42,
        }
        firsts = [
            (row["rank"], row["team"], row["wins"], row["score_for"], row["score_against"])
            for row in (groups["1A"][1], *groups["1B"][:2])
        ]
        assert firsts == [
            (2, "team02", 12, 469, 217),
            (1, "team15", 13, 593, 93),
            (2, "team11", 12, 557, 129),
        ]

    def test_figures(self) -> None:
        document = json.loads(table(str(EXTRACT), "--json").stdout)
        figures = document["figures"]["groups"]["1A"]
        assert list(figures) == [row["team"] for row in document["groups"]["1A"]]
        assert figures["team05"]["score_ratio"] == pytest.approx(644 / 686)
        assert figures["team05"]["win_interval"] == pytest.approx([0.7847, 1.0], abs=5e-5)
        assert figures["team05"]["next_within_noise"] is True
        assert figures["team08"]["next_within_noise"] is False
        assert figures["team03"]["next_within_noise"] is None
        assert (document["seats"]["first_wins"], document["seats"]["games"]) == (50, 112)

    @pytest.mark.parametrize("code", [401, 402, 501, 502])
    @pytest.mark.parametrize("size", [5, 7])
    def test_an_unfinished_game_gives_all_squares_to_the_other(self, code: int, size: int) -> None:
        rows = read(line(status_code=code, score_1=3, score_2=8, size=size))["groups"]["A"]
        winner = "bob" if code % 10 == 1 else "ann"
        assert rows[0]["team"] == winner
        assert [(row["score_for"], row["score_against"]) for row in rows] == [
            (size * size, 0),
            (0, size * size),
        ]

    def test_games_of_no_group_stand_by_stage(self) -> None:
        games = [line(), line(group=None, stage="final"), line(group=None), line(group=None)]
        document = read(*games)
        assert list(document["groups"]) == ["A"]
        assert list(document["stages"]) == ["final", "all games"]
        assert document["stages"]["all games"][0]["wins"] == 2

    def test_further_games_stand_in_no_table(self) -> None:
        document = read(line(), line(extra=1))
        assert document["groups"]["A"][0]["wins"] == 1
        assert document["seats"]["games"] == 2

    def test_no_game_is_over(self) -> None:
        assert read() == {
            "groups": {},
            "stages": {},
            "figures": {"groups": {}, "stages": {}},
            "seats": None,
        }

    def test_empty_lines_and_further_members_do_no_harm(self) -> None:
        document = read("\n", line(moves=[[1, "0,0,top"]], note="x"), "  \n")
        assert document["groups"]["A"][0]["team"] == "ann"


class TestText:
    def test_recorded_groups(self) -> None:
        output = table(str(EXTRACT)).stdout
        assert "Group 1A" in output
        assert "Group 1B" in output
        (row,) = (line for line in output.splitlines() if "team05" in line)
        assert row.replace("│", " ").split() == [
            *("1", "team05", "14", "0", "644:42", "93.9%"),
            *("78.5%", "to", "100.0%", "≈"),
        ]
        assert "Player 1 won 50 of 112 games, 44.6% (35.8% to 53.9%): within noise" in output

    def test_names_are_no_markup(self) -> None:
        output = table("-", stdin=line(player_1="[red]ann[/]", group="[b]")).stdout
        assert "[red]ann[/]" in output
        assert "Group [b]" in output

    def test_no_game_is_over(self) -> None:
        assert table("-").stdout == "No match is over yet.\n"


class TestHostile:
    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ("{", "not a result of a game"),
            ("[]", "Expected `object`, got `array`"),
            ("{}", "missing required field `player_1`"),
            ("[" * 100_000, "not a result of a game"),
            (line(player_1=""), "$.player_1"),
            (line(player_1="x" * 101), "$.player_1"),
            (line(player_1="bob"), "bob cannot play against itself"),
            (line(player_1="ann\x1b[31m"), "cannot be printed"),
            (line(group="a\nb"), "cannot be printed"),
            (line(stage="\u202e"), "cannot be printed"),
            (line(group=1), "$.group"),
            (line(status_code=201), "that of a finished game; expected one of 301, 302, 401"),
            (line(status_code=303), "status_code 303 is not"),
            (line(status_code=-99), "$.status_code"),
            (line().replace("301", "9" * 9999), "not a result of a game"),
            (line(status_code=True), "$.status_code"),
            (line(status_code=302), "player 2 cannot have won with 30:19"),
            (line(score_1=19), "player 1 cannot have won with 19:19"),
            (line(score_1=-1), "$.score_1"),
            (line(score_1=962), "$.score_1"),
            (line(score_1=1e400), "not a result of a game"),
            (line(size=33), "$.size"),
            (line(extra=-1), "$.extra"),
            (line(note="x" * LONGEST_LINE), f"longer than {LONGEST_LINE} bytes"),
            (b"\xff\xfe\n", "not a result of a game"),
            (line().replace("ann", "\\ud800"), "line 3"),
        ],
        ids=range(26),
    )
    def test_the_line_is_named(self, text: str | bytes, error: str) -> None:
        good = f"{line()}\n".encode()
        bad = text.encode() if isinstance(text, str) else text
        done = table("-", "--json", stdin=good + bad)
        assert done.exit_code == 2
        assert "line 3: " in done.stderr
        assert error in done.stderr
        assert done.stdout == ""

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        done = table(str(tmp_path / "none.jsonl"))
        assert done.exit_code == 2
        assert "No such file" in done.stderr
