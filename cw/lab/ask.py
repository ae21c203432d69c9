"""Repeats the questions of a recorded match to a bot, and compares its replies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import msgspec

from cw.arena.bots import BotSpec, numbered, public_fault
from cw.arena.launch import warn_of
from cw.arena.referee import MatchRecord
from cw.arena.seats import Answer, Look, Seat
from cw.arena.seats.opening import SeatContext, open_seat
from cw.arena.seats.wrappers import question_text
from cw.arena.transports.lines import SILENT, HeadAndTail
from cw.errors import IllegalAction, UsageError
from cw.games.codec import Game
from cw.games.registry import load_endings, load_game, load_protocol
from cw.games.rules import Fault, Json, Player
from cw.games.wire import Query, Request, Transport
from cw.matches.progress import MatchProgress
from cw.matches.run import OnLaunch, RunOptions, game_of, opened, parted, seated
from cw.matches.spec import Isolation, MatchSpec
from cw.replays.document import Document, action_document, states
from cw.replays.verify import PERSON, as_read, unready

WITHOUT_LIMIT: Final = 24 * 3600.0
"""Time limit in seconds while the bot is being debugged."""

SETTLING: Final = 4
"""Iterations of the event loop that wait for output written before a reply."""

LATEST: Final = 2000
"""Characters of a long output that are assumed to be new."""

GRANTED: Final = Answer(None, 0.0)
"""The reply of a seat to a query that expects only an OK."""


class EndOfQuestions(Exception):
    """Ends the replayed match once everything requested has been asked."""


@dataclass(frozen=True, slots=True)
class RecordedTurns:
    """The recorded actions, looked up for the current turn of the replayed match."""

    record: MatchRecord
    turns: Sequence[Mapping[str, Json]]
    """The actions of each turn, by player."""

    @property
    def now(self) -> int:
        """The index of the current turn."""
        return len(self.record.turns)

    def document(self, player: Player) -> Json:
        """Return a player's action in this turn as JSON; raise EndOfQuestions if there is none."""
        if self.now >= len(self.turns) or str(player) not in self.turns[self.now]:
            # The player moved out of turn or rejected the notification of a move, which ended the
            # match.
            raise EndOfQuestions
        return self.turns[self.now][str(player)]

    def action(self, player: Player) -> Any:
        """Return the action or fault of a player in this turn."""
        actions = {str(player): self.document(player)}
        read = self.record.game.codec.actions_from_json(self.record.state, actions)
        return next(iter(read.values()))


class Listener(Protocol):
    """Receives the results of asking a bot again."""

    def add(self, new: NewAnswer) -> None:
        """Receive a new reply to a question."""

    def refuse(self, query: Query, fault: Fault) -> None:
        """Receive a fault in reply to a query that expects an OK; it ends the questions."""


class RecordedSeat:
    """A player who repeats the recorded actions."""

    stderr = SILENT

    def __init__(
        self, player: Player, turns: RecordedTurns, transport: Transport, absent: Fault | None
    ) -> None:
        """Seat a player; one who was `absent` from the start rejects the first query."""
        self.player = player
        self.turns = turns
        self.transport = transport
        self.absent = absent

    async def ask(self, query: Query, look: Look) -> Answer:
        """Return the recorded action; reply with an OK to queries that need no action."""
        if query.action:
            return Answer(self.turns.action(self.player), 0.0)
        if self.absent is not None and query.message != "nothing":
            return Answer(query.explain(self.absent), 0.0)
        return GRANTED

    async def close(self) -> None:
        """Do nothing: there is no process."""


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """A bot's new reply to a question of the match."""

    turn: int
    """The index of the turn."""
    state: Any
    """The position before that turn."""
    question: str
    """The message to the bot; for a bot that is shown the position, the position as JSON."""
    recorded: Any
    """The action in the match, or a fault."""
    value: Any
    """The new action, or a fault."""
    seconds: float
    stderr: str
    """What the bot has written to standard error since the previous question."""


