"""Whether this machine plays uploaded programs: one is packed, unpacked and run for a match."""

from __future__ import annotations

import asyncio
from typing import Final

from cw import kits
from cw.arena.bots import BotSpec
from cw.arena.sandbox import bubblewrap
from cw.hub.bots import packages
from cw.hub.bots.programs import why_off
from cw.hub.operation.health.doctor import Finding
from cw.hub.operation.settings import HubSettings
from cw.matches.run import run_match
from cw.matches.spec import Isolation, MatchSpec

GAME: Final = "paint"
OPTIONS: Final = {"width": 10, "height": 10, "turns": 20}

NOT_NEEDED: Final = "only needed where uploaded programs are played"
ELSEWHERE: Final = "set CW_HOSTING=sandboxed if the workers are other machines"
BROKEN: Final = "make sure that a program in the sandbox can run this Python: cw check paint BOT.py"


def look_at_programs(settings: HubSettings) -> Finding:
    """Find out whether uploaded programs can be played on this machine, by playing a match."""
    problem = bubblewrap.problem()
    if problem is not None:
        return Finding("programs", False, False, f"{problem}{told_people(settings)}", NOT_NEEDED)
    problem = problem_of_match()
    if problem is not None:
        return Finding("programs", False, True, f"a Python program failed: {problem}", BROKEN)
    works = f"bubblewrap works, and a Python program has played{told_people(settings)}"
    return Finding("programs", True, False, works)


def told_people(settings: HubSettings) -> str:
    """Return what doctor says of the uploads of people; nothing where they are taken."""
    if settings.hosting == "off":
        return "; players cannot upload any (CW_HOSTING=off)"
    return f"; players cannot upload any: {ELSEWHERE}" if why_off(settings) else ""


def problem_of_match() -> str | None:
    """Play a match with a program of the Python kit, as if it had been uploaded.

    Returns its first fault in words, None if it has none.
    """
    kit = {name: file.read_bytes() for name, file in kits.files(GAME, "python").items()}
    with packages.empty_folder() as folder:
        packages.unpack(packages.pack(kit), folder)
        program = packages.program_in(folder, GAME)
        bots = (program, BotSpec("opponent", "builtin", "still"))
        spec = MatchSpec("trial", GAME, bots, 1, dict(OPTIONS), isolation=Isolation("require"))
        result = asyncio.run(run_match(spec))
    return next((fault.detail for fault in result.faults_of(0)), None)
