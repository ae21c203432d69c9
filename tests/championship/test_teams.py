"""Teams: what a folder or a file may say of a bot, and what nobody else may read of it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from cw.championship.teams import Team, UnfitTeam, read_each, read_teams
from cw.errors import UsageError
from tests.championship.contests import CLIENT, make_teams
from tests.interpreter import PYTHON

BOT = "print('ready')\n"


def with_about(folder: Path, about: str) -> list[Team]:
    """Return the teams of a folder in which ann says this of itself."""
    (folder / "ann" / "team.toml").write_text(about, encoding="utf-8")
    return list(read_teams(folder, "paint"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_teams(tmp_path / "teams", {"ann": BOT, "bob": BOT}, "bot.py")


def test_a_client_of_circuit_wars_is_named_like_that_of_the_assignment(folder: Path) -> None:
    for team, program in (("ann", "game_ai.sh"), ("bob", "bot.sh")):
        (folder / team / "bot.py").unlink()
        (folder / team / program).touch()
    first, second = read_teams(folder, "circuit-wars")
    assert first.bot.command[-1].endswith("game_ai.sh")
    assert second.bot.command[-1].endswith("bot.sh")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"\[teams.ID\]"),
        ("teams = 3", r"\[teams.ID\]"),
        ('[teams.a]\nbot = "builtin:random"', "needs 2 or more"),
        ('[teams.a]\n[teams.b]\nbot = "builtin:random"', "team a needs a bot"),
        ('[teams."a b"]\nbot = "builtin:random"', "letters, digits or hyphens"),
        ("[teams.a]\nhat = 1", "a team has .*, not 'hat'"),
        ("[teams]\na = 1", "a team is a table, not 1"),
        ('[teams.a]\nbot = "builtin:x"\nsecret = 1', "the secret of a must be text"),
        ('[teams.a]\nbot = "builtin:x"\nsecret = "env:CW_NOT_SET"', "no variable CW_NOT_SET"),
        ('[teams.a]\nbot = "builtin:x"\nparallel = 0', "must be a number from 1, not 0"),
        ('[teams.a]\nbot = "builtin:x"\nparallel = true', "must be a number from 1, not True"),
        ("[teams", "Expected|Invalid|Unclosed|Missing"),
    ],
)
def test_a_file_of_teams_that_is_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "teams.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_teams(file, "paint")


def test_a_file_names_bots_of_any_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEAVER_SECRET", "hush")
    (tmp_path / "mine.py").write_text(BOT)
    (tmp_path / "teams.toml").write_text(
        '[teams.web]\nbot = "http://127.0.0.1:3000/"\nsecret = "env:WEAVER_SECRET"\n'
        'username = "weaver"\n'
        '[teams.busy]\nbot = "http://127.0.0.1:3001"\nparallel = 4\n'
        '[teams.own]\nbot = "mine.py"\n'
        '[teams.told]\nbot = "exec:python3 -c 1"\n'
        '[teams.known]\nbot = "builtin:greedy"\n'
    )
    teams = {team.id: team for team in read_teams(tmp_path / "teams.toml", "paint")}
    assert teams["web"].bot.spec == "http://127.0.0.1:3000"
    assert teams["web"].secrets == {"secret": "hush"}
    assert teams["web"].bot.settings == {"username": "weaver"}
    assert "hush" not in repr(teams)
    assert str(tmp_path / "mine.py") in teams["own"].bot.target
    parallel = {name: team.parallel for name, team in teams.items()}
    assert parallel == {"web": 1, "busy": 4, "own": None, "told": None, "known": None}


def test_a_folder_holds_one_program(folder: Path) -> None:
    teams = read_teams(folder, "paint")
    assert [team.bot.command for team in teams] == [
        [sys.executable, str(folder / team / "bot.py")] for team in ("ann", "bob")
    ]
    (folder / "ann" / "bot.sh").write_text("exit 1")
    with pytest.raises(UsageError, match=r"one program .* there is bot.py, bot.sh"):
        read_teams(folder, "paint")
    for program in (folder / "ann").iterdir():
        program.unlink()
    with pytest.raises(UsageError, match=r"there is none\), or a command `run`"):
        read_teams(folder, "paint")


@pytest.mark.parametrize(
    ("name", "id_", "display_name"),
    [
        ("Lea Müller", "Lea-Muller", "Lea Müller"),
        ("Zoe\u0308 & Co.", "Zoe-Co", "Zoë & Co."),
        ("Łukasz_Weiß", "Lukasz-Weiss", "Łukasz_Weiß"),
        ("李雷", "team-344ce544", "李雷"),
        ("a" * 60, "a" * 39, "a" * 60),
    ],
)
def test_a_folder_of_any_name_is_a_team_of_that_name(
    folder: Path, name: str, id_: str, display_name: str
) -> None:
    (folder / "ann").rename(folder / name)
    teams = {team.id: team for team in read_teams(folder, "paint")}
    assert teams[id_].name == display_name
    assert teams[id_].bot.name == id_
    assert str(folder / name / "bot.py") in teams[id_].bot.command


def test_folders_of_one_id_are_both_told(folder: Path) -> None:
    make_teams(folder, {"Léa": BOT, "Lea": BOT}, "bot.py")
    with pytest.raises(UsageError, match=r"Lea and .*Léa have the same id, Lea: rename one of"):
        read_teams(folder, "paint")


def test_all_teams_that_cannot_play_are_told_together(folder: Path) -> None:
    (folder / "empty").mkdir()
    make_teams(folder, {"odd": BOT}, "bot.py")
    (folder / "odd" / "team.toml").write_text("hat = 1")
    with pytest.raises(UsageError) as refused:
        read_teams(folder, "paint")
    first, *problems = str(refused.value).splitlines()
    assert first == "2 teams cannot play:"
    assert ["empty must contain one program" in problems[0], "not 'hat'" in problems[1]] == [
        True
    ] * 2


@pytest.mark.parametrize("about", ["members = ['a\\u0007']".replace("'", '"'), "name = 3"])
def test_names_that_cannot_be_printed_are_refused(folder: Path, about: str) -> None:
    with pytest.raises(UsageError, match="100 printable characters"):
        with_about(folder, about)


def test_circuit_wars_takes_the_client_of_the_course_or_a_program(tmp_path: Path) -> None:
    folder = make_teams(tmp_path, {"ann": CLIENT})
    make_teams(tmp_path, {"bob": BOT}, "bot.py")
    ann, bob = read_teams(folder, "circuit-wars")
    assert ann.bot.command[-1] == str(folder / "ann" / "game_ai.py")
    assert bob.bot.command[-1] == str(folder / "bob" / "bot.py")


@pytest.mark.parametrize(
    ("about", "spec"),
    [
        ('bot = "builtin:greedy"', "builtin:greedy"),
        ('bot = "http://127.0.0.1:3000"', "http://127.0.0.1:3000"),
        ('bot = "exec:python3 -X dev bot.py"', "exec:python3 -X dev {folder}/bot.py"),
        ('bot = "python:bot.py:Mine"', "python:{folder}/bot.py:Mine"),
        ('bot = "bot.py"', "exec:{python} {folder}/bot.py"),
        ('run = "python3 bot.py"', "exec:python3 {folder}/bot.py"),
    ],
)
def test_a_team_says_how_it_is_run(folder: Path, about: str, spec: str) -> None:
    ann = with_about(folder, about)[0]
    assert ann.bot.spec == spec.format(folder=folder / "ann", python=PYTHON)


@pytest.mark.parametrize("way", ["run = 'python3 {}'", "bot = '{}'", "bot = 'exec:python3 {}'"])
def test_a_team_cannot_name_what_is_outside_of_its_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.chdir(folder)
    for stolen in (folder / "bob" / "bot.py", Path("bob/bot.py")):
        with pytest.raises(UsageError, match="outside of the folder"):
            with_about(folder, way.format(stolen))


def test_a_class_outside_of_the_folder_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="outside of the folder"):
        with_about(folder, f"bot = {json.dumps(f'python:{folder}/bob/bot.py')}")


def test_a_link_to_what_is_outside_is_refused(folder: Path) -> None:
    program = folder / "ann" / "bot.py"
    program.unlink()
    program.symlink_to(folder / "bob" / "bot.py")
    with pytest.raises(UsageError, match="outside of the folder"):
        read_teams(folder, "paint")


def test_what_a_team_tells_is_neither_a_link_nor_a_folder(folder: Path) -> None:
    about = folder / "ann" / "team.toml"
    (folder / "bob" / "team.toml").write_text('bot = "http://127.0.0.1:1"\nsecret = "of bob"')
    about.symlink_to(folder / "bob" / "team.toml")
    with pytest.raises(UsageError, match="must be a file"):
        read_teams(folder, "paint")
    about.unlink()
    about.mkdir()
    with pytest.raises(UsageError, match="must be a file"):
        read_teams(folder, "paint")


@pytest.mark.parametrize(
    ("about", "spec"),
    [
        (
            r"""run = 'python "my bot\bot.py" --deep'""",
            r"exec:python '{folder}/my bot\bot.py' --deep",
        ),
        (r"""bot = 'exec:python "my bot\bot.py"'""", r"exec:python '{folder}/my bot\bot.py'"),
        (r"""bot = 'my bot\bot.py'""", r"exec:{python} '{folder}/my bot\bot.py'"),
    ],
)
def test_what_a_team_tells_on_windows_keeps_its_backslashes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, about: str, spec: str
) -> None:
    """POSIX takes a backslash in a name as any other character, so the file is really found."""
    monkeypatch.setattr("cw.arena.bots.ON_WINDOWS", True)
    (folder / "ann" / r"my bot\bot.py").write_text(BOT)
    (folder / "ann" / "bot.py").unlink()
    bot = with_about(folder, about)[0].bot
    assert bot.spec == spec.format(folder=folder / "ann", python=PYTHON)
    assert str(folder / "ann" / r"my bot\bot.py") in bot.command


def test_every_team_is_read_though_others_are_none(folder: Path, tmp_path: Path) -> None:
    (folder / "ann" / "bot.py").unlink()
    ann, bob = read_each(folder, "paint")
    assert isinstance(ann, UnfitTeam)
    assert "ann must contain one program" in ann.problem
    assert isinstance(bob, Team)
    (tmp_path / "none").mkdir()
    with pytest.raises(UsageError, match="contains no team"):
        read_each(tmp_path / "none", "paint")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes in folders")
def test_a_pipe_in_place_of_what_a_team_tells_holds_nobody_up(folder: Path) -> None:
    os.mkfifo(folder / "ann" / "team.toml")
    with pytest.raises(UsageError, match="must be a file"):
        read_teams(folder, "paint")


def test_a_team_cannot_read_our_environment(folder: Path) -> None:
    with pytest.raises(UsageError, match="env: is allowed only in a file of all teams"):
        with_about(folder, 'bot = "http://127.0.0.1:1"\nsecret = "env:HOME"')


def test_two_teams_of_one_folder_are_refused(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        (tmp_path / f"{name}.py").touch()
    file = tmp_path / "teams.toml"
    bots = {name: str(tmp_path / f"{name}.py") for name in ("ann", "bob")}
    file.write_text("".join(f"[teams.{name}]\nbot = '{bot}'\n" for name, bot in bots.items()))
    with pytest.raises(UsageError, match=r"ann and bob both lie in .* a folder of its own"):
        read_teams(file, "paint")
