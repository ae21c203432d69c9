"""`cw league`: bots of a folder that play on, change meanwhile, and are killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from cw.lab.journal import opened
from cw.lab.league import Field, Planner, read_league
from cw.lab.versions import Store
from cw.matches.spec import Isolation
from tests.effort import amount
from tests.lab.journals import matches, wait_for
from tests.matches.bots_of_games import PAINT
from tests.patience import PROGRAM

pytestmark = pytest.mark.usefixtures("patient_painters")

NEEDS_LINKS = pytest.mark.skipif(os.name != "posix", reason="needs links")
SHORT = ("--game", "paint", "--option", "turns=6")
STORE = Path("bots", ".league")
JOURNAL = STORE / "matches.jsonl"


@pytest.fixture(autouse=True)
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work where the folder of a league is, with two bots."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "bots"
    (folder / "down").mkdir(parents=True)
    (folder / "down" / "bot.py").write_text(PAINT, encoding="utf-8")
    (folder / "right.py").write_text(PAINT.replace("[1, 0]", "[0, 1]"), encoding="utf-8")
    return folder


def cw(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["league", "bots", *arguments])


def played(*arguments: str) -> dict[str, Any]:
    result = cw(*arguments, "--json")
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def versions(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {version["name"]: version for version in document["versions"]}


def test_a_league_goes_on_as_it_was_begun() -> None:
    first = played(*SHORT, "--include", "builtin", "--matches", "10")
    assert first["matches"] == 10
    assert versions(first).keys() > {"down-1", "right.py-1", "strong", "still"}
    second = played("--matches", "20")
    assert second["matches"] == 20
    assert versions(second)["strong"]["rating"] > versions(second)["still"]["rating"]
    assert json.loads(cw("--table", "--json").stdout) == second
    assert "strong" in cw("--table").stdout
    replays = {file.name.partition(".")[0] for file in (STORE / "replays").iterdir()}
    assert replays == {line["id"] for line in matches(JOURNAL)}


@pytest.mark.thorough
def test_each_pair_plays_a_seed_from_both_seats() -> None:
    played(*SHORT, "--include", "builtin", "--matches", "12")
    meetings: dict[str, list[dict[str, Any]]] = {}
    for line in matches(JOURNAL):
        meetings.setdefault(line["id"].partition("-")[0], []).append(line)
    for one, other in meetings.values():
        assert one["seed"] == other["seed"]
        assert one["bots"] == other["bots"][::-1]


@pytest.mark.thorough
def test_a_change_is_a_new_version_and_the_earlier_one_plays_on(bots: Path) -> None:
    played(*SHORT, "--matches", "4")
    (bots / "right.py").write_text(PAINT.replace("[1, 0]", "[0, -1]"), encoding="utf-8")
    changed = versions(played("--matches", "16"))
    assert changed.keys() == {"down-1", "right.py-1", "right.py-2"}
    assert changed["right.py-2"]["matches"] > 0
    assert changed["right.py-1"]["plays"]
    (bots / "right.py").unlink()
    (bots / "still.py").write_text(PAINT.replace('"walk"', '"fly"'), encoding="utf-8")
    gone = versions(played("--matches", "20"))
    assert not gone["right.py-2"]["plays"]
    assert gone["right.py-2"]["matches"] == changed["right.py-2"]["matches"]
    assert gone["still.py-1"]["faults"] > 0


@pytest.mark.thorough
def test_many_seats_are_played_in_all_rotations() -> None:
    played(*SHORT, "--include", "builtin", "--players", "4", "--matches", "4")
    seats = [line["bots"] for line in matches(JOURNAL)]
    assert len({tuple(order) for order in seats}) == 4
    assert {frozenset(order) for order in seats} == {frozenset(seats[0])}


def test_a_bot_that_cannot_play_is_named_and_the_others_play(bots: Path) -> None:
    (bots / "empty").mkdir()
    result = cw(*SHORT, "--matches", "2", "--port", "0")
    assert result.exit_code == 0
    assert "Watch it in the browser: http://127.0.0.1:" in result.stderr
    assert "empty cannot play: " in result.stderr
    assert "has no program" in result.stderr


def link_a_program(bots: Path) -> None:
    (bots / "evil").mkdir()
    (bots / "evil" / "bot.py").symlink_to("../down/bot.py")
    (bots / "evil" / "notes.txt").touch()


def link_a_folder(bots: Path) -> None:
    (bots / "evil").symlink_to("down")


def link_the_root(bots: Path) -> None:
    (bots / "evil").symlink_to("/")


def link_itself(bots: Path) -> None:
    (bots / "evil").symlink_to("evil")


def link_a_file(bots: Path) -> None:
    (bots / "evil").symlink_to(bots / "right.py")


def fill(bots: Path) -> None:
    (bots / "evil").mkdir()
    shutil.copy(bots / "right.py", bots / "evil" / "bot.py")
    with (bots / "evil" / "weights").open("wb") as file:
        file.truncate(101 << 20)


def nest(bots: Path) -> None:
    (bots / "evil").joinpath(*["deep"] * 70).mkdir(parents=True)


def name_twice(bots: Path) -> None:
    for name in ("evil one", "evil-one"):
        shutil.copytree(bots / "down", bots / name)


@NEEDS_LINKS
@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (link_a_program, "evil cannot play: 'bot.py' is behind a link: replace the link"),
        (link_a_folder, "evil cannot play: bots/evil is a link: replace it with a copy"),
        (link_the_root, "evil cannot play: bots/evil is a link"),
        (link_itself, "evil cannot play: bots/evil is a link"),
        (link_a_file, "evil cannot play: bots/evil is a link"),
        (fill, "evil cannot play: bots/evil is too large for a bot: at most 2000 files, 100 MiB"),
        (nest, "evil cannot play: bots/evil has more than 64 nested folders"),
        (name_twice, "evil one and evil-one would have the same name: rename one of them"),
    ],
)
def test_no_folder_ends_the_league_of_the_others(
    bots: Path, harm: Callable[[Path], None], message: str
) -> None:
    harm(bots)
    result = cw(*SHORT, "--matches", "2", "--json")
    assert result.exit_code == 0, result.stderr
    assert message in " ".join(result.stderr.split())
    assert versions(json.loads(result.stdout)).keys() == {"down-1", "right.py-1"}


@NEEDS_LINKS
def test_a_bot_may_become_a_link_or_vanish_while_a_league_is_played(
    bots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = read_league(Path("bots"), {"game": "paint"}, Isolation())
    told: list[str] = []
    for name in ("eve", "gone"):
        shutil.copytree(bots / "down", bots / name)
    with opened(league.file, league.head) as journal:
        planner = Planner(league, journal, Field(league, told.append))
        specs = planner.specs(None)
        next(specs)
        shutil.rmtree(bots / "eve")
        (bots / "eve").symlink_to("down")
        (bots / "gone" / "bot.py").write_text("# another\n")
        take = Store.take

        def taken_late(store: Store, bot: str) -> None:
            shutil.rmtree(bots / "gone", ignore_errors=True)
            take(store, bot)

        monkeypatch.setattr(Store, "take", taken_late)
        for _ in range(8):
            next(specs)
    assert told == [
        "eve cannot play: bots/eve is a link: replace it with a copy",
        "gone cannot play: it is no longer in bots",
    ]
    # What it was before is kept, and plays on while its name is there.
    assert {version.name for version in planner.field.versions} == {"down-1", "eve-1", "right.py-1"}


def test_a_version_that_has_no_program_any_more_is_left_out(bots: Path) -> None:
    played(*SHORT, "--include", "builtin", "--matches", "2")
    (stored,) = (STORE / "versions" / "down").iterdir()
    (stored / "down" / "bot.py").unlink()
    assert "down-1" not in versions(played("--matches", "4"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "bots is not a league yet: choose its game with --game GAME"),
        (("--game", "chess"), "chess"),
        (("--game", "hexagon", "--players", "3"), "hexagon needs exactly 2 bots"),
        (("--game", "paint", "--table", "--port", "0"), "leave out --table or --port"),
        (("--game", "paint", "--players", "3"), "bots has 2 bots, and a match needs 3"),
        (("--game", "paint", "--option", "turns=0"), "turns must be a whole number from 1"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(arguments: tuple[str, ...], message: str) -> None:
    result = cw(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    # Another game, and other options, can still be chosen.
    assert not JOURNAL.exists()


@pytest.mark.parametrize(
    "head",
    [
        '{"kind": "league"}',
        '{"kind": "comparison", "game": "paint"}',
        '{"game": 3}',
        '{"game": "paint", "players": "2"}',
        '{"game": "paint", "options": []}',
        '{"game": "paint", "seed": -1}',
    ],
)
def test_a_journal_of_something_else_is_named(head: str) -> None:
    STORE.mkdir()
    JOURNAL.write_text(f"{head}\n", encoding="utf-8")
    result = cw("--matches", "2")
    assert result.exit_code == 2
    assert "bots contains no league that can be continued: " in result.stderr


def test_a_league_without_bots_has_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    result = CliRunner().invoke(main, ["league", "none", "--game", "paint", "--table", "--json"])
    assert json.loads(result.stdout) == {"matches": 0, "versions": []}
    builtin = cw("--game", "paint", "--include", "builtin", "--table")
    assert "strong" in builtin.stdout
    assert not STORE.exists()


@pytest.mark.thorough
def test_a_league_of_another_game_is_not_gone_on_with() -> None:
    played(*SHORT, "--matches", "2")
    result = cw("--game", "hexagon", "--matches", "4")
    assert result.exit_code == 2
    assert "belongs to another experiment: its game is 'paint', not 'hexagon'" in result.stderr


def test_no_kill_loses_or_doubles_a_match(bots: Path) -> None:
    """Kill a league again and again, the last time by Ctrl-C, while bots come and change."""
    command = [*PROGRAM, "league", "bots", *SHORT, "--include", "builtin", "--jobs", "2"]
    before: list[dict[str, Any]] = []
    kills = amount(1, 3, "CW_KILLS")
    for kill in range(kills + 1):
        (bots / f"bot-{kill % 5}.py").write_text(f"{PAINT}# {kill}\n", encoding="utf-8")
        wanted = len(matches(JOURNAL)) + 3
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            wait_for(process, JOURNAL, wanted)
            process.send_signal(signal.SIGINT if kill == kills else signal.SIGKILL)
            table, errors = process.communicate()
        assert matches(JOURNAL)[: len(before)] == before
        before = matches(JOURNAL)
    assert process.returncode == 130
    assert "strong" in table
    assert "continue with the same command" in errors
    document = played("--matches", str(len(before)))
    everything = matches(JOURNAL)
    assert set(Counter(line["id"] for line in everything).values()) == {1}
    meetings = Counter(line["id"].partition("-")[0] for line in everything)
    assert set(meetings.values()) == {2}
    assert document["matches"] == len(everything)
