"""Commands are quick: each loads only the packages that it needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LOADED = """
import json, sys
# Debian's Python and others load modules of their own at each start.
before = set(sys.modules)
from cw.cli import main
try:
    main(sys.argv[1:])
finally:
    print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)
"""

START = '{"state": null, "options": {}}\n'

COMMANDS = [
    ("--help", "click"),
    ("--version", "click"),
    ("championship --help", "click"),
    ("replay --help", "click"),
    ("step --help", "click msgspec"),
    ("step circuit-wars", "click msgspec"),
    ("step hexagon", "click msgspec"),
    ("step paint", "click msgspec"),
    ("step code-battle", "click msgspec numpy"),
    ("step end-of-codes", "click msgspec numpy"),
    ("bots", "click msgspec"),
    ("bots paint", "click msgspec"),
    ("bots kits", "click msgspec"),
    ("bots join --help", "click msgspec requests"),
    ("new-bot --help", "click msgspec"),
    ("play paint builtin:greedy builtin:random --seed 1 --no-replay", "click msgspec"),
    ("play hexagon builtin:greedy builtin:random --seed 1", "click msgspec"),
    ("play paint builtin:greedy builtin:random --games 2 --no-replay", "click msgspec rich"),
    ("replay verify paint-1.json.gz", "click msgspec numpy"),
    ("replay line paint-1.json.gz --turn 1", "click msgspec numpy"),
    ("championship table -", "click msgspec rich"),
    ("simulate paint greedy random", "click msgspec rich"),
]
"""Commands, and the packages beside Python's own that they may load."""

BROUGHT = {
    "msgspec": {"typing_extensions"},
    "requests": {"certifi", "charset_normalizer", "cython_runtime", "idna", "urllib3"},
    "rich": {"markdown_it", "mdurl", "pygments"},
}
"""What comes with them."""


def loaded(command: str, folder: Path) -> set[str]:
    """Run a command in an interpreter of its own; return the packages that it has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *command.split()],
        input=START if command.startswith("step") else "",
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    names = {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}
    return {name for name in names - sys.stdlib_module_names - {"cw"} if name[0] != "_"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the replay of a match."""
    place = tmp_path_factory.mktemp("matches")
    loaded("play paint builtin:greedy builtin:random --seed 1 --out paint-1.json.gz", place)
    return place


@pytest.mark.parametrize(("command", "packages"), COMMANDS, ids=[one for one, _ in COMMANDS])
def test_a_command_loads_what_it_needs_alone(command: str, packages: str, folder: Path) -> None:
    allowed = set(packages.split())
    allowed |= {name for package in allowed for name in BROUGHT.get(package, ())}
    assert loaded(command, folder) <= allowed
