"""`python -m tests.kits.containers ENGINE`: build the images of all kits, or play a match.

ENGINE is podman or docker. The match is one of Code Battle, signed, between the kits in Go and
Python, in small containers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from cw.kits import LANGUAGES, new_bot
from tests.kits.hosting import PORTS
from tests.kits.judging import ROOT, Document

GAME = "code-battle"
PLAYERS = ("go", "python")
SIZE = ("--memory", "128m", "--cpus", "0.25", "--read-only")
PATIENCE = 60
"""Seconds in which a container must answer."""


def image(game: str, language: str) -> str:
    """Name the image of a kit."""
    return f"circuit-wars-{game}-{language}"


def run(*command: str) -> str:
    """Run a command; give what it said, or end with its error."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()


def build_all(engine: str) -> None:
    """Build the image of every kit."""
    for game in PORTS:
        for language in LANGUAGES:
            with TemporaryDirectory() as folder:
                new_bot(game, language, Path(folder))
                run(engine, "build", "--quiet", "-t", image(game, language), folder)
            print(image(game, language), flush=True)  # noqa: T201


@contextmanager
def container(engine: str, language: str, secret: str) -> Iterator[str]:
    """Run a kit of Code Battle in a container; give its address, and leave nothing of it."""
    port = PORTS[GAME]
    flags = ("--rm", "--detach", "--publish", f"127.0.0.1::{port}", "--env", f"BOT_SECRET={secret}")
    name = run(engine, "run", *flags, *SIZE, image(GAME, language))
    try:
        published = run(engine, "port", name, f"{port}/tcp").splitlines()[0]
        yield f"http://127.0.0.1:{published.rpartition(':')[2]}"
    finally:
        run(engine, "stop", name)


def wait_for(address: str) -> None:
    """Wait until a bot answers; end with an error if it does not."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            with urlopen(f"{address}/health", timeout=PATIENCE) as reply:
                if json.load(reply) == {"status": "ok"}:
                    return
        except (OSError, HTTPException, ValueError):
            time.sleep(0.2)
    sys.exit(f"{address} does not answer")


def play(engine: str) -> None:
    """Play a match between two containers; end with an error if a bot makes a fault."""
    keys = {language: secrets.token_hex(32) for language in PLAYERS}
    with ExitStack() as stack, TemporaryDirectory() as folder:
        bots = []
        for language, key in keys.items():
            address = stack.enter_context(container(engine, language, key))
            wait_for(address)
            bots += [f"{language}={address}", "--set", f"{language}.secret=env:{language}_secret"]
        output = cw(keys, folder, "play", GAME, *bots, "--option", "max_turns=60", "--json")
    report: Document = json.loads(re.findall(r"^\{.*\}$", output, re.M)[-1])
    faults = {player["name"]: player["faults"] for player in report["players"]}
    if any(faults.values()):
        sys.exit(f"a bot in a container made faults: {faults}")
    print(f"{' and '.join(PLAYERS)} played {GAME} in containers without a fault")  # noqa: T201


def cw(keys: dict[str, str], folder: str, *arguments: str) -> str:
    """Run a command of the arena in a folder of its own; give what it said."""
    bot_secrets = {f"{language}_secret": key for language, key in keys.items()}
    done = subprocess.run(
        [sys.executable, "-m", "cw", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=Path(folder),
        env=os.environ | bot_secrets | {"PYTHONPATH": str(ROOT)},
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kits.containers")
    parser.add_argument("engine", help="podman or docker")
    parser.add_argument("--match", action="store_true", help="play a match between two of them")
    asked = parser.parse_args()
    if asked.match:
        play(asked.engine)
    else:
        build_all(asked.engine)


if __name__ == "__main__":
    main()
