"""Matches that the server plays while pages look on, with bots and with people."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, TypeVar

from cw.arena.launch import warn_of
from cw.arena.seats.human import HumanSeat
from cw.errors import (
    Abandoned,
    ArenaError,
    CapacityError,
    IllegalAction,
    OutOfTurn,
    UsageError,
)
from cw.games.registry import load_play_options
from cw.games.rules import Fault, Json, Player
from cw.matches.run import MatchProgress, OnLaunch, run_match
from cw.matches.spec import NO_SECRETS, MatchResult, MatchSpec, Secrets
from cw.replays.document import Document
from cw.replays.public import public_replay
from cw.server.rooms import KeepReplay
from cw.server.session import Clock
from cw.web.loop_thread import LoopThread

MOST_KEPT: Final = 64
"""Matches that can be looked at, running ones included; the oldest that is over makes way."""

MOST_WITH_GUESTS: Final = 16
"""Matches with bots of guests that are played at once, beside all others."""

UNWATCHED: Final = 60.0
"""Seconds without a look after which a match makes way for a new one."""

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody who brings a bot to a match, of which nobody is told where it is."""

    owner: str
    """Who it is: they play one such match at a time."""
    bot: str
    """The name of the bot in the match."""
    title: str
    """What people call it."""


@dataclass(slots=True)
class LiveMatch:
    """One match of the server, from its first query on."""

    spec: MatchSpec
    people: dict[str, HumanSeat]
    """Those who play by hand, by the name of their bot."""
    key: str
    """Whoever knows it plays by hand."""
    chosen: tuple[str, ...]
    """Who was chosen for each seat, as forms name them; () if no form was."""
    seen: float
    """When a page last looked."""
    guest: Guest | None = None
    tournament: str = ""
    """To whose page its form belongs; "" for none."""
    room: ExitStack = field(default_factory=ExitStack)
    """What its bots need, to be left when it is over."""
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    """The name of the match in addresses."""
    progress: MatchProgress | None = None
    version: int = 0
    """Grows with whatever a page may show."""
    result: Future[MatchResult] = field(default_factory=Future)
    replay: str = ""
    """The name of the replay that was kept of it, "" for none."""

    @property
    def over(self) -> bool:
        """Whether nothing will happen any more."""
        return self.result.done()

    @property
    def trouble(self) -> str:
        """Why there is no result, for people; "" if nothing has gone wrong."""
        error = self.result.exception() if self.over else None
        if error is None:
            return ""
        if isinstance(error, Abandoned):
            return f"The match was broken off: {error}."
        why = error if isinstance(error, ArenaError) else "a mistake of the server"
        if self.guest is not None and why is error:
            # What is wrong with a bot may name where it is.
            why = "its bot cannot be asked as it is set up"
        return f"The match ended without a result: {why}."

    def watch(self, progress: MatchProgress) -> None:
        """Take in the start, or a turn."""
        self.progress = progress
        self.version += 1

    def document(self) -> Document:
        """Return the replay of the match so far; raise CapacityError before its start."""
        # A match that ends meanwhile is not said to be over without its last turns.
        state = self._state()
        return self.public(self._begun().document()) | state

    def news(self, after: int) -> Document:
        """Return what came after so many turns; raise CapacityError before the start."""
        state = self._state()
        if self.guest is None:
            return {"after": after, **self._begun().news(after), **state}
        whole = self.public(self._begun().document())
        ending = {name: whole[name] for name in ("result", "faults")}
        return {"after": after, "turns": whole["turns"][after:], **ending, **state}

    def public(self, document: Document) -> Document:
        """Return a replay of the match without what may tell where the bot of a guest is."""
        guest = self.guest
        if guest is None:
            return document
        titled = {"name": guest.title, "bot": ""}
        players = [
            {**player, **titled} if player["name"] == guest.bot else player
            for player in document["players"]
        ]
        return public_replay({**document, "players": players}, [one["bot"] for one in players])

    def _begun(self) -> MatchProgress:
        if self.progress is None:
            raise CapacityError(self.trouble or "the players are getting ready")
        return self.progress

    def _state(self) -> Document:
        return {"live": {"over": self.over, "trouble": self.trouble}}

    def fits(self, key: str) -> bool:
        """Return whether this is the key of the match."""
        return secrets.compare_digest(key.encode(), self.key.encode())

    def turn_of(self, key: str) -> Document | None:
        """Return what the person with the key may do now; None if they have to wait."""
        player = self.asked(key)
        moves = load_play_options(self.spec.game).moves
        if player is None or self.progress is None or moves is None:
            return None
        return {
            "player": str(player),
            "turn": self.progress.turns,
            "moves": list(moves(self.progress.record.state, player)),
        }

    def asked(self, key: str) -> Player | None:
        """Return the player whose action is awaited from the person with the key."""
        if self.progress is None or not self.fits(key):
            return None
        for player, bot in self.progress.record.bots.items():
            if bot.name in self.people and self.people[bot.name].is_asked:
                return player
        return None

    def play(self, key: str, turn: int, document: Json) -> None:
        """Play an action by hand; raise an ArenaError if it cannot be played."""
        player = self.asked(key)
        if player is None or self.progress is None or turn != self.progress.turns:
            raise OutOfTurn("it is not your turn")
        record = self.progress.record
        action = record.game.codec.actions_from_json(record.state, {str(player): document})[player]
        if isinstance(action, Fault):
            raise IllegalAction(f"this is no action: {action.detail or action.kind}")
        record.game.rules.check(record.state, player, action)
        self.people[record.bots[player].name].play(action)


