"""`cw replay open` and `cw replay export --html`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import requests
from click.testing import CliRunner

from cw.assets import asset
from cw.cli import main
from cw.replays import document as replays_document
from cw.web.replay_export import bundled, html
from tests.browser.recorded import recorded


def replay_file(folder: Path) -> Path:
    file = folder / "match.json.gz"
    file.write_bytes(replays_document.encode(recorded("paint"), packed=True))
    return file


def test_open_serves_the_replay_and_prints_its_address(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "cw",
        "replay",
        "open",
        str(replay_file(tmp_path)),
        "--no-browser",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = re.search(r"http://127\.0\.0\.1:\d+/\S+", server.stdout.readline())
            assert address
            page = requests.get(address[0], timeout=60)
            assert page.status_code == 200
            document = requests.get(f"{address[0]}/document", timeout=60).json()
            assert document["hash"] == recorded("paint")["hash"]
        finally:
            server.terminate()


def test_open_refuses_what_is_no_replay(tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text("{}", encoding="utf-8")
    result = CliRunner().invoke(main, ["replay", "open", str(file), "--no-browser"])
    assert result.exit_code == 2
    assert "a replay's 'version'" in result.stderr


def test_export_writes_one_page(tmp_path: Path) -> None:
    out = tmp_path / "match.html"
    arguments = ["replay", "export", str(replay_file(tmp_path)), "--html", "--out", str(out)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert "unsafe" not in page


def test_the_page_is_below_a_megabyte_beyond_the_replay() -> None:
    document = recorded("code-battle")
    assert len(html(document)) - len(replays_document.encode(document, packed=False)) < 1_000_000


def test_every_module_of_the_viewer_is_in_the_page() -> None:
    modules = {path.relative_to(asset("static")) for path in asset("static").glob("viewer/**/*.js")}
    names = dict(bundled(asset("static")))
    assert {f"cw/{path.as_posix()}" for path in modules} <= names.keys()
    assert "cw/monitor/geometry.js" in names
