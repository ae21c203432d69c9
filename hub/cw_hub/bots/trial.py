"""Whether this machine plays uploaded programs: packs, unpacks and runs one for a match."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

from cw import kits
from cw.arena.bots import BotSpec
from cw.arena.sandbox.measured import SHARED
from cw.errors import ArenaError
from cw.games.wire import Credit, Credits
from cw.matches.spec import Isolation, MatchSpec
from cw_hub.bots.limits import limits_of, problem_of_sandbox
from cw_hub.bots.programs import why_off
from cw_hub.operation.health.doctor import Finding
from cw_hub.operation.settings import HubSettings
from cw_hub.players import packages
from cw_hub.players.messages import Match, Played, Program, ReplayKeys
from cw_hub.players.players import Players

GAME: Final = "paint"
OPTIONS: Final = {"width": 10, "height": 10, "turns": 20}

NOT_NEEDED: Final = "only needed where uploaded programs are played"
ELSEWHERE: Final = "set CW_HOSTING=sandboxed if the workers are other machines"
BROKEN: Final = "make sure that a program in the sandbox can run this Python: cw check paint BOT.py"


def look_at_programs(settings: HubSettings) -> Finding:
    """Check whether uploaded programs can be played here, by playing a match."""
    if problem := problem_of_sandbox(settings):
        return Finding("programs", False, False, f"{problem}{told_people(settings)}", NOT_NEEDED)
    fault = problem_of_match(settings.players)
    if fault is not None:
        return Finding("programs", False, True, f"a Python program failed: {fault}", BROKEN)
    works = f"bubblewrap works, and a Python program has played{told_people(settings)}"
    return Finding("programs", True, False, works)


def look_at_limits(settings: HubSettings) -> Iterator[Finding]:
    """Yield the measurement of each limit of programs; none if no programs can be run.

    A site for strangers requires the limits on resources that its programs share.
    """
    is_needed = bool(settings.public_url) and settings.hosting != "off"
    for limit in limits_of(settings):
        needed = is_needed and limit.name in SHARED
        yield Finding(limit.name, bool(limit.by), needed, limit.sentence, limit.advice)


def told_people(settings: HubSettings) -> str:
    """Return the doctor's remark on players' uploads; "" if they are accepted."""
    if settings.hosting == "off":
        return "; players cannot upload any (CW_HOSTING=off)"
    return f"; players cannot upload any: {ELSEWHERE}" if why_off(settings) else ""


def problem_of_match(place: str = "") -> str | None:
    """Play a match with a program of the Python kit, as if it had been uploaded.

    `place` is the address of the players. Returns the message of its first fault, or None.
    """
    kit = {name: file.read_bytes() for name, file in kits.files(GAME, "python").items()}
    bots = (BotSpec("program", "absent", ""), BotSpec("opponent", "builtin", "still"))
    spec = MatchSpec("trial", GAME, bots, 1, dict(OPTIONS), isolation=Isolation("require"))
    names = Credits(spec.id, [Credit(bot.name, "") for bot in bots])
    task = Match(spec, ReplayKeys("own", "viewed", "archive"), names)
    program = Program("program", packages.pack(kit))
    with closing(Players(place)) as players, players.play(task, [program]) as play:
        try:
            played = next(message for message in play if isinstance(message, Played))
        except ArenaError as error:
            return str(error)
    return next((str(fault["detail"]) for fault in played.slots[0].faults), None)
