"""The live matches of a server: the queue, seats and opponents in forms, and next matches."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from threading import Lock
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from cw.arena.bots import BotSpec
from cw.arena.launch import warn_of
from cw.arena.seats.wrappers import HumanSeat
from cw.errors import Abandoned, ArenaError, CapacityError, QuotaError, UsageError
from cw.games.registry import load_game, load_play_options, load_strategies
from cw.games.rules import Json
from cw.matches.run import OnLaunch, check_number, run_match
from cw.matches.spec import NO_SECRETS, Isolation, MatchResult, MatchSpec, Secrets
from cw.server.rooms import KeepReplay
from cw.server.session import Clock
from cw.web.live_match import PART, Guest, LiveMatch, LoopThread, MatchMeter, Shares, Work

CAPACITY: Final = 64
"""Maximum number of stored matches, running ones included; above it, finished ones are dropped."""

MOST_WITH_GUESTS: Final = 16
"""Maximum number of concurrent matches with guests' bots, in addition to all others."""

MOST_WAITING: Final = 24
"""Maximum number of matches in the queue."""

MOST_WAITING_OF_ONE: Final = 3
"""Maximum number of one visitor's matches in the queue."""

UNWATCHED: Final = 60.0
"""Seconds without a viewer after which a match may be closed for another, or leaves the queue."""

UNMOVED: Final = 5 * 60.0
"""Seconds without a move by its human player after which a match may be closed for another."""

LONGEST: Final = 30 * 60.0
"""Seconds after which any match may be closed for another."""

T = TypeVar("T")

Play: TypeAlias = Callable[..., Coroutine[Any, Any, MatchResult]]
"""Plays a match; takes the arguments of `run_match`."""

logger = logging.getLogger(__name__)