class AskedSeat:
    """A bot that is asked again; the match continues with its seat's recorded actions."""

    def __init__(
        self,
        player: Player,
        seat: Seat,
        turns: RecordedTurns,
        listener: Listener,
        *,
        is_patient: bool,
    ) -> None:
        """Seat a bot; `is_patient` removes its time limit."""
        self.player = player
        self.seat = seat
        self.transport = seat.transport
        self.turns = turns
        self.listener = listener
        self.is_patient = is_patient
        self._written = ""

    @property
    def stderr(self) -> HeadAndTail:
        """The bot's output on standard error."""
        return self.seat.stderr

    async def ask(self, query: Query, look: Look) -> Answer:
        """Ask the bot, report its reply, and return the recorded action."""
        if self.is_patient:
            query = replace(query, limits=query.limits._replace(seconds=WITHOUT_LIMIT))
        if not query.action:
            answer = await self.seat.ask(query, look)
            # For a fault that is not reported, the protocol itself decides whether to continue.
            if isinstance(answer.value, Fault) and query.noted:
                self.listener.refuse(query, answer.value)
                raise EndOfQuestions
            return GRANTED
        recorded = self.turns.action(self.player)
        answer = await self.seat.ask(query, look)
        written = await self._fresh_output()
        turn, state, value = self.turns.now, self.turns.record.state, answer.value
        question = question_text(query, look, self.transport, self.turns.record.game.codec)
        self.listener.add(
            NewAnswer(turn, state, question, recorded, value, answer.seconds, written)
        )
        if isinstance(value, Fault) and value.lasting:
            raise EndOfQuestions
        return Answer(recorded, 0.0)

    async def _fresh_output(self) -> str:
        """Return what the bot has written to standard error since the last call."""
        for _ in range(SETTLING):
            await asyncio.sleep(0)
        before, self._written = self._written, self.seat.stderr.text()
        if self._written.startswith(before):
            return self._written[len(before) :]
        # Only the head and tail of a long output are stored, so the new part cannot be determined.
        return self._written[-LATEST:]

    async def close(self) -> None:
        """Close the seat."""
        await self.seat.close()


LEGAL: Final = "legal"
"""The verdict on an action that is allowed by the rules."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A request to repeat the questions of a recorded match to a bot."""

    document: Document
    """The replay."""
    player: Player
    """The player whose seat the bot takes."""
    bot: BotSpec
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    turn: int | None = None
    """The turn to ask about, numbered as in messages; None for all turns."""
    is_cold: bool = False
    """Whether the bot's match starts from the position before that turn."""
    is_patient: bool = False
    """Whether the bot has no time limit."""
    isolation: Isolation = field(default_factory=Isolation)


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """A bot's new reply, with the recorded one."""

    turn: int
    """The turn, numbered as in messages."""
    question: str
    before: Json
    """The recorded action, or `{"fault": kind, "error": message}`."""
    after: Json
    """The new action, in the same form."""
    verdict_before: str
    """The verdict of the rules: `legal`, or the kind of the fault and a message."""
    verdict: str
    seconds_before: float | None
    """The recorded response time, or None if there is none."""
    seconds: float
    stderr: str
    """What the bot has written to standard error since the previous question."""

    @property
    def is_changed(self) -> bool:
        """Whether the reply differs from the recorded one."""
        return bool(self.before != self.after)

    @property
    def is_legal(self) -> bool:
        """Whether the rules allow the new reply."""
        return self.verdict == LEGAL

    def to_json(self) -> dict[str, Json]:
        """Return the reply as JSON, with times in milliseconds."""
        before = self.seconds_before
        return {
            "turn": self.turn,
            "question": self.question,
            "before": self.before,
            "after": self.after,
            "changed": self.is_changed,
            "verdict_before": self.verdict_before,
            "verdict": self.verdict,
            "ms_before": None if before is None else round(before * 1000, 3),
            "ms": round(self.seconds * 1000, 3),
            "stderr": self.stderr,
        }


HIDDEN: Final = "[hidden]"
"""Replaces the bot's secrets in displayed questions."""

Tell: TypeAlias = Callable[[AskedAnswer], None]


