"""A live match, the thread in which matches run, and visitors' shares of processor time."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from queue import Queue
from threading import Lock, Thread
from time import monotonic, perf_counter, thread_time
from typing import Any, Final, TypeAlias, TypeVar

from cw.arena.seats.wrappers import HumanSeat
from cw.errors import Abandoned, ArenaError, CapacityError, IllegalAction, OutOfTurn, QuotaError
from cw.games.registry import load_play_options
from cw.games.rules import Fault, Json, Player
from cw.matches.progress import MatchProgress
from cw.matches.spec import MatchResult, MatchSpec
from cw.replays.document import Document, public_replay
from cw.server.session import Clock

PATIENCE: Final = 10.0
"""Maximum time to wait for the loop to respond, in seconds."""

T = TypeVar("T")

Work: TypeAlias = Callable[[], Coroutine[Any, Any, MatchResult]]
"""Plays a match."""


class LoopThread:
    """A thread with an event loop, in which all of a server's matches are played."""

    def __init__(self) -> None:
        """Start the thread, and wait until its loop is running."""
        self._loops: Queue[asyncio.AbstractEventLoop] = Queue()
        self._ended = asyncio.Event()
        self._thread = Thread(target=asyncio.run, args=[self._live()], name="matches", daemon=True)
        self._thread.start()
        self._loop = self._loops.get()

    async def _live(self) -> None:
        self._loops.put(asyncio.get_running_loop())
        await self._ended.wait()

    def run(self, work: Coroutine[Any, Any, T], patience: float | None = PATIENCE) -> T:
        """Run a coroutine in the thread, and return its result.

        `patience` limits the wait, in seconds; None means no limit.
        """
        return self.start(work).result(patience)

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine in the thread, and return its future result; do not wait."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Cancel all remaining work, and wait until the thread has ended."""
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()


WHOLE: Final = 0.5
"""Processor seconds per second that all live matches together may use; pages need the rest.

Only one thread of a Python process computes at a time.
"""

PART: Final = 3
"""The divisor for one visitor: a third of the time, and a third of the slots."""

AT_ONCE: Final = 1.0
"""Processor seconds that may be used before any wait, so that human players never wait."""

MOST_VISITORS: Final = 1000
"""Maximum number of visitors whose use is tracked; the one idle for longest is dropped first."""


class Share:
    """A budget of processor seconds per second; a visitor who exceeds it has to wait."""

    def __init__(self, rate: float, clock: Clock = monotonic, whole: Share | None = None) -> None:
        """Allow `rate` seconds per second; use also counts towards `whole`."""
        self._rate = rate
        self._clock = clock
        self._whole = whole
        self._lock = Lock()
        self._used = 0.0
        self._at = clock()
        self.busy = Lock()
        """Held while a long request by the visitor is being computed."""

    def charge(self, seconds: float) -> None:
        """Record the use of processor time."""
        with self._lock:
            self._used = self._left() + seconds
            self._at = self._clock()
        if self._whole is not None:
            self._whole.charge(seconds)

    def rest(self) -> float:
        """Return how many seconds to wait before the next use; almost always 0."""
        with self._lock:
            own = max(0.0, self._left() - AT_ONCE) / self._rate
        return own if self._whole is None else max(own, self._whole.rest())

    def _left(self) -> float:
        """Return the use not yet compensated by waiting, in processor seconds."""
        return max(0.0, self._used - self._rate * (self._clock() - self._at))


class Shares:
    """The shares of all visitors to a server."""

    def __init__(self, clock: Clock = monotonic) -> None:
        """Create the shares, all unused."""
        self._clock = clock
        self._whole = Share(WHOLE, clock)
        self._lock = Lock()
        self._of: OrderedDict[str, Share] = OrderedDict()

    def of(self, visitor: str) -> Share:
        """Return a visitor's share."""
        with self._lock:
            if visitor not in self._of:
                self._of[visitor] = Share(WHOLE / PART, self._clock, self._whole)
            self._of.move_to_end(visitor)
            while len(self._of) > MOST_VISITORS:
                self._of.popitem(last=False)
            return self._of[visitor]

    @contextmanager
    def computing(self, visitor: str) -> Iterator[None]:
        """Charge a long computation in the block to a visitor, who may run one at a time.

        Raises QuotaError if another one is running, or if the visitor has to wait. The owner is
        never charged.
        """
        if not visitor:
            yield
            return
        share = self.of(visitor)
        rest = share.rest()
        if rest > 0:
            raise QuotaError(
                "your matches have used your share of the processor: "
                f"try again in {int(rest) + 1} seconds"
            )
        if not share.busy.acquire(blocking=False):
            raise QuotaError("another request of yours is still running: try again when it is done")
        began = thread_time()
        try:
            yield
        finally:
            share.charge(thread_time() - began)
            share.busy.release()


class MatchMeter:
    """Charges one match's processor time to a share."""

    def __init__(self, share: Share) -> None:
        """Create a meter that has charged nothing yet."""
        self._share = share
        self._since: float | None = None

    async def rest(self) -> None:
        """Wait until the share allows further use."""
        await asyncio.sleep(self._share.rest())

    def think(self, began: float) -> None:
        """Charge a bot's thinking time, from `began`, a `perf_counter` time, until now."""
        self._share.charge(perf_counter() - began)
        self._since = thread_time()

    def turn(self) -> None:
        """Charge what the match thread has computed since a bot last finished thinking."""
        # Not wall time, as a human player may have been thinking in the meantime.
        if self._since is not None:
            self._share.charge(thread_time() - self._since)
        self._since = None


