"""Matches that the server plays while pages look on, with bots and with people."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from queue import Queue
from threading import Lock, Thread
from typing import Any, Final, TypeVar

from cw.arena.bots import BotSpec
from cw.arena.launch import LaunchPolicy
from cw.arena.referee import MatchRecord
from cw.arena.seats.human import HumanSeat
from cw.errors import Abandoned, ArenaError, IllegalAction, OutOfTurn, UsageError
from cw.games.registry import load_play_options
from cw.games.rules import Fault, Json, Player
from cw.matches.run import FinishedMatch, Setup
from cw.replays.document import Document, Recorder, ending_of, replay_of
from cw.server.session import Clock

MOST_KEPT: Final = 64
"""Matches that can be looked at, running ones included; the oldest that is over makes way."""

UNWATCHED: Final = 60.0
"""Seconds without a look after which a match makes way for a new one."""

PATIENCE: Final = 10.0
"""Seconds for the loop of the matches to answer."""

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WantedMatch:
    """A match that shall be played."""

    game: str
    bots: Sequence[BotSpec]
    seed: int
    options: Mapping[str, Json]
    pace: float = 0.0
    """Seconds that every action of a bot takes at least."""
    guard: LaunchPolicy = field(default_factory=LaunchPolicy)

    @property
    def people(self) -> list[str]:
        """Name those who play by hand."""
        return [bot.name for bot in self.bots if bot.kind == "human"]


@dataclass(slots=True)
class LiveMatch:
    """One match of the server, from its first question on."""

    wanted: WantedMatch
    name: str
    hands: Mapping[str, HumanSeat]
    key: str
    """Who knows it plays by hand."""
    seen: float
    """When a page last looked."""
    recorder: Recorder = field(default_factory=Recorder)
    date: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    played: MatchRecord | None = None
    version: int = 0
    """Grows with whatever a page may show."""
    finished: Future[FinishedMatch] = field(default_factory=Future)

    @property
    def over(self) -> bool:
        """Return whether nothing will happen any more."""
        return self.finished.done()

    @property
    def trouble(self) -> str:
        """Say to people why there is no result, "" if nothing has gone wrong."""
        error = self.finished.exception() if self.over else None
        if error is None:
            return ""
        if isinstance(error, Abandoned):
            return "The match was given up."
        why = error if isinstance(error, ArenaError) else "a mistake of the server"
        return f"The match ended without a result: {why}."

    def watch(self, played: MatchRecord) -> None:
        """Take in the start, or a turn."""
        self.played = played
        self.version += 1

    def document(self) -> Document:
        """Return the replay of the match so far; raise UsageError before its start."""
        return replay_of(self._begun(), self.recorder, self.date) | self._state()

    def news(self, after: int) -> Document:
        """Return what came after so many turns; raise UsageError before the start."""
        turns = self.recorder.turns[after:]
        return {"after": after, "turns": turns, **ending_of(self._begun()), **self._state()}

    def _begun(self) -> MatchRecord:
        if self.played is None:
            raise UsageError(self.trouble or "the players are getting ready")
        return self.played

    def _state(self) -> Document:
        return {"live": {"over": self.over, "trouble": self.trouble}}

    def turn_of(self, key: str) -> Document | None:
        """Return what the person with the key may do now; None if they have to wait."""
        player = self.asked(key)
        play_options = load_play_options(self.wanted.game)
        if player is None or self.played is None or play_options.moves is None:
            return None
        return {
            "player": str(player),
            "turn": len(self.recorder.turns),
            "moves": list(play_options.moves(self.played.state, player)),
        }

    def asked(self, key: str) -> Player | None:
        """Return the player that waits for the person with the key."""
        if self.played is None or not secrets.compare_digest(key.encode(), self.key.encode()):
            return None
        for player, bot in self.played.bots.items():
            if bot.name in self.hands and self.hands[bot.name].is_asked:
                return player
        return None

    def play(self, key: str, turn: int, document: Json) -> None:
        """Play an action by hand; raise an ArenaError if it cannot be played."""
        player = self.asked(key)
        if player is None or self.played is None or turn != len(self.recorder.turns):
            raise OutOfTurn("it is not your turn")
        game, state = self.played.game, self.played.state
        action = game.codec.actions_from_json(state, {str(player): document})[player]
        if isinstance(action, Fault):
            raise IllegalAction(f"this is no action: {action.detail or action.kind}")
        game.rules.check(state, player, action)
        self.hands[self.played.bots[player].name].play(action)


class LoopThread:
    """A thread with an event loop, in which all matches of a server are played."""

    def __init__(self) -> None:
        """Start the thread, and wait until its loop runs."""
        self._loops: Queue[asyncio.AbstractEventLoop] = Queue()
        self._ended = asyncio.Event()
        self._thread = Thread(target=asyncio.run, args=[self._live()], name="matches", daemon=True)
        self._thread.start()
        self._loop = self._loops.get()

    async def _live(self) -> None:
        self._loops.put(asyncio.get_running_loop())
        await self._ended.wait()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Let the thread do something, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def close(self) -> None:
        """Cancel what is still done, and wait until the thread has ended."""
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()


class LiveMatches:
    """The matches of a server; all are played in one thread of their own."""

    def __init__(self, most: int, clock: Clock) -> None:
        """Play up to `most` matches at once."""
        self._most = most
        self._clock = clock
        self._lock = Lock()
        self._stage: LoopThread | None = None
        self._kept: dict[str, LiveMatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def is_open(self) -> bool:
        """Return whether matches are played here."""
        return self._most > 0

    def of(self, game: str) -> list[LiveMatch]:
        """Return the matches of a game, the latest first."""
        with self._lock:
            kept = list(self._kept.values())
        return [match for match in reversed(kept) if match.wanted.game == game]

    def find(self, name: str) -> LiveMatch | None:
        """Return a match that is played, or was; it counts as looked at."""
        with self._lock:
            match = self._kept.get(name)
            if match is not None:
                match.seen = self._clock()
            return match

    def begin(self, wanted: WantedMatch) -> LiveMatch:
        """Begin a match; raise UsageError if too many are played."""
        with self._lock:
            self._make_room()
            match = LiveMatch(
                wanted,
                secrets.token_hex(8),
                {name: HumanSeat() for name in wanted.people},
                secrets.token_urlsafe(16),
                self._clock(),
            )
            self._kept[match.name] = match
            self.run(self._start(match))
            return match

    def play(self, name: str, key: str, turn: int, action: Json) -> None:
        """Play an action by hand; raise an ArenaError if it cannot be played."""
        match = self._kept.get(name)
        if match is None:
            raise UsageError("there is no such match")

        async def play() -> None:
            match.play(key, turn, action)

        self.run(play())

    def give_up(self, name: str, key: str) -> None:
        """End a match that its person leaves; without the key nothing happens."""
        match = self._kept.get(name)
        if match is not None and secrets.compare_digest(key.encode(), match.key.encode()):
            self.run(self._cancel([name]))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Let the thread of the matches do something, and wait for it."""
        if self._stage is None:
            self._stage = LoopThread()
        return self._stage.run(work)

    def close(self) -> None:
        """End all matches, and leave nothing of them running."""
        with self._lock:
            if self._stage is not None:
                self._stage.close()
                self._stage = None

    async def _start(self, match: LiveMatch) -> None:
        self._tasks[match.name] = asyncio.create_task(self._conduct(match))

    async def _conduct(self, match: LiveMatch) -> None:
        # A match of Circuit Wars may need a server of its own, and this module is part of one.
        from cw.matches.hosted import conduct_match  # noqa: PLC0415

        wanted = match.wanted
        setup = Setup(
            match.watch,
            guard=wanted.guard,
            recorder=match.recorder,
            hands=match.hands,
            pace=wanted.pace,
        )
        try:
            match.finished.set_result(
                await conduct_match(wanted.game, wanted.bots, wanted.seed, wanted.options, setup)
            )
        except asyncio.CancelledError:
            match.finished.set_exception(Abandoned("it was given up"))
        except Exception as error:
            if not isinstance(error, ArenaError):
                logger.exception("match %s of %s", match.name, wanted.game)
            match.finished.set_exception(error)
        finally:
            match.version += 1
            del self._tasks[match.name]

    async def _cancel(self, names: Sequence[str]) -> None:
        tasks = [self._tasks[name] for name in names if name in self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _make_room(self) -> None:
        """Let matches go that are over, or that nobody looks at; raise UsageError if none is."""
        if not self.is_open:
            raise UsageError("this server plays no matches")
        running = [match for match in self._kept.values() if not match.over]
        if len(running) >= self._most:
            oldest = min(running, key=lambda match: match.seen)
            if self._clock() - oldest.seen < UNWATCHED:
                raise UsageError(f"{self._most} matches are being played: try again later")
            self.run(self._cancel([oldest.name]))
        over = [name for name, match in self._kept.items() if match.over]
        for name in over[: max(0, len(self._kept) - MOST_KEPT + 1)]:
            del self._kept[name]