class LiveMatches:
    """The matches of a server; all are played in one thread of their own."""

    def __init__(self, most: int, clock: Clock, keep_replay: KeepReplay | None = None) -> None:
        """Play up to `most` matches at once; `keep_replay` takes their replays, None for none."""
        self._most = most
        self._clock = clock
        self._keep_replay = keep_replay
        self._lock = Lock()
        self._loop_thread: LoopThread | None = None
        self._kept: dict[str, LiveMatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def is_open(self) -> bool:
        """Return whether matches are played here."""
        return self._most > 0

    def of(self, game: str) -> list[LiveMatch]:
        """Return the matches of a game that are for all to see, the latest first."""
        with self._lock:
            kept = list(self._kept.values())
        return [
            match for match in reversed(kept) if match.spec.game == game and match.guest is None
        ]

    def find(self, name: str) -> LiveMatch | None:
        """Return a match that is played, or was; it counts as looked at."""
        with self._lock:
            match = self._kept.get(name)
            if match is not None:
                match.seen = self._clock()
            return match

    def begin(  # noqa: PLR0913 - each of them is a thing of its own
        self,
        spec: MatchSpec,
        *,
        pace: float = 0.0,
        bot_secrets: Secrets = NO_SECRETS,
        on_launch: OnLaunch = warn_of,
        chosen: tuple[str, ...] = (),
        guest: Guest | None = None,
        room: ExitStack | None = None,
    ) -> LiveMatch:
        """Begin a match; raise CapacityError if too many are played.

        `room` holds what its bots need: it is taken over, and left when the match is over.
        """
        with self._lock:
            self._make_room(guest)
            people = {bot.name: HumanSeat() for bot in spec.bots if bot.kind == "human"}
            match = LiveMatch(spec, people, secrets.token_urlsafe(16), chosen, self._clock(), guest)
            self._kept[match.name] = match
            work = run_match(
                spec,
                on_turn=match.watch,
                on_launch=on_launch,
                people=people,
                pace=pace,
                secrets=bot_secrets,
            )
            if room is not None:
                match.room = room.pop_all()
            self.run(self._start(match, work))
            return match

    def play(self, name: str, key: str, turn: int, action: Json) -> None:
        """Play an action by hand; raise an ArenaError if it cannot be played."""
        match = self._kept.get(name)
        if match is None:
            raise UsageError("there is no such match")

        async def play() -> None:
            match.play(key, turn, action)

        self.run(play())

    def resign(self, name: str, key: str) -> None:
        """Give a match up for its person, who loses it; without the key nothing happens."""
        match = self._kept.get(name)
        if match is None or not match.fits(key):
            return
        people = match.people.values()

        async def resign() -> None:
            for seat in people:
                seat.resigned.set()

        self.run(resign())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Let the thread of the matches do something, and wait for it."""
        if self._loop_thread is None:
            self._loop_thread = LoopThread()
        return self._loop_thread.run(work)

    def close(self) -> None:
        """End all matches, and leave nothing of them running."""
        with self._lock:
            if self._loop_thread is not None:
                self._loop_thread.close()
                self._loop_thread = None

    async def _start(self, match: LiveMatch, work: Coroutine[Any, Any, MatchResult]) -> None:
        self._tasks[match.name] = asyncio.create_task(self._conduct(match, work))

    async def _conduct(self, match: LiveMatch, work: Coroutine[Any, Any, MatchResult]) -> None:
        try:
            result = await work
            if self._keep_replay is not None:
                match.replay = await asyncio.to_thread(
                    self._keep_replay, match.public(result.replay)
                )
            match.result.set_result(result)
        except asyncio.CancelledError:
            match.result.set_exception(Abandoned("the server needed its place, or was stopped"))
        except Exception as error:
            if not isinstance(error, ArenaError):
                logger.exception("match %s of %s", match.name, match.spec.game)
            match.result.set_exception(error)
        finally:
            match.room.close()
            match.version += 1
            del self._tasks[match.name]

    async def _cancel(self, names: Sequence[str]) -> None:
        tasks = [self._tasks[name] for name in names if name in self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _make_room(self, guest: Guest | None) -> None:
        """Let matches go that are over, or that nobody looks at; raise CapacityError if none is."""
        if not self.is_open:
            raise UsageError("this server plays no matches")
        if guest is not None:
            own = self._running(lambda one: one is not None and one.owner == guest.owner)
            self._give_way(own, 1, f"{guest.title} plays online already: end that match first")
        most = self._most if guest is None else MOST_WITH_GUESTS
        alike = self._running(lambda one: (one is None) == (guest is None))
        self._give_way(alike, most, f"{most} matches are being played: try again later")
        over = [name for name, match in self._kept.items() if match.over]
        for name in over[: max(0, len(self._kept) - MOST_KEPT + 1)]:
            del self._kept[name]

    def _running(self, fits: Callable[[Guest | None], bool]) -> list[LiveMatch]:
        """Return the matches that are not over and whose guest fits."""
        return [match for match in self._kept.values() if not match.over and fits(match.guest)]

    def _give_way(self, running: Sequence[LiveMatch], most: int, refusal: str) -> None:
        """Cancel the match that was looked at longest ago if there are too many for another one.

        Raises CapacityError if all are looked at.
        """
        if len(running) < most:
            return
        oldest = min(running, key=lambda match: match.seen)
        if self._clock() - oldest.seen < UNWATCHED:
            raise CapacityError(refusal)
        self.run(self._cancel([oldest.name]))