@dataclass(frozen=True, slots=True)
class Guest:
    """A visitor who brings a bot to a match; the bot's URL stays private."""

    owner: str
    """Identifies the visitor, who plays one such match at a time."""
    bot: str
    """The bot's name in the match."""
    title: str
    """Its display name."""


@dataclass(slots=True)
class LiveMatch:
    """One of the server's matches, from the time it is requested."""

    spec: MatchSpec
    people: dict[str, HumanSeat]
    """The seats of human players, by the name of their bot."""
    key: str
    """The key of the human player."""
    choices: tuple[str, ...]
    """The choice for each seat, named as in forms; () without a form."""
    seen: float
    """When a page last requested it."""
    moved: float
    """When a human last moved; before that, when the match was requested or started."""
    visitor: str = ""
    """The visitor who requested it; "" for the owner of the server."""
    guest: Guest | None = None
    tournament: str = ""
    """The tournament whose page contains its form; "" for none."""
    room: ExitStack = field(default_factory=ExitStack)
    """Its bots' resources, released when it ends."""
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    """The name of the match in URLs."""
    work: Work | None = None
    """Starts the match; None once it has started."""
    begun: float = 0.0
    """When play started."""
    meter: MatchMeter | None = None
    place: int = 0
    """Its position in the queue, from 1; 0 if it is not waiting."""
    progress: MatchProgress | None = None
    version: int = 0
    """Incremented whenever anything shown on pages has changed."""
    makes_way: bool = False
    """Whether it is being closed for another match."""
    leaving: str = "the server needed its place, or was stopped"
    """The reason reported if it is aborted."""
    result: Future[MatchResult] = field(default_factory=Future)
    replay: str = ""
    """The name of its stored replay, or ""."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.result.done()

    @property
    def waits(self) -> bool:
        """Whether it is still waiting to start."""
        return self.work is not None and not self.over

    @property
    def is_played(self) -> bool:
        """Whether it has a slot: it has started, is not over, and does not make way."""
        return self.work is None and not self.over and not self.makes_way

    @property
    def trouble(self) -> str:
        """Why there is no result, as a sentence; "" if nothing has gone wrong."""
        error = self.result.exception() if self.over else None
        if error is None:
            return ""
        if isinstance(error, Abandoned):
            return f"The match was aborted: {error}."
        # Only our own errors are meant for users; others may contain paths or secrets.
        why = error if isinstance(error, ArenaError) else "a server error"
        if self.guest is not None and why is error:
            # The error of a guest's bot may reveal its URL.
            why = "its bot cannot be reached with its current settings"
        return f"The match ended without a result: {why}."

    def watch(self, progress: MatchProgress) -> None:
        """Record the start of the match, or a turn."""
        self.progress = progress
        self.version += 1
        if self.meter is not None:
            self.meter.turn()

    def document(self) -> Document:
        """Return the replay of the match so far; raise CapacityError before the start."""
        # Read the state first: a match that ends in the meantime must not be reported as over
        # without its last turns.
        state = self._state()
        return self.public(self._begun().document()) | state

    def news(self, after: int) -> Document:
        """Return what followed `after` turns; raise CapacityError before the start."""
        state = self._state()
        if self.guest is None:
            return {"after": after, **self._begun().news(after), **state}
        whole = self.public(self._begun().document())
        ending = {name: whole[name] for name in ("result", "faults")}
        return {"after": after, "turns": whole["turns"][after:], **ending, **state}

    def public(self, document: Document) -> Document:
        """Return a replay of the match that does not reveal the URL of a guest's bot."""
        guest = self.guest
        if guest is None:
            return document
        titled = {"name": guest.title, "bot": ""}
        players = [
            {**player, **titled} if player["name"] == guest.bot else player
            for player in document["players"]
        ]
        return public_replay({**document, "players": players}, [entry["bot"] for entry in players])

    def _begun(self) -> MatchProgress:
        if self.progress is None:
            waiting = f"all places are taken, and this match is number {self.place} in the queue"
            ready = "the players are getting ready"
            raise CapacityError(self.trouble or (waiting if self.waits else ready))
        return self.progress

    def _state(self) -> Document:
        return {"live": {"over": self.over, "trouble": self.trouble}}

    def fits(self, key: str) -> bool:
        """Return whether a key is the match's key."""
        # Constant-time comparison, as the key is the only proof of who plays.
        return secrets.compare_digest(key.encode(), self.key.encode())

    def turn_of(self, key: str) -> Document | None:
        """Return the moves available to the key's holder now; None if it is not their turn."""
        player = self.asked(key)
        options = load_play_options(self.spec.game)
        if player is None or self.progress is None or options.moves is None:
            return None
        moves = list(options.moves(self.progress.record.state, player))
        turn = {"player": str(player), "turn": self.progress.turns, "moves": moves}
        words = {} if options.words is None else {"words": list(map(options.words, moves))}
        return {**turn, **words}

    def asked(self, key: str) -> Player | None:
        """Return the player for whom the key's holder has to act, or None."""
        if self.progress is None or not self.fits(key):
            return None
        for player, bot in self.progress.record.bots.items():
            if bot.name in self.people and self.people[bot.name].is_asked:
                return player
        return None

    def play(self, key: str, turn: int, document: Json) -> None:
        """Play a human player's action; raise an ArenaError if it is invalid."""
        player = self.asked(key)
        # Moves include their turn: a second or late click must not play in the next turn.
        if player is None or self.progress is None or turn != self.progress.turns:
            raise OutOfTurn("it is not your turn")
        record = self.progress.record
        action = record.game.codec.actions_from_json(record.state, {str(player): document})[player]
        if isinstance(action, Fault):
            raise IllegalAction(f"this is not a valid action: {action.detail or action.kind}")
        record.game.rules.check(record.state, player, action)
        self.people[record.bots[player].name].play(action)
