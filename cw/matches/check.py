"""Bot checks: the steps of the protocol one by one, then whole matches, each with explanations."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeAlias
from xml.etree import ElementTree as Xml

from cw.arena.bots import BotSpec, numbered
from cw.arena.launch import LaunchPolicy, warn_of, with_secrets
from cw.arena.processes import SIGNALS
from cw.arena.program import ERROR_OUTPUT
from cw.arena.referee import MatchRecord, MatchReferee
from cw.arena.sandbox import Sandbox
from cw.arena.sandbox.reached_limits import CAUSE as LIMIT
from cw.arena.seats import STRAY, Seat
from cw.arena.seats.opening import open_seat
from cw.errors import FaultKind, UsageError, visible
from cw.games.endings import Endings
from cw.games.registry import load_checks, load_endings, load_game, load_protocol
from cw.games.rules import Fault, Json, Player
from cw.games.wire import SERVER_ERROR, Readiness, ReadyChecks, Trial
from cw.matches.progress import MatchProgress
from cw.matches.run import OnLaunch, context_of, run_match, seated
from cw.matches.spec import Isolation, MatchFault, MatchSpec, Secrets

RAISED: Final = (
    "correct the line named above; if it is in a kit file, your function returned the wrong thing"
)
UNNAMED: Final = "the bot's own code failed: see its error output"
NAMES_LINE: Final = re.compile(r"\([^\s(]+, line \d+\)")
"""Matches where a fault message names the line that raised an exception."""

ENDED: Final = re.compile(r"(?<![^:;])(?P<how>[^:;]+) \((?:exit code \d+|signal \w+)\)")
"""Matches where a fault message says that a program has ended."""


SEGFAULT: Final = "build it with -g -fsanitize=address, and check it again to see the line"
EXITED: Final = (
    "keep it running until the match is over: look for what ends it, such as sys.exit,"
    " process.exit, os.Exit or the end of the file"
)

FIXES: Final[Mapping[FaultKind, str]] = {
    "startup": "run the command by hand in the same folder, and read what it prints",
    "disconnected": "keep the program running and its connection open until the match is over",
    "timeout": (
        "answer within that time: look for an endless loop, a long search, output that is not"
        " flushed, or a read that waits for input"
    ),
    "crashed": UNNAMED,
    "malformed": "compare its answer with the protocol on the game's page in docs/games/",
    "illegal": "check the move against the rules before you send it; `cw step` tries a rule",
    "oversize": "send only the answer, nothing else",
}

PROTOCOL: Final = "the steps of the protocol"

ABSENT: Final = "start the bot first, and give the address on which it listens"
LATE: Final = "answer within that time: look for an endless loop or a long search"
CAUSES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("unresolved", "unreachable", "refused", "forbidden", "tls"), ABSENT),
    "timeout": LATE,
    "broken": FIXES["disconnected"],
    SERVER_ERROR: UNNAMED,
    LIMIT: "stay within that limit; on your own machine `cw check` sets the same limits",
    STRAY: "print nothing but answers to standard output, everything else to standard error",
}
"""How to fix a failure of the exchange itself, by its cause, regardless of the query."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A step of a check; it passed if there is no problem."""

    name: str
    problem: str | None = None
    """What was received and what was expected."""
    fix: str = ""
    brief: str = ""
    """The problem in short: the kind of fault, and the turn of a match."""
    is_note: bool = False
    """Whether the bot passes despite a problem."""

    @property
    def failed(self) -> bool:
        """Whether the bot has failed here."""
        return self.problem is not None and not self.is_note

    def to_json(self) -> dict[str, Json]:
        """Return the finding as JSON."""
        step: dict[str, Json] = {"step": self.name, "ok": self.problem is None}
        if self.problem is not None:
            step |= {"problem": self.problem, "fix": self.fix}
        return {**step, "warning": True} if self.is_note else step


class Attempt(NamedTuple):
    """The next step of a check: its name, its number from 1, and how many there are."""

    name: str
    number: int
    total: int


OnTry: TypeAlias = Callable[[Attempt], None]
"""Called before each step."""


class Stopped(Exception):
    """Ends a match of a check: at the bot's first fault, or when it has shown enough."""

    def __init__(self, fault: MatchFault | None) -> None:
        """Store the fault, if there is one."""
        super().__init__(fault)
        self.fault = fault


class StepFailed(Exception):
    """Raised when a step failed, as the same mistake would fail all later steps too."""


