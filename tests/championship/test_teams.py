"""Teams: what a folder or a file may say of a bot, and what nobody else may read of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
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
        ("[teams.a]\nhat = 1", "unknown key 'hat'; a team has "),
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
        [sys.executable, "bot.py"] for team in ("ann", "bob")
    ]
    assert [team.bot.folder for team in teams] == [str(folder / "ann"), str(folder / "bob")]
    (folder / "ann" / "bot.sh").write_text("exit 1")
    with pytest.raises(UsageError, match=r"has several programs \(bot.py, bot.sh\): keep one"):
        read_teams(folder, "paint")
    for program in (folder / "ann").iterdir():
        program.unlink()
    with pytest.raises(UsageError, match=r"add bot.py, bot.js, ..., or add team.toml with `run`"):
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
    assert teams[id_].bot.folder == str(folder / name)


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
    assert ["empty has no program" in problems[0], "unknown key 'hat'" in problems[1]] == [True] * 2


@pytest.mark.parametrize("about", ["members = ['a\\u0007']".replace("'", '"'), "name = 3"])
def test_names_that_cannot_be_printed_are_refused(folder: Path, about: str) -> None:
    with pytest.raises(UsageError, match="100 printable characters"):
        with_about(folder, about)


def test_circuit_wars_takes_the_client_of_the_course_or_a_program(tmp_path: Path) -> None:
    folder = make_teams(tmp_path, {"ann": CLIENT})
    make_teams(tmp_path, {"bob": BOT}, "bot.py")
    ann, bob = read_teams(folder, "circuit-wars")
    assert [ann.bot.command[-1], bob.bot.command[-1]] == ["game_ai.py", "bot.py"]


@pytest.mark.parametrize(
    ("about", "spec"),
    [
        ('bot = "builtin:greedy"', "builtin:greedy"),
        ('bot = "exec:python3 -X dev bot.py"', "exec:python3 -X dev bot.py"),
        ('bot = "python:bot.py:Mine"', "python:bot.py:Mine"),
        ('bot = "bot.py"', "exec:{python} bot.py"),
        ('run = "python3 bot.py"', "exec:python3 bot.py"),
    ],
)
def test_a_team_says_how_it_is_run(folder: Path, about: str, spec: str) -> None:
    ann = with_about(folder, about)[0]
    assert ann.bot.spec == spec.format(python=PYTHON)
    assert ann.bot.folder == (str(folder / "ann") if ann.bot.kind in ("exec", "python") else "")


@pytest.mark.parametrize("address", ["http://127.0.0.1:3000", "https://bots.example.org/eve"])
def test_a_web_service_is_named_only_in_a_file_of_all_teams(folder: Path, address: str) -> None:
    with pytest.raises(UsageError, match=r"ann: team.toml cannot name a web service; only a file"):
        with_about(folder, f'bot = "{address}"')


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_folder_that_is_a_link_is_no_team_but_the_folder_of_all_may_be_one(folder: Path) -> None:
    linked = folder.with_name("linked")
    linked.symlink_to(folder)
    assert [team.id for team in read_teams(linked, "paint")] == ["ann", "bob"]
    elsewhere = make_teams(folder.parent / "elsewhere", {"dan": BOT}, "bot.py")
    (folder / "eve").symlink_to("ann")
    (folder / "dan").symlink_to(elsewhere / "dan")
    for place in (folder, linked):
        teams = {team.id: team for team in read_each(place, "paint")}
        assert [id_ for id_, team in teams.items() if isinstance(team, Team)] == ["ann", "bob"]
        for id_ in ("dan", "eve"):
            team = teams[id_]
            assert isinstance(team, UnfitTeam)
            assert team.problem == f"{place / id_} is a link: replace it with a copy of the folder"


@pytest.mark.skipif(sys.platform != "win32", reason="needs junctions")
def test_a_junction_is_no_team(folder: Path) -> None:
    command = ["cmd", "/c", "mklink", "/J", str(folder / "eve"), str(folder / "ann")]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(UsageError, match="eve is a link: replace it with a copy of the folder"):
        read_teams(folder, "paint")


@pytest.mark.parametrize("way", ["run = 'python3 {}'", "bot = '{}'", "bot = 'exec:python3 {}'"])
def test_a_team_cannot_name_what_is_outside_of_its_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.chdir(folder)
    for stolen in (folder / "bob" / "bot.py", folder / "nothing", Path("../bob/bot.py")):
        with pytest.raises(UsageError, match="outside the folder"):
            with_about(folder, way.format(stolen))


def test_a_class_outside_of_the_folder_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="outside the folder"):
        with_about(folder, f"bot = {json.dumps(f'python:{folder}/bob/bot.py')}")


def test_a_link_to_what_is_outside_is_refused(folder: Path) -> None:
    program = folder / "ann" / "bot.py"
    program.unlink()
    program.symlink_to(folder / "bob" / "bot.py")
    with pytest.raises(UsageError, match=r"'bot.py' is behind a link: replace the link"):
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
            r'exec:python "my bot\bot.py" --deep',
        ),
        (r"""bot = 'exec:python "my bot\bot.py"'""", r'exec:python "my bot\bot.py"'),
        (r"""bot = 'my bot\bot.py'""", r"exec:{python} 'my bot\bot.py'"),
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
    assert bot.spec == spec.format(python=PYTHON)
    assert r"my bot\bot.py" in bot.command


def test_every_team_is_read_though_others_are_none(folder: Path, tmp_path: Path) -> None:
    (folder / "ann" / "bot.py").unlink()
    ann, bob = read_each(folder, "paint")
    assert isinstance(ann, UnfitTeam)
    assert "ann has no program" in ann.problem
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


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
@pytest.mark.parametrize("way", ["run = 'python3 {}'", "bot = '{}'", "bot = 'python:{}:Bot'"])
@pytest.mark.parametrize("name", ["link.py", "sub/link.py", "linked/bot.py"])
def test_a_link_in_the_folder_is_not_taken_for_a_file(folder: Path, way: str, name: str) -> None:
    ann = folder / "ann"
    (ann / "sub").mkdir()
    for link in ("link.py", "sub/link.py"):
        (ann / link).symlink_to(ann / "bot.py")
    (ann / "linked").symlink_to(ann)
    with pytest.raises(UsageError, match=f"'{name}' is behind a link"):
        with_about(folder, way.format(name))


def test_what_is_installed_may_be_named_by_its_whole_path(folder: Path) -> None:
    ann = with_about(folder, f"run = {json.dumps(f'env X=1 {PYTHON} bot.py')}")[0]
    assert ann.bot.command == ["env", "X=1", sys.executable, "bot.py"]


@pytest.mark.parametrize("about", ["run = 3", "bot = ['bot.py']"])
def test_a_bot_that_is_not_text_is_refused(folder: Path, about: str) -> None:
    with pytest.raises(UsageError, match="must be text, not"):
        with_about(folder, about)


def test_a_bot_is_read_in_time_that_grows_with_its_length(folder: Path) -> None:
    def seconds(parts: int) -> float:
        def once() -> float:
            began = time.process_time()
            with_about(folder, f"run = 'python3 {'a/' * parts}'")
            return time.process_time() - began

        return min(once() for _ in range(5))

    assert seconds(4000) < 6 * seconds(1000)