async def ask(asking: Asking, tell: Tell, on_launch: OnLaunch = warn_of) -> str:
    """Ask a bot, and report each reply as it arrives; return why it stopped early, or "".

    The match is replayed by the protocol of its game. All players act as recorded, including the
    seat that the bot takes: the bot is asked the recorded questions and gets no further
    information. If a turn is given, only the reply in that turn is reported. Raises UsageError for
    a turn in which the player was asked nothing, for a bot that cannot play, and for a replay of
    other rules. Leaves no process of the bot running, even when cancelled.
    """
    game = load_game(asking.document["game"])
    check(asking, game)
    protocol, part, answers = load_protocol(game.name), part_of(asking, game), Answers(asking, tell)
    spec = spec_of(asking, part)
    secrets = {spec.bots[place_of(asking)].name: dict(asking.secrets)}
    options, protocol_options = parted(spec.options, protocol)
    bots = seated(spec, protocol, secrets)
    record = MatchRecord(game_of(spec), bots, spec.seed, options, from_position=True)
    turns = RecordedTurns(record, part.turns)
    run_options = RunOptions(
        on_launch=on_launch, secrets=secrets, open_seat=seats(asking, turns, answers)
    )
    progress = MatchProgress(record)
    async with opened(spec, protocol, protocol_options, progress, run_options) as match:
        with suppress(EndOfQuestions):
            await match.play(protocol)
    return answers.problem()


def check(asking: Asking, game: Game) -> None:
    """Raise UsageError for other rules, a turn without a question, or a cold bot without a turn."""
    document, turn, word = asking.document, asking.turn, load_endings(game.name).turn
    if document["rules"] != game.version:
        raise UsageError(
            f"the replay needs version {document['rules']} of the rules; this is {game.version}:"
            " its match cannot be played again"
        )
    asked = turns_of(document, asking.player)
    if not asked:
        raise UsageError(f"player {asking.player} had no turn in this match")
    if turn is not None and turn not in asked:
        near = sorted(sorted(asked, key=lambda other: abs(other - turn))[:2])
        raise UsageError(
            f"player {asking.player} had nothing to answer in {word} {turn}; the nearest:"
            f" {' and '.join(map(str, near))}, the first: {asked[0]}, the last: {asked[-1]}"
        )
    if asking.is_cold and turn is None:
        raise UsageError("to ask a bot without the earlier turns, choose one turn")


def turns_of(document: Document, player: Player) -> list[int]:
    """Return the turns in which a player acted."""
    turns = enumerate(document["turns"], start=load_endings(document["game"]).first)
    return [number for number, turn in turns if str(player) in turn["actions"]]


class Part(NamedTuple):
    """The part of a match that is replayed."""

    start: Json
    turns: Sequence[Mapping[str, Json]]
    """The actions of each turn, by player."""


def part_of(asking: Asking, game: Game) -> Part:
    """Return the match up to the requested turn; for a cold bot, only that turn."""
    document = asking.document
    turns = [each["actions"] for each in document["turns"][: turns_played(asking)]]
    if not asking.is_cold:
        return Part(document["start"], turns)
    before = next(islice(states(game, document), len(turns) - 1, None))
    return Part(as_read(game.codec.state_to_json(before)), turns[-1:])


def turns_played(asking: Asking) -> int | None:
    """Return the number of turns to replay, or None for all."""
    first = load_endings(asking.document["game"]).first
    return None if asking.turn is None else asking.turn - first + 1


def place_of(asking: Asking) -> int:
    """Return the index of the asked seat; raise UsageError if there is no such player."""
    players = [seat["player"] for seat in asking.document["players"]]
    if asking.player not in players:
        raise UsageError(f"there is no player {asking.player} in this match")
    return players.index(asking.player)


def spec_of(asking: Asking, part: Part) -> MatchSpec:
    """Return the match to replay, with the bots' original names."""
    document = asking.document
    names = numbered([seat["name"] for seat in document["players"]])
    bots = [BotSpec(name, "absent", "its answers are recorded") for name in names]
    place = place_of(asking)
    bots[place] = msgspec.structs.replace(asking.bot, name=names[place])
    return MatchSpec(
        id="ask",
        game=document["game"],
        bots=tuple(bots),
        seed=document["seed"],
        options=document["options"],
        start=part.start,
        isolation=asking.isolation,
        players=tuple(seat["player"] for seat in document["players"]),
    )


