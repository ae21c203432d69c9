"""Through how many files a request runs: the table "Flows" of hub/docs/architecture.md.

    python -m pytest -n 0 -s hub/tests/flows.py     (-rP names the files too)

Counted are the modules of the project of which a function is called from the request, or the
command, to its answer; the layers below it that are not the hub's are named apart.
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.web import create_app
from cw.web.settings import SiteSettings
from hub.tests.bots.workshop.test_workshop_runs import Author, working
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site
from tests.typed import ROOT
from tests.web.workshop.test_runs import WALK, paint

pytestmark = ON_SQLITE

CALLED: set[str] | None = None
"""The files whose functions are called, while they are counted."""


def note(frame: FrameType, event: str, _argument: Any) -> None:
    if CALLED is not None and event == "call":
        CALLED.add(frame.f_code.co_filename)


@pytest.fixture(autouse=True)
def _profiled() -> Iterator[None]:
    threading.setprofile(note)
    sys.setprofile(note)
    yield
    sys.setprofile(None)
    threading.setprofile(None)


@contextmanager
def counted(flow: str) -> Iterator[None]:
    """Print the files that run while the block does."""
    global CALLED  # noqa: PLW0603
    CALLED = set()
    yield
    files, CALLED = CALLED, None
    own = sorted(file for file in map(relative, files) if file.startswith(("cw/", "hub/cw_hub/")))
    hub = [file for file in own if file.startswith("hub/")]
    print(f"\n| {flow} | {len(hub)} | {len(own) - len(hub)} |")  # noqa: T201
    print("  " + "\n  ".join(own))  # noqa: T201


def relative(file: str) -> str:
    return Path(file).relative_to(ROOT).as_posix() if file.startswith(f"{ROOT}/") else ""


def test_registration(site: Site) -> None:
    site.player("warm")
    visitor = site.visitor()
    token = visitor.token("/register")
    values = {"username": "ann", "password": "correct horse", "password_repeat": "correct horse"}
    values |= {"email": "ann@example.org", "csrf_token": token}
    with counted("registration"):
        assert visitor.send_form("/register", values).status_code == 303


def test_run_in_the_workshop(site: Site) -> None:
    author = Author(site, "Ann")
    author.write(paint(WALK))
    with counted("a run in the workshop of a hub"), working(site):
        author.run()
        author.ended()


def test_tournament_by_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, migrated_sqlite: Path
) -> None:
    (tmp_path / "data").mkdir()
    shutil.copy(migrated_sqlite, tmp_path / "data" / "hub.sqlite")
    monkeypatch.setenv("CW_DATA", str(tmp_path / "data"))
    names = tmp_path / "names.txt"
    names.write_text("Ann\nBob\n")
    new = ["hub", "competition", "new", "duel", "--game", "hexagon", "--format", "tournament"]
    warm = CliRunner().invoke(main, ["hub", "competition", "list"])
    assert warm.exit_code == 0, warm.output
    with counted("a tournament by command"):
        done = CliRunner().invoke(main, [*new, "--teams", str(names)])
    assert done.exit_code == 0, done.output


def test_move_of_circuit_wars() -> None:
    client = create_app(SiteSettings(timeout=-1)).test_client()
    for name in ("ann", "bob"):
        assert client.get(f"/reg/{name}").status_code == 200
    with counted("a move of Circuit Wars"):
        assert client.get("/move/ann/3,2,top").status_code == 200
