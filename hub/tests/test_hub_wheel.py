"""The wheels of the arena and of the site, installed outside of the checkout: a hub is served."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
import requests

from hub.tests.campaign import wait_until
from tests.once import once
from tests.ports import free_port
from tests.test_wheel import PATIENCE, build, install, visited
from tests.typed import ROOT

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.name != "posix", reason="the programs are in the folder bin"),
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with both wheels, outside of the checkout."""
    wheels = [
        wheel
        for name, project in (("wheel", ROOT), ("wheel-of-the-site", ROOT / "hub"))
        for wheel in once(tmp_path_factory, name, partial(build, project=project)).iterdir()
    ]
    return once(tmp_path_factory, "environment-of-the-site", partial(install, wheels, ""))


def test_a_hub_is_served_with_all_that_its_pages_need(installed: Path, tmp_path: Path) -> None:
    port = free_port()
    command = [str(installed / "bin" / "cw"), "hub", "demo", "--port", str(port)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    where = [str(installed / "bin" / "python"), "-c", "import cw_hub; print(cw_hub.__file__)"]
    file = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert file.startswith(str(installed))

    def answers(path: str) -> bool:
        with suppress(requests.ConnectionError):
            return requests.get(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE).ok
        return False

    with subprocess.Popen(command, cwd=tmp_path, env=environment) as hub:
        try:
            wait_until(lambda: answers("/"), "the hub")
            starts = ("/", "/games/", "/docs/", "/register", "/leaderboard", "/replays/")
            files = visited(f"http://127.0.0.1:{port}", *starts, within="/static/")
            documents = visited(f"http://127.0.0.1:{port}", "/docs/", within="/docs/")
        finally:
            hub.send_signal(signal.SIGINT)
        assert hub.wait(PATIENCE) == 0
    names = {file.split("/", 3)[-1] for file in files}
    assert {"base.css", "hub/hub.css", "hub/main.js", "hub/home.css"} <= names
    assert {"/docs/hub/players", "/docs/kits", "/docs/api"} <= documents
