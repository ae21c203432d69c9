"""A stranger uploads a program that tries all ways out of the sandbox while it plays.

It makes a try of `escapes.py` in each turn. In the last turns one of two such programs sends bits
by what the machine shares, and the other reads them. Both write at the end how many tries they
have made, and which of them have succeeded.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from functools import partial
from html import unescape
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import pytest

from cw import kits
from hub.tests.attacks import escapes
from hub.tests.attacks.hubs import RATED, SHAPES, Player, Shape, open_hub
from hub.tests.campaign import wait_until
from tests import patience
from tests.championship.contests import lines_of
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

TRIES: Final = len([*escapes.every_try("")]) + 1
"""With the bits, which one program sends and the other reads."""
TURNS: Final = TRIES + 2 * escapes.BITS
OPTIONS: Final = (f"turns={TURNS}", "width=5", "height=5")

PLAYS: Final = """
import json
import sys
from itertools import islice
import escapes
from paint import Bot, run

class Escapes(Bot):
    def on_start(self, player_id):
        self.tries, self.answers, self.looks = escapes.every_try({mark!r}), {{}}, []

    def choose(self, state):
        for name, attempt in islice(self.tries, 1):
            self.answers[name] = escapes.answer(attempt)
        bit, comes_second = divmod(2 * escapes.BITS - state.turns_left, 2)
        if bit >= 0:
            self.exchange(bit, comes_second, state)
        if state.turns_left == 1:
            done = [name for name, answer in self.answers.items() if answer == escapes.DONE]
            ended = {{"tried": len(self.answers), "done": done}}
            print("ENDED", json.dumps(ended), "DEDNE", file=sys.stderr)
        return "walk", (0, 1)

    def exchange(self, bit, comes_second, state):
        # All are asked for a turn when all have answered the one before.
        if state.player_id == max(state.player_positions):
            self.answers["bits"] = "sent"
            if not comes_second:
                escapes.send(escapes.MESSAGE[bit])
        elif comes_second:
            self.looks.append(escapes.numbers())
            if len(self.looks) == escapes.BITS:
                arrived = escapes.carriers(self.looks) - escapes.LEFT
                self.answers["bits"] = escapes.DONE if arrived else "lost"
        elif bit == 0:
            escapes.look_around()

run(Escapes())
"""


def program(mark: str) -> dict[str, bytes]:
    """Return the files of the program."""
    files = {name: file.read_bytes() for name, file in kits.files(RATED, "python").items()}
    return files | {"bot.py": PLAYS.format(mark=mark).encode(), "escapes.py": escapes.SOURCE}


def ended(text: str) -> dict[str, Any]:
    """Return what the program wrote at its end."""
    found: dict[str, Any] = json.loads(text.partition("ENDED")[2].partition("DEDNE")[0])
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_no_try_of_an_uploaded_program_succeeds(shape: Shape, tmp_path: Path) -> None:
    files = program(f"cw-{token_hex(8)}")
    with open_hub(shape, tmp_path) as hub:
        hub.operate("competition", "set", f"rated/{RATED}", f"options={options()}")
        owners = {bot: hub.player(bot.lower()) for bot in ("Receiver", "Sender")}
        for bot, owner in owners.items():
            assert owner.send_program(bot, files).status_code == 303
            owner.checked(bot)
            assert owner.status(bot) == "ACTIVE", owner.page_of(bot)
        for bot, owner in owners.items():
            wait_until(partial(has_played, owner, bot), f"a match of {bot}")
            assert ended(written_in(owner, bot)) == {"tried": TRIES, "done": []}


def options() -> str:
    """Return the options of a match as a setting of a competition."""
    return json.dumps({name: int(value) for name, _, value in (o.partition("=") for o in OPTIONS)})


def has_played(owner: Player, bot: str) -> bool:
    """Return whether a match of a bot is over."""
    return bool(written_in(owner, bot))


def written_in(owner: Player, bot: str) -> str:
    """Return what its owner is shown of a bot's first match; "" before that is over."""
    page = owner.open(f"/bot/{bot}?game={RATED}").text
    for path in re.findall(r'href="(/match/[^"?/]+)"', page):
        shown = unescape(owner.open(path).text)
        if "ENDED" in shown:
            return shown
    return ""


def championship(folder: Path, sandbox: str, mark: str) -> Mapping[str, dict[str, Any]]:
    """Return what the program wrote as two teams that meet, with time for each try."""
    for team in ("receiver", "sender"):
        (folder / "teams" / team).mkdir(parents=True)
        for name, data in program(mark).items():
            (folder / "teams" / team / name).write_bytes(data)
    command = [*patience.PROGRAM, *"championship run teams --out results --no-validate".split()]
    command += ["--game", RATED, "--format", "round-robin", "--sandbox", sandbox]
    command += [part for option in OPTIONS for part in ("--option", option)]
    environment = {**os.environ, "CW_PAUSE": "0"}
    played = subprocess.run(
        command, check=False, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert played.returncode == 0, played.stderr
    (line,) = lines_of(folder / "results")
    return dict(zip(line["players"], map(ended, line["stderr"]), strict=True))


def test_no_try_of_a_team_succeeds(tmp_path: Path) -> None:
    found = championship(tmp_path, "require", f"cw-{token_hex(8)}")
    assert found == {team: {"tried": TRIES, "done": []} for team in ("receiver", "sender")}


def test_the_same_tries_succeed_without_a_sandbox(tmp_path: Path) -> None:
    """So it is the sandbox that refuses them.

    Expected is what needs no right that containers take away. On a virtual machine all others
    succeeded as well, but for perf_event_open, lookup_dcookie, TIOCSTI, the call that is newer than
    the filter, the one of x32, and setns to the namespace of the first process.
    """
    mark = f"cw-{token_hex(8)}"
    try:
        found = championship(tmp_path, "off", mark)
    finally:
        escapes.unmark(mark)
    assert [found[team]["tried"] for team in found] == [TRIES, TRIES]
    done = {name for team in found.values() for name in team["done"]}
    assert done >= ANYWHERE


ANYWHERE: Final = {
    *("file in /tmp", "abstract socket", "port", "shared memory", "message queue", "bits"),
    *("memory in .", "memory in /tmp", "ptrace", "process_vm_readv", "inotify", "pages of others"),
}
"""What succeeds without a sandbox on any Linux."""