class LiveMatches:
    """A server's matches, all played in one separate thread.

    All pages of matches need the lock, so nothing waits for that thread while it holds the lock.
    """

    def __init__(self, most: int, clock: Clock, keep_replay: KeepReplay | None = None) -> None:
        """Play up to `most` matches concurrently; `keep_replay`, if any, saves their replays."""
        self._most = most
        self._clock = clock
        self._keep_replay = keep_replay
        self.shares = Shares()
        self._lock = Lock()
        self._loop_thread: LoopThread | None = None
        self._matches: dict[str, LiveMatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def is_open(self) -> bool:
        """Return whether this server plays matches."""
        return self._most > 0

    def of(self, game: str) -> list[LiveMatch]:
        """Return a game's public matches, latest first."""
        with self._lock:
            matches = list(self._matches.values())
        return [
            match for match in reversed(matches) if match.spec.game == game and match.guest is None
        ]

    def find(self, name: str) -> LiveMatch | None:
        """Return a waiting, running or finished match, or None; also marks it as viewed."""
        with self._lock:
            match = self._matches.get(name)
            if match is not None:
                match.seen = self._clock()
                if match.waits:
                    self._admit()
            return match

    def begin(  # noqa: PLR0913 - each of them is a thing of its own
        self,
        spec: MatchSpec,
        *,
        visitor: str = "",
        pace: float = 0.0,
        bot_secrets: Secrets = NO_SECRETS,
        on_launch: OnLaunch = warn_of,
        choices: tuple[str, ...] = (),
        guest: Guest | None = None,
        room: ExitStack | None = None,
        play: Play = run_match,
    ) -> LiveMatch:
        """Start a match, or queue it as long as its page is being viewed.

        `visitor` is the current visitor, who gets at most a third of the slots; "" for the owner,
        who may use all. `room` contains the bots' resources: the match takes it over, and closes it
        at its end. `play` replaces `run_match` where more has to be done. Raises CapacityError if
        too many matches are waiting, and QuotaError if too many of this visitor's are.
        """
        with self._lock:
            self._check(visitor, guest)
            people = {bot.name: HumanSeat() for bot in spec.bots if bot.kind == "human"}
            now = self._clock()
            match = LiveMatch(
                spec, people, secrets.token_urlsafe(16), choices, now, now, visitor, guest
            )
            match.meter = MatchMeter(self.shares.of(visitor)) if visitor else None
            match.work = partial(
                play,
                spec,
                on_turn=match.watch,
                on_launch=on_launch,
                people=people,
                pace=pace,
                meter=match.meter,
                secrets=bot_secrets,
            )
            self._matches[match.name] = match
            if room is not None:
                # Taken over only once the match is stored: if anything above raises, the caller
                # still closes it.
                match.room = room.pop_all()
            self._admit()
            self._forget()
            return match

    def play(self, name: str, key: str, turn: int, action: Json) -> None:
        """Play a human player's action; raise an ArenaError if it cannot be played."""
        match = self._matches.get(name)
        if match is None:
            raise UsageError("there is no such match")

        async def play() -> None:
            match.play(key, turn, action)
            match.moved = self._clock()

        self.run(play())

    def resign(self, name: str, key: str) -> None:
        """Resign a match for its human player, who loses it; without the key, do nothing."""
        match = self._matches.get(name)
        if match is None or not match.fits(key):
            return
        people = match.people.values()
        with self._lock:
            if match.waits:
                self._leave(match, "its player resigned before it began")
                return

        async def resign() -> None:
            for seat in people:
                seat.resigned.set()

        self.run(resign())

    def stop(self, name: str, why: str) -> None:
        """Abort a match and stop everything it runs. A finished match is left unchanged."""
        with self._lock:
            match = self._matches.get(name)
            if match is None or match.over:
                return
            match.leaving = why
            if match.waits:
                self._leave(match, why)
                return
        self.run(self._cancel([match]))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the match thread, and wait for its result."""
        return self._loop().run(work)

    def close(self) -> None:
        """End all matches, and stop everything they run."""
        with self._lock:
            for match in self._waiting():
                self._leave(match, match.leaving)
            loop, self._loop_thread = self._loop_thread, None
        if loop is not None:
            loop.close()

    def _loop(self) -> LoopThread:
        if self._loop_thread is None:
            self._loop_thread = LoopThread()
        return self._loop_thread

    async def _conduct(self, match: LiveMatch, work: Work, leaving: Sequence[LiveMatch]) -> None:
        """Close the matches that make way for a match, then play it."""
        self._tasks[match.name] = cast("asyncio.Task[None]", asyncio.current_task())
        try:
            await self._cancel(leaving)
            result = await work()
            if self._keep_replay is not None:
                match.replay = await asyncio.to_thread(
                    self._keep_replay, match.public(result.replay)
                )
            match.result.set_result(result)
        except asyncio.CancelledError:
            match.result.set_exception(Abandoned(match.leaving))
        except Exception as error:
            if not isinstance(error, ArenaError):
                logger.exception("match %s of %s", match.name, match.spec.game)
            match.result.set_exception(error)
        finally:
            match.room.close()
            match.version += 1
            del self._tasks[match.name]

    async def _cancel(self, matches: Sequence[LiveMatch]) -> None:
        """Abort running matches, and wait until all that they run has stopped."""
        tasks = [self._tasks[match.name] for match in matches if match.name in self._tasks]
        for task in tasks:
            task.cancel()
        if tasks:
            # Not `gather`: if it is cancelled, it cancels again what is already stopping.
            await asyncio.wait(tasks)

    def _leave(self, match: LiveMatch, why: str) -> None:
        """Remove a match from the queue."""
        match.result.set_exception(Abandoned(why))
        match.room.close()

    def _check(self, visitor: str, guest: Guest | None) -> None:
        """Raise an ArenaError if no match may be requested now, or none by this visitor."""
        if not self.is_open:
            raise UsageError("this server plays no matches")
        for match in self._waiting():
            if self._clock() - match.seen >= UNWATCHED:
                self._leave(match, "nobody looked at its page while it waited")
        if guest is not None and self._in_the_way(self._of_guest(guest), 1) is None:
            raise CapacityError(f"{guest.title} is already playing online: end that match first")
        waiting = self._waiting()
        own = sum(match.visitor == visitor for match in waiting)
        if visitor and own >= MOST_WAITING_OF_ONE:
            raise QuotaError(f"{own} matches of yours are waiting: watch or resign those first")
        if len(waiting) >= MOST_WAITING:
            raise CapacityError(f"{len(waiting)} matches are waiting: try again later")

    def _waiting(self) -> list[LiveMatch]:
        """Return the waiting matches, in queue order."""
        return [match for match in self._matches.values() if match.waits]

    def _admit(self) -> None:
        """Start waiting matches that have a slot, and update the others' queue positions."""
        for match in self._waiting():
            leaving = self._makes_way_for(match)
            if leaving is not None and match.work is not None:
                for other in leaving:
                    other.makes_way = True
                self._loop().start(self._conduct(match, match.work, leaving))
                match.work = None
                match.begun = match.moved = self._clock()
        for place, match in enumerate(self._waiting(), start=1):
            match.place = place

    def _makes_way_for(self, match: LiveMatch) -> list[LiveMatch] | None:
        """Return the matches to close for a waiting one; None if it cannot get a slot yet."""
        # Two separate pools, so that guests' matches and the site's own cannot crowd out each
        # other.
        most = self._most if match.guest is None else MOST_WITH_GUESTS
        alike = [
            other for other in self._played() if (other.guest is None) == (match.guest is None)
        ]
        bounds = [(alike, most)]
        if match.visitor:
            of_visitor = [other for other in alike if other.visitor == match.visitor]
            bounds.insert(0, (of_visitor, max(1, most // PART)))
        if match.guest is not None:
            bounds.insert(0, (self._of_guest(match.guest), 1))
        leaving: list[LiveMatch] = []
        for others, bound in bounds:
            staying = [other for other in others if other not in leaving]
            more = self._in_the_way(staying, bound)
            if more is None:
                return None
            leaving += more
        return leaving

    def _in_the_way(self, others: Sequence[LiveMatch], bound: int) -> list[LiveMatch] | None:
        """Return the matches to close so that one more is within the bound, or None."""
        if len(others) < bound:
            return []
        yielding = [match for match in others if self._yields(match)]
        return [min(yielding, key=lambda match: match.seen)] if yielding else None

    def _yields(self, match: LiveMatch) -> bool:
        """Return whether a match may be closed to free a slot."""
        now = self._clock()
        is_left = bool(match.people) and now - match.moved >= UNMOVED
        return is_left or now - match.seen >= UNWATCHED or now - match.begun >= LONGEST

    def _played(self) -> Iterator[LiveMatch]:
        return (match for match in self._matches.values() if match.is_played)

    def _of_guest(self, guest: Guest) -> list[LiveMatch]:
        """Return the running matches that include a guest's bot."""
        return [
            match for match in self._played() if match.guest and match.guest.owner == guest.owner
        ]

    def _forget(self) -> None:
        """Drop finished matches if there are too many, first of the visitor with the most."""
        while len(self._matches) > CAPACITY:
            counts = Counter(match.visitor for match in self._matches.values())
            over = [match for match in self._matches.values() if match.over]
            if not over:
                return
            del self._matches[max(over, key=lambda match: counts[match.visitor]).name]


OWN: Final = "own:"
"""Prefix of a form value that chooses the visitor's own bot."""


class Link(NamedTuple):
    """The text and the URL of a link."""

    words: str
    address: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A visitor's own bot, as offered in a form."""

    choice: str
    """Its value in forms."""
    words: str
    problem: str = ""
    """Why it cannot play here now, as a sentence; "" if it can."""


@dataclass(frozen=True, slots=True)
class Opponents:
    """The opponents offered for play by hand, listed before the built-in strategies."""

    training: str
    """The built-in strategy that serves as the training bot; "" if there is none."""
    own: tuple[Offer, ...] = ()
    chosen: str = ""
    """The preselected choice; "" for the first one."""
    invitation: Link | None = None
    """A link on how to play with one's own bot; None if not needed or not possible."""
    tournament: str = ""
    """The tournament whose page this is, with no other opponents; "" for none."""
    home: Link | None = None
    """The page of that tournament."""


@dataclass(frozen=True, slots=True)
class OwnBot:
    """A visitor's own bot, ready to take a seat."""

    bot: BotSpec
    isolation: Isolation
    secrets: Mapping[str, str]
    guest: Guest


class OwnBots(Protocol):
    """Finds the current visitor's bots; provided by a site on which visitors have bots."""

    def opponents(self, game: str) -> Opponents:
        """Return the opponents offered to the current visitor."""

    def ready(self, game: str, choice: str, room: ExitStack) -> OwnBot:
        """Return the chosen bot; the resources that it needs are added to `room`.

        Raises UsageError if it does not exist, or cannot play here now.
        """


PERSON: Final = "human"
"""The form value for the human player at the page."""

BUILT_IN: Final = "builtin:"

SECOND: Final = "greedy"
"""The next opponent after any weaker one, as those all play badly."""


@dataclass(frozen=True, slots=True)
class NextMatch:
    """A match that can be started with one click."""

    words: str
    form: Mapping[str, str]
    """The fields of its form."""


@dataclass(frozen=True, slots=True)
class NextMatches:
    """The matches offered after a match."""

    matches: Sequence[NextMatch]
    strongest: str
    """The opponent, if no built-in strategy is stronger; otherwise ""."""


def next_matches(spec: MatchSpec, choices: Sequence[str]) -> NextMatches:
    """Return the matches to offer after one with a human player; none after other matches."""
    if PERSON not in choices:
        return NextMatches((), "")
    opponent = built_in_of(choices)
    stronger = stronger_than(spec.game, opponent) if opponent else None
    proposals = [("Play again", choices), ("Swap sides", [*choices[1:], choices[0]])]
    if stronger is not None:
        seats = [seat if seat == PERSON else f"{BUILT_IN}{stronger}" for seat in choices]
        proposals.append((f"Stronger opponent: {stronger}", seats))
    fields = options_of(spec)
    return NextMatches(
        [NextMatch(words, fields | seats_of(seats)) for words, seats in proposals],
        strongest=opponent if stronger is None else "",
    )


def built_in_of(choices: Sequence[str]) -> str:
    """Return the built-in strategy that a human played against; "" for other opponents."""
    others = {seat for seat in choices if seat != PERSON}
    opponent = others.pop() if len(others) == 1 else ""
    return opponent.removeprefix(BUILT_IN) if opponent.startswith(BUILT_IN) else ""


def stronger_than(game: str, strategy: str) -> str | None:
    """Return the next stronger built-in strategy to play against, or None for the strongest."""
    names = list(load_strategies(game))
    stronger = names[names.index(strategy) + 1 :]
    if SECOND in stronger:
        return SECOND
    return stronger[0] if stronger else None


def options_of(spec: MatchSpec) -> dict[str, str]:
    """Return those options of a match that forms offer, as form fields."""
    offered = {choice.option for choice in load_play_options(spec.game).choices}
    return {name: str(value) for name, value in spec.options.items() if name in offered}


def seats_of(choices: Sequence[str]) -> dict[str, str]:
    """Return the choice for each seat, as form fields."""
    return {f"seat-{number}": seat for number, seat in enumerate(choices, 1)}


NOBODY: Final = ""


@dataclass(frozen=True, slots=True)
class FormSeats:
    """The seats offered in a game's forms."""

    numbers: range
    """The possible numbers of players; from two on, unless the game is for one player only."""
    most: int
    """The number of seats shown in a form."""
    usual: tuple[str, ...]
    """The built-in strategies selected by default; the other seats stay empty."""


def form_seats(game: str) -> FormSeats:
    """Return the seats for a game's forms: by default, as few players as the game allows.

    If the game's play options name more strategies, all of these are selected.
    """
    play_options, numbers = load_play_options(game), load_game(game).rules.seats
    numbers = numbers[1:] if numbers.start == 1 and len(numbers) > 1 else numbers
    most = min(max(play_options.most_players, numbers[0]), numbers[-1])
    number = min(max(len(play_options.strategies), numbers[0]), most)
    return FormSeats(numbers, most, tuple(islice(cycle(play_options.strategies), number)))


def read_seats(game: str, form: Mapping[str, str]) -> tuple[str, ...]:
    """Return the chosen players in seat order; raise UsageError if that many cannot play.

    The fields are `seat-1` and so on; or, for a human player, `hand`, their seat number, and `bot`,
    their opponent. It takes each other seat, unless it is their own bot, which plays once.
    """
    seats = form_seats(game)
    if "hand" in form:
        choices = against(form.get("bot", NOBODY), seats)
        choices.insert(read_hand(form["hand"], seats.numbers[0]) - 1, PERSON)
    else:
        numbers = range(1, seats.most + 1)
        choices = [form.get(f"seat-{number}", NOBODY) for number in numbers]
    players = tuple(choice for choice in choices if choice != NOBODY)
    check_number(game, seats.numbers, len(players))
    return players


def against(bot: str, seats: FormSeats) -> list[str]:
    """Return a human's opponents; their own bot plays once, together with default strategies."""
    others = [f"{BUILT_IN}{name}" for name in seats.usual] if bot.startswith(OWN) else [bot]
    return [bot, *islice(cycle(others), seats.numbers[0])][: seats.numbers[0] - 1]


def read_hand(text: str, seats: int) -> int:
    """Return the human player's seat number, from 1."""
    numbers = [str(number) for number in range(1, seats + 1)]
    if text not in numbers:
        raise UsageError(f"hand must be one of {', '.join(numbers)}, not {text[:60]!r}")
    return int(text)
