"""One match played by the server: what pages show of it, and what people do in it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from cw.arena.seats.human import HumanSeat
from cw.errors import (
    Abandoned,
    ArenaError,
    CapacityError,
    IllegalAction,
    OutOfTurn,
)
from cw.games.registry import load_play_options
from cw.games.rules import Fault, Json, Player
from cw.matches.progress import MatchProgress
from cw.matches.spec import MatchResult, MatchSpec
from cw.replays.document import Document
from cw.replays.public import public_replay
from cw.web.live.shares import MatchMeter


@dataclass(frozen=True, slots=True)
class Guest:
    """A visitor who brings a bot to a match; the address of the bot stays private."""

    owner: str
    """Identifies the visitor, who plays one such match at a time."""
    bot: str
    """The name of the bot in the match."""
    title: str
    """Its display name."""


@dataclass(slots=True)
class LiveMatch:
    """One match of the server, from its request on."""

    spec: MatchSpec
    people: dict[str, HumanSeat]
    """The people who play by hand, by the name of their bot."""
    key: str
    """The key of the person who plays by hand."""
    choices: tuple[str, ...]
    """The choice for each seat, as forms name them; () without a form."""
    seen: float
    """When a page last looked."""
    moved: float
    """When a person last moved; before that, when the match was requested or began."""
    visitor: str = ""
    """The requester; "" for the owner of the server."""
    guest: Guest | None = None
    tournament: str = ""
    """The tournament whose page has its form; "" for none."""
    room: ExitStack = field(default_factory=ExitStack)
    """Resources of its bots, released at its end."""
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    """The name of the match in addresses."""
    work: Callable[[], Coroutine[Any, Any, MatchResult]] | None = None
    """Starts the match; None once it has begun."""
    begun: float = 0.0
    """When play began."""
    meter: MatchMeter | None = None
    place: int = 0
    """Its position in the queue, from 1; 0 if it does not wait."""
    progress: MatchProgress | None = None
    version: int = 0
    """Incremented whenever something that pages show has changed."""
    leaving: str = "the server needed its place, or was stopped"
    """The reason given if it is aborted."""
    result: Future[MatchResult] = field(default_factory=Future)
    replay: str = ""
    """The name of its stored replay, "" for none."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.result.done()

    @property
    def waits(self) -> bool:
        """Whether it is still waiting to begin."""
        return self.work is not None and not self.over

    @property
    def is_played(self) -> bool:
        """Whether it has begun and is not over."""
        return self.work is None and not self.over

    @property
    def trouble(self) -> str:
        """Why there is no result, as a sentence; "" if nothing has gone wrong."""
        error = self.result.exception() if self.over else None
        if error is None:
            return ""
        if isinstance(error, Abandoned):
            return f"The match was aborted: {error}."
        # Only our own errors are written for people; others may contain paths or secrets.
        why = error if isinstance(error, ArenaError) else "a server error"
        if self.guest is not None and why is error:
            # The error of a guest's bot may reveal its address.
            why = "its bot cannot be reached with its current settings"
        return f"The match ended without a result: {why}."

    def watch(self, progress: MatchProgress) -> None:
        """Record the start, or a turn."""
        self.progress = progress
        self.version += 1
        if self.meter is not None:
            self.meter.turn()

    def document(self) -> Document:
        """Return the replay of the match so far; raise CapacityError before its start."""
        # Read the state first: a match that ends meanwhile must not be reported as over without its
        # last turns.
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
        """Return a replay of the match that does not reveal the address of a guest's bot."""
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
        """Return whether this is the key of the match."""
        # Constant time: the key is the only proof of who plays.
        return secrets.compare_digest(key.encode(), self.key.encode())

    def turn_of(self, key: str) -> Document | None:
        """Return what the holder of the key may do now; None if they have to wait."""
        player = self.asked(key)
        options = load_play_options(self.spec.game)
        if player is None or self.progress is None or options.moves is None:
            return None
        moves = list(options.moves(self.progress.record.state, player))
        turn = {"player": str(player), "turn": self.progress.turns, "moves": moves}
        words = {} if options.words is None else {"words": list(map(options.words, moves))}
        return {**turn, **words}

    def asked(self, key: str) -> Player | None:
        """Return the player whose action is awaited from the holder of the key, or None."""
        if self.progress is None or not self.fits(key):
            return None
        for player, bot in self.progress.record.bots.items():
            if bot.name in self.people and self.people[bot.name].is_asked:
                return player
        return None

    def play(self, key: str, turn: int, document: Json) -> None:
        """Play an action by hand; raise an ArenaError if it is invalid."""
        player = self.asked(key)
        # Moves name their turn: a second click, or a late one, must not play in the next turn.
        if player is None or self.progress is None or turn != self.progress.turns:
            raise OutOfTurn("it is not your turn")
        record = self.progress.record
        action = record.game.codec.actions_from_json(record.state, {str(player): document})[player]
        if isinstance(action, Fault):
            raise IllegalAction(f"this is not a valid action: {action.detail or action.kind}")
        record.game.rules.check(record.state, player, action)
        self.people[record.bots[player].name].play(action)
