"""Checks of a bot: the steps of its protocol one by one, then whole matches, each explained."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from cw.arena.bot_names import numbered
from cw.arena.bots import BotSpec
from cw.arena.launch import LaunchPolicy, warn_of, with_secrets
from cw.arena.referee import MatchRecord, MatchReferee
from cw.arena.sandbox import Sandbox
from cw.arena.seats.opening import open_seat
from cw.errors import FaultKind
from cw.games.registry import load_checks, load_game, load_protocol
from cw.games.rules import Fault, Json, Player
from cw.games.wire import Trial
from cw.matches.run import OnLaunch, context_of, run_match, seated
from cw.matches.spec import Isolation, MatchFault, MatchSpec, Secrets

FIXES: Final[Mapping[FaultKind, str]] = {
    "startup": "run the command by hand in the same folder, and read what it prints",
    "disconnected": "keep the program running and its connection open until the match is over",
    "timeout": "answer sooner, flush what you print, and never wait for more input than one line",
    "crashed": "run it by hand with the same input, and read its error output",
    "malformed": "compare what came with the protocol on the game's page in docs/games/",
    "illegal": "check the move against the rules before you send it; `cw step` tries a rule",
    "oversize": "send only the answer, nothing else",
}


ABSENT: Final = "start the bot first, and give the address on which it listens"
UNREACHED: Final = ("unresolved", "unreachable", "refused", "forbidden", "tls")
"""Causes of faults, as transports name them, for which nobody can be asked at an address."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A step of a check: fine if there is no problem."""

    name: str
    problem: str | None = None
    """What came and what was expected."""
    fix: str = ""
    brief: str = ""
    """The problem in few words: the kind of a fault, and the turn of a match."""

    def to_json(self) -> dict[str, Json]:
        """Return it for programs."""
        said = {"step": self.name, "ok": self.problem is None}
        return said if self.problem is None else {**said, "problem": self.problem, "fix": self.fix}


class BotGone(Exception):
    """The bot under check has ended: nothing more can be asked of it."""


@dataclass(slots=True)
class Findings:
    """The steps so far (see `wire.CheckReport`)."""

    found: list[Finding] = field(default_factory=list)

    def step(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Note a step; raise BotGone where nobody is there: what a step needs mends nothing."""
        if not isinstance(problem, Fault):
            self.found.append(Finding(name, problem, fix, "failed"))
            return problem is None
        mended = mended_by(problem)
        said = f"{problem.kind}: {problem.sentence}"
        self.found.append(Finding(name, said, mended or fix, problem.kind))
        if mended is not None:
            raise BotGone
        return False


def mended_by(fault: Fault) -> str | None:
    """Return what to do where nobody is there to be asked, None where somebody is."""
    if fault.lasting:
        return FIXES[fault.kind]
    return ABSENT if fault.cause in UNREACHED else None


OnTry: TypeAlias = Callable[[str], None]
"""Is told what is tried next, in words."""


def check(  # noqa: PLR0913, PLR0917 - what a match has, and who is told
    game: str,
    bot: BotSpec,
    secrets: Secrets,
    isolation: Isolation,
    on_try: OnTry = lambda _: None,
    on_launch: OnLaunch = warn_of,
) -> Iterator[Finding]:
    """Try a bot step by step, up to the first whole match that is not fine.

    Whole matches come when the steps of the protocol are fine. A program is started for each of
    them, and `on_launch` is told how it is isolated.
    """
    # Those that we ask inside speak no protocol.
    own = {bot.name: {**with_secrets(bot).settings, **secrets.get(bot.name, {})}}
    probed: list[Finding] = []
    if bot.kind not in ("builtin", "python"):
        on_try("the steps of the protocol")
        probed = asyncio.run(probe(game, bot, own, isolation, on_launch))
    yield from probed
    if any(step.problem for step in probed):
        return
    for number, trial in enumerate(load_checks(game).trials):
        on_try(trial.name)
        specs = specs_of(game, bot, trial, number, isolation)
        finding = tried(trial, specs, bot, own, on_launch)
        yield finding
        if finding.problem is not None:
            return


async def probe(
    game: str, bot: BotSpec, secrets: Secrets, isolation: Isolation, on_launch: OnLaunch = warn_of
) -> list[Finding]:
    """Ask a bot for every step of the protocol."""
    if "client" in load_protocol(game).transports:
        return []
    findings = Findings()
    async with alone(game, bot, secrets, isolation, on_launch) as (referee, player):
        with suppress(BotGone):
            await load_checks(game).probe(referee, player, findings)
    return findings.found


@asynccontextmanager
async def alone(
    game: str, bot: BotSpec, secrets: Secrets, isolation: Isolation, on_launch: OnLaunch = warn_of
) -> AsyncIterator[tuple[MatchReferee, Player]]:
    """Seat a bot to be asked, without a match; gives the referee, and who the bot is to it."""
    protocol = load_protocol(game)
    spec = MatchSpec("check", game, (bot,), seed=0, isolation=isolation)
    record = MatchRecord(load_game(game), seated(spec, protocol, secrets), 0, {})
    player, known = next(iter(record.bots.items()))
    policy = LaunchPolicy(Sandbox(isolation.sandbox), on_launch)
    context = context_of(spec, protocol, record, policy)
    seat = await open_seat(known, player, context)
    try:
        yield MatchReferee(record, {player: seat}, {}), player
    finally:
        await seat.close()


def specs_of(
    game: str, bot: BotSpec, trial: Trial, number: int, isolation: Isolation
) -> list[MatchSpec]:
    """Return the matches of a trial: with the bot in the first seat, and in the last."""
    names = numbered(trial.opponents, [bot.name])
    others = [
        BotSpec(name, "builtin", strategy)
        for name, strategy in zip(names, trial.opponents, strict=True)
    ]
    orders = ([bot, *others], [*others, bot])
    return [
        MatchSpec(
            f"check {number}",
            game,
            tuple(bots),
            number,
            dict(trial.options),
            trial.start,
            isolation,
        )
        for bots in orders
    ]


def tried(
    trial: Trial, specs: list[MatchSpec], bot: BotSpec, secrets: Secrets, on_launch: OnLaunch
) -> Finding:
    """Play the matches of a trial, up to the first fault of the bot."""
    for spec in specs:
        result = asyncio.run(run_match(spec, secrets=secrets, on_launch=on_launch))
        faults = result.faults_of(spec.bots.index(bot))
        if faults:
            return fault_of(trial, faults[0])
    return Finding(trial.name)


def fault_of(trial: Trial, fault: MatchFault) -> Finding:
    """Explain a fault."""
    problem = f"turn {fault.turn + 1}: {fault.kind}: {fault.detail}"
    return Finding(trial.name, problem, FIXES[fault.kind], f"{fault.kind} in turn {fault.turn + 1}")