def seats(
    asking: Asking, turns: RecordedTurns, answers: Answers
) -> Callable[[BotSpec, Player, SeatContext], Awaitable[Seat]]:
    """Return a function that opens seats: a real one for the bot, recorded ones for the others."""
    people = [seat["player"] for seat in asking.document["players"] if seat.get("bot") == PERSON]
    missing = unready(asking.document)

    async def seat_of(bot: BotSpec, player: Player, context: SeatContext) -> Seat:
        if player != asking.player:
            absent = Fault("startup", "it did not start") if player in missing else None
            transport: Transport = "human" if player in people else "in-process"
            return RecordedSeat(player, turns, transport, absent)
        seat = await open_seat(bot, player, context)
        return AskedSeat(player, seat, turns, answers, is_patient=asking.is_patient)

    return seat_of


class Answers:
    """Combines each reply of a bot with the recorded one."""

    def __init__(self, asking: Asking, tell: Tell) -> None:
        """Start without replies."""
        self._asking = asking
        self._tell = tell
        self._game = load_game(asking.document["game"])
        self._endings = load_endings(asking.document["game"])
        before = len(asking.document["turns"][: turns_played(asking)]) - 1
        self._begin = before if asking.is_cold else 0
        """The index of the turn at which the replayed match starts."""
        self._index = -1
        """The index of the turn asked about last, or -1 if none."""
        self._problem = ""

    def problem(self) -> str:
        """Return why some requested questions were not asked, or ""."""
        if self._problem or self._is_wanted():
            return self._problem
        return f"the match ended before {self._endings.turn} {self._asking.turn}"

    def refuse(self, query: Query, fault: Fault) -> None:
        """Record that the bot rejected a message that every bot of the game must accept."""
        fault = public_fault(self._asking.bot, fault)
        what = query.message
        asked = f"{what.method} {what.path}" if isinstance(what, Request) else "a message"
        turn = self._endings.turn
        when = f"before its first {turn}" if self._index < 0 else f"after {self._turn()}"
        asked = "nothing" if what == "nothing" else asked
        self._problem = f"{when} it did not accept {asked}: {fault.kind}: {fault.sentence}"

    def add(self, new: NewAnswer) -> None:
        """Report a reply if its turn was requested."""
        self._index = self._begin + new.turn
        if isinstance(new.value, Fault) and new.value.lasting:
            sentence = public_fault(self._asking.bot, new.value).sentence
            self._problem = f"in {self._turn()}: {sentence}"
        if self._is_wanted():
            self._tell(self._answer(new))

    def _is_wanted(self) -> bool:
        """Return whether the turn asked about last was requested."""
        return self._asking.turn in (None, self._index + self._endings.first)

    def _turn(self) -> str:
        """Return the name of the turn asked about last, for messages."""
        return self._endings.turn_after(self._index)

    def _answer(self, new: NewAnswer) -> AskedAnswer:
        turn = self._asking.document["turns"][self._index]
        player = str(self._asking.player)
        times = turn.get("ms")
        milliseconds = times.get(player) if isinstance(times, dict) else None
        value = new.value
        if isinstance(value, Fault):
            value = public_fault(self._asking.bot, value)
        return AskedAnswer(
            turn=self._index + self._endings.first,
            question=self._without_secrets(new.question),
            before=turn["actions"][player],
            after=as_read(action_document(self._game, value)),
            verdict_before=self._verdict(new.state, self._noted(new.recorded)),
            verdict=self._verdict(new.state, value),
            seconds_before=milliseconds / 1000 if isinstance(milliseconds, int | float) else None,
            seconds=new.seconds,
            stderr=new.stderr,
        )

    def _without_secrets(self, question: str) -> str:
        for secret in filter(None, self._asking.secrets.values()):
            question = question.replace(secret, HIDDEN)
        return question

    def _noted(self, recorded: Any) -> Any:
        """Return a recorded action; for a fault, return the more detailed one in the replay."""
        if isinstance(recorded, Fault):
            for fault in self._asking.document["faults"]:
                if (fault["turn"], fault["player"]) == (self._index, self._asking.player):
                    return Fault(fault["kind"], fault["detail"])
        return recorded

    def _verdict(self, state: Any, value: Any) -> str:
        if isinstance(value, Fault):
            return ": ".join(filter(None, (value.kind, value.sentence)))
        try:
            self._game.rules.check(state, self._asking.player, value)
        except IllegalAction as error:
            return f"{error.kind}: {error}"
        return LEGAL
