"""A wheel, built and installed outside of the checkout: what a user of it types, and its pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests

from cw.games.registry import GAMES
from tests.kits.checksums import checksums, recorded
from tests.once import once
from tests.ports import free_port
from tests.typed import ROOT, Terminal, Typed

PATIENCE = 300.0
LINK = re.compile(r'(?:href|src)="(/[^"#?]*)|(?:from|import) "(\.[^"]+)"|url\("?([^")#?:]+)"?\)')


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this checkout."""
    (built,) = once(tmp_path_factory, "wheel", build).iterdir()
    return built


def build(folder: Path, project: Path = ROOT) -> None:
    command = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    pip(*command, "--wheel-dir", str(folder), str(project))


def pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module", params=["", *os.environ.get("CW_PYTHONS", "").split()])
def installed(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """Return an environment with the wheel, outside of the checkout.

    It has the packages that are here, but for ours; of other interpreters, those of the registry.
    """
    name = f"environment-{Path(request.param).name}"
    return once(tmp_path_factory, name, partial(install, [wheel], request.param))


def install(wheels: Iterable[Path], interpreter: str, folder: Path) -> None:
    """Make an environment with wheels; of this interpreter where none is named."""
    own = ["--python", str(folder / "bin" / "python"), "install", "--quiet", *map(str, wheels)]
    if interpreter:
        subprocess.run([interpreter, "-m", "venv", folder], timeout=PATIENCE, check=True)
        pip(*own)
    else:
        venv.create(folder, symlinks=os.name != "nt")
        (packages,) = folder.glob("lib/*/site-packages")
        (packages / "here.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
        pip(*own, "--no-deps", "--no-index")


@pytest.fixture
def user(installed: Path, tmp_path: Path) -> Iterator[Terminal]:
    """Return a terminal in an empty folder, with the environment at work."""
    folder = tmp_path / "home" / "work"
    folder.mkdir(parents=True)
    terminal = Terminal(folder, free_port())
    terminal.type(Typed(f". {installed}/bin/activate", ()))
    try:
        yield terminal
    finally:
        terminal.close()


def typed(user: Terminal, command: str) -> str:
    return "\n".join(user.type(Typed(command, ())))


pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.name != "posix", reason="the lines are for a shell"),
]


def test_it_is_the_wheel_that_runs(user: Terminal, installed: Path) -> None:
    where = typed(user, "python -c 'import cw; print(cw.__file__)'")
    assert where.startswith(str(installed))
    assert "missing" not in typed(user, "cw doctor")


def test_a_demo_is_played_and_says_what_comes_next(user: Terminal) -> None:
    output = typed(user, "cw demo --fast --port 0")
    assert "won by" in output
    commands = re.findall(r"^  (cw .*?)(?:   .*)?$", output, re.M)
    assert [command.split()[1] for command in commands] == ["new-bot", "play", "serve", "workshop"]
    assert "Created mybot" in typed(user, commands[0])
    assert "def choose" in (user.folder / "mybot" / "bot.py").read_text("utf-8")
    assert "circuit-wars, seed" in typed(user, f"CW_PAUSE=0 {commands[1]}")


def test_a_bot_is_made_checked_and_played(user: Terminal) -> None:
    typed(user, "cw new-bot paint python mybot")
    assert "all fine" in typed(user, "cw check paint mybot/bot.py --junit check.xml")
    played = "cw play paint builtin:random mybot/bot.py --seed 1 --option turns=30 --out match.json"
    assert "replay: match.json" in typed(user, played)
    typed(user, "cw replay verify match.json && cw replay export match.json --html")
    assert "replay-data" in (user.folder / "match.html").read_text("utf-8")
    typed(user, "cw replay export match.json --gif && cw replay export match.json --svg")
    typed(user, "cw championship new teams --game paint")
    program = "from cw.notebook import show; print(len(show('match.json')._repr_html_()))"
    assert int(typed(user, f'python -c "{program}"').split()[0]) > 10_000


def test_every_kit_is_the_one_of_the_checkout(user: Terminal) -> None:
    make = "kits.new_bot(game, name, Path('kits', game, name))"
    loops = "for game in kits.games() for name in kits.LANGUAGES"
    typed(user, f'python -c "from pathlib import Path; from cw import kits; [{make} {loops}]"')
    assert checksums(user.folder / "kits") == recorded()


def test_it_runs_where_its_environment_is_not_active(installed: Path, tmp_path: Path) -> None:
    """As `pipx run` and `uvx` do: the script is called by its path, and PATH leads elsewhere."""

    def cw(*arguments: str) -> str:
        done = subprocess.run(
            [installed / "bin" / "cw", *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "CW_PAUSE": "0"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    cw("new-bot", "circuit-wars", "python", "mybot")
    match = ("circuit-wars", "builtin:random", "mybot/bot.py", "--option", "size=3", "--seed", "1")
    assert "won by" in cw("play", *match)
    assert "2 matches of circuit-wars" in cw("play", *match, "--games", "2", "--jobs", "2")


def visited(base: str, *due: str, within: str = "/") -> set[str]:
    """Follow the links from pages to all that they need; return the addresses."""
    left, pages = [*due], set[str]()
    while left:
        path = left.pop()
        if path not in pages:
            pages.add(path)
            answer = requests.get(f"{base}{path}", timeout=PATIENCE)
            assert answer.status_code == 200, path
            if path.endswith((".css", ".js")) or "html" in answer.headers["Content-Type"]:
                links = (next(filter(None, link)) for link in LINK.findall(answer.text))
                addresses = (urljoin(path, link) for link in links)
                left += [address for address in addresses if address.startswith(within)]
    return pages


def test_all_pages_are_served_with_all_that_they_need(user: Terminal) -> None:
    typed(user, "cw play hexagon builtin:random builtin:greedy --seed 1")
    user.type(Typed("cw serve --port 5000 &", ("Monitor: http://127.0.0.1:5000/",)))
    pages = visited(f"http://127.0.0.1:{user.port}", "/")
    for game in GAMES:
        assert {f"/games/{game}/", f"/games/{game}/rules", f"/static/games/{game}.png"} <= pages
    assert {"/static/viewer/viewer.js", "/static/viewer/games/hexagon.js"} <= pages