@dataclass(slots=True)
class Findings:
    """The steps so far (see `checks.CheckReport`)."""

    on_step: Callable[[int], None] = lambda _: None
    """Called with the number of completed steps."""
    steps: list[Finding] = field(default_factory=list)

    def step(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Record a step; raise StepFailed if it has a problem."""
        self.steps.append(finding_of(name, problem, fix))
        if problem is not None:
            raise StepFailed
        self.on_step(len(self.steps))
        return True

    def warn(self, name: str, problem: Fault | str | None, fix: str) -> None:
        """Record a step whose problem does not fail the bot."""
        self.steps.append(replace(finding_of(name, problem, fix), fix=fix, is_note=True))
        self.on_step(len(self.steps))


def finding_of(name: str, problem: Fault | str | None, fix: str) -> Finding:
    """Return the finding for a step of the protocol."""
    if not isinstance(problem, Fault):
        return Finding(name, problem, fix, "failed")
    text = f"{problem.kind}: {problem.sentence}"
    return Finding(name, text, mended_by(problem) or fix, problem.kind)


def mended_by(fault: Fault) -> str | None:
    """Return how to fix a failed exchange, or None if an answer arrived."""
    fix = CAUSES.get(fault.cause, FIXES[fault.kind] if fault.lasting else None)
    return fix if fault.cause == LIMIT else own_mistake(fault.sentence) or fix


def own_mistake(sentence: str) -> str | None:
    """Return how to fix a program that raised an exception or ended; None for neither.

    >>> own_mistake("segmentation fault (exit code 139)") == SEGFAULT
    True
    """
    words = sentence.partition(ERROR_OUTPUT)[0]
    if NAMES_LINE.search(words):
        return RAISED
    ended = ENDED.search(words)
    if ended is None:
        return None
    if words[ended.end() :]:
        return UNNAMED
    return SEGFAULT if ended["how"].strip() == SIGNALS["SIGSEGV"] else EXITED


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bot to check, with what it needs to play."""

    game: str
    bot: BotSpec
    secrets: Secrets
    isolation: Isolation
    options: Mapping[str, Json] = field(default_factory=dict)
    """The options that differ in the contest for which it is checked."""

    def with_settings(self) -> Candidate:
        """Return the candidate with all settings of the bot among its secrets."""
        own = {**with_secrets(self.bot).settings, **self.secrets.get(self.bot.name, {})}
        return replace(self, secrets={self.bot.name: own})


def check(
    candidate: Candidate, on_try: OnTry = lambda _: None, on_launch: OnLaunch = warn_of
) -> Iterator[Finding]:
    """Try a bot step by step, up to the first failure.

    Whole matches follow the steps of the protocol. Each starts the program, and reports to
    `on_launch` how it is isolated.
    """
    checks, candidate = load_checks(candidate.game), candidate.with_settings()
    probed: list[Finding] = []
    # Bots that run in this process speak no protocol.
    if candidate.bot.kind not in ("builtin", "python"):
        probed = asyncio.run(probe(candidate, on_try, on_launch))
    yield from probed
    if any(step.failed for step in probed):
        return
    total = len(probed) + len(checks.trials)
    for number, trial in enumerate(checks.trials):
        on_try(Attempt(trial.name, len(probed) + number + 1, total))
        finding = tried(candidate, trial, number, on_launch)
        yield finding
        if finding.failed:
            return


async def probe(
    candidate: Candidate, on_try: OnTry = lambda _: None, on_launch: OnLaunch = warn_of
) -> list[Finding]:
    """Try every step of the protocol on a bot, up to the first failure."""
    if "client" in load_protocol(candidate.game).transports:
        return []
    checks = load_checks(candidate.game)
    async with alone(candidate, on_launch) as (referee, player):
        total = checks.steps(referee.transport(player)) + len(checks.trials)
        findings = Findings(lambda past: on_try(Attempt(PROTOCOL, min(past + 1, total), total)))
        findings.on_step(0)
        with suppress(StepFailed):
            await checks.probe(referee, player, findings)
    return findings.steps


@asynccontextmanager
async def alone(
    candidate: Candidate, on_launch: OnLaunch = warn_of
) -> AsyncIterator[tuple[MatchReferee, Player]]:
    """Seat a bot to be queried, without a match; yield the referee and the bot's player."""
    game, isolation = candidate.game, candidate.isolation
    protocol = load_protocol(game)
    spec = MatchSpec("check", game, (candidate.bot,), seed=0, isolation=isolation)
    record = MatchRecord(load_game(game), seated(spec, protocol, candidate.secrets), 0, {})
    player, bot_spec = next(iter(record.bots.items()))
    policy = LaunchPolicy(Sandbox(isolation.sandbox), on_launch)
    context = context_of(spec, protocol, record, policy)
    seat = await open_seat(bot_spec, player, context)
    try:
        yield MatchReferee(record, {player: seat}, {}), player
    finally:
        await seat.close()


def specs_of(candidate: Candidate, trial: Trial, number: int) -> list[MatchSpec]:
    """Return the matches of a trial, one for each seat of the bot."""
    bot, options = candidate.bot, dict(trial.options)
    if trial.by_contest:
        options |= candidate.options
    names = numbered(trial.opponents, [bot.name])
    others = [
        BotSpec(name, "builtin", strategy)
        for name, strategy in zip(names, trial.opponents, strict=True)
    ]
    orders = ([bot, *others] if seat == 0 else [*others, bot] for seat in trial.seats)
    return [
        MatchSpec(
            f"check {number}",
            candidate.game,
            tuple(bots),
            number,
            options,
            trial.start,
            candidate.isolation,
        )
        for bots in orders
    ]


def tried(candidate: Candidate, trial: Trial, number: int, on_launch: OnLaunch) -> Finding:
    """Play the matches of a trial, up to the bot's first fault that costs it something."""
    for spec in specs_of(candidate, trial, number):
        seat = spec.bots.index(candidate.bot)
        playing = first_fault(spec, seat, candidate.secrets, on_launch, trial.turns)
        fault = asyncio.run(playing)
        if fault is not None:
            return fault_of(trial, fault, load_endings(candidate.game))
    return Finding(trial.name)


async def first_fault(
    spec: MatchSpec,
    number: int,
    secrets: Secrets,
    on_launch: OnLaunch,
    most_turns: int | None = None,
) -> MatchFault | None:
    """Play a match until the bot with this number commits a fault; return the fault.

    The match is aborted after `most_turns`, if given. Lines that are not answers cost nothing: they
    are reported only if the whole match has no other fault.
    """

    def stop(progress: MatchProgress) -> None:
        # A bot that is late in every turn would keep its author waiting to the end of the match.
        costly = (fault for fault in progress.faults() if fault.bot == number)
        if first := next((fault for fault in costly if fault.cause != STRAY), None):
            raise Stopped(first)
        if most_turns is not None and progress.turns >= most_turns:
            raise Stopped(None)

    try:
        result = await run_match(spec, secrets=secrets, on_turn=stop, on_launch=on_launch)
    except Stopped as stopped:
        return stopped.fault
    faults = result.faults_of(number)
    return min(faults, key=lambda fault: fault.cause == STRAY, default=None)


def fault_of(trial: Trial, fault: MatchFault, endings: Endings) -> Finding:
    """Return the finding that explains a fault."""
    turn = endings.turn_after(fault.turn)
    problem = f"{turn}: {fault.kind}: {fault.detail}"
    fix = CAUSES.get(fault.cause, FIXES[fault.kind])
    if fault.cause not in (LIMIT, STRAY):
        fix = own_mistake(fault.detail) or fix
    return Finding(
        trial.name,
        problem,
        trial.note or fix,
        f"{fault.kind} in {turn}",
        is_note=bool(trial.note),
    )


NO_XML: Final = re.compile("[\ufffe\uffff]")
"""Characters that XML does not allow, in addition to those that `visible` has replaced."""


def junit(game: str, bot: BotSpec, findings: Sequence[Finding]) -> bytes:
    """Return JUnit XML with one test case for each step; failed steps have a failure.

    A note is the output of its test case. What a bot has sent appears only as text, and local
    folders are not named.
    """
    failed = sum(finding.failed for finding in findings)
    counts = {"tests": str(len(findings)), "failures": str(failed), "errors": "0"}
    suites = Xml.Element("testsuites", counts)
    suite = Xml.SubElement(
        suites, "testsuite", {"name": xml_text(f"cw check {game} {bot.public}"), **counts}
    )
    for finding in findings:
        case = {"classname": f"cw.{game}", "name": xml_text(finding.name)}
        step = Xml.SubElement(suite, "testcase", case)
        if finding.failed:
            failure = Xml.SubElement(step, "failure", {"message": xml_text(finding.brief)})
            failure.text = xml_text(f"{finding.problem}\nfix: {finding.fix}")
        elif finding.problem is not None:
            note = Xml.SubElement(step, "system-out")
            note.text = xml_text(f"note: {finding.problem}\n{finding.fix}")
    document: bytes = Xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document


def xml_text(text: str) -> str:
    """Return text that XML may contain."""
    return NO_XML.sub("\ufffd", visible(text))


async def ask_ready(
    game: str, bots: Sequence[BotSpec], secrets: Secrets, isolation: Isolation
) -> list[Readiness]:
    """Return whether web services are ready, in their order, and close all connections.

    Raises UsageError if the game does not ask bots whether they are ready.
    """
    checks = load_checks(game)
    if not isinstance(checks, ReadyChecks):
        raise UsageError(f"{game} does not ask bots whether they are ready")
    spec = MatchSpec("ready", game, tuple(bots), seed=0, isolation=isolation)
    record = MatchRecord(load_game(game), seated(spec, load_protocol(game), secrets), 0, {})
    policy = LaunchPolicy(Sandbox(isolation.sandbox))
    context = context_of(spec, load_protocol(game), record, policy)
    seats: dict[Player, Seat] = {}
    async with AsyncExitStack() as stack:
        for player, bot in record.bots.items():
            seats[player] = await open_seat(bot, player, context)
            stack.push_async_callback(seats[player].close)
        readiness = await checks.ready(MatchReferee(record, seats, {}))
    return [readiness[player] for player in record.bots]
