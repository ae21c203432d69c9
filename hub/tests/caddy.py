"""A Caddy of our own, as hub/deploy/Caddyfile sets it, before a hub."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from hub.tests.campaign import ROOT
from tests.ports import free_port
from tests.tools import CADDY

CADDYFILE = ROOT / "hub" / "deploy" / "Caddyfile"


@dataclass(frozen=True)
class Caddy:
    """Where a Caddy listens, and keeps its certificates."""

    folder: Path
    port: int
    plain_port: int

    @property
    def address(self) -> str:
        return f"https://localhost:{self.port}"

    @property
    def plain_address(self) -> str:
        return f"http://localhost:{self.plain_port}"

    @property
    def authority(self) -> Path:
        """Return the certificate of the authority that has made its own."""
        return self.folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"

    def answers(self) -> bool:
        try:
            requests.get(self.address, verify=str(self.authority), timeout=30)
        except (requests.ConnectionError, OSError):
            return False
        return True


def new_caddy(folder: Path) -> Caddy:
    """Return where a Caddy will listen."""
    return Caddy(folder, free_port(), free_port())


@contextmanager
def running(caddy: Caddy, upstream: str, **settings: str) -> Iterator[None]:
    """Run a Caddy before a server, such as `127.0.0.1:8000`; `settings` are of the file."""
    program = CADDY.program("caddy")
    environment = os.environ | {
        "HOME": str(caddy.folder),
        "XDG_DATA_HOME": str(caddy.folder),
        "XDG_CONFIG_HOME": str(caddy.folder),
        "HUB_BIND": "127.0.0.1",
        "HUB_HTTP_PORT": str(caddy.plain_port),
        "HUB_HTTPS_PORT": str(caddy.port),
        "HUB_UPSTREAM": upstream.replace(":", " "),
        **settings,
    }
    command = [str(program), "run", "--config", str(CADDYFILE)]
    with (caddy.folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        while not caddy.answers():
            assert process.poll() is None, (caddy.folder / "caddy.log").read_text()
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()
