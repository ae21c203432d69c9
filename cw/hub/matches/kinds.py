"""Kinds of matches: what the life of a match asks of the format that it is played for.

A kind is a value that a format carries; a process is given the kinds of all its formats. Nothing
else in the life of a match depends on what it is played for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal, NamedTuple, TypeAlias

from markupsafe import Markup
from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.arena.bots import BotSpec
from cw.hub.clock import Clock
from cw.hub.matches import claims, results
from cw.hub.matches.claims import Claim
from cw.hub.matches.results import BattleResult, Finish
from cw.hub.matches.sending import Sending
from cw.hub.matches.views import KindTraits, MatchView
from cw.hub.operation.resources import Resources
from cw.hub.players.messages import Program
from cw.hub.store.tables import Competition
from cw.matches.spec import NO_SECRETS, Secrets

NOTHING: Final = Markup()


NO_BOTS: Final[Mapping[str, BotSpec]] = {}


class Guests(NamedTuple):
    """Bots that no row of the hub describes; by name, as a match is played with them."""

    bots: Mapping[str, BotSpec] = NO_BOTS
    """Programs among them are placeholders."""
    secrets: Secrets = NO_SECRETS
    programs: Callable[[], Iterable[Program]] = tuple
    """Yields those programs as players are sent them; raises StoreAway."""


@dataclass(frozen=True, slots=True)
class MatchPart:
    """What a format adds to the page of a match."""

    head: Markup = NOTHING
    """For the head of the page, such as style sheets."""
    top: Markup = NOTHING
    """Above the match."""
    below: Markup = NOTHING
    """After those who played."""
    people: str | None = None
    """Address of who played, where the viewer names people."""
    has_places: bool = True
    """Whether the page lists the places of all seats."""


NO_PART: Final = MatchPart()

Claiming: TypeAlias = Callable[[Session, Claim], Claim]
"""Returns a claim with what the format knows of it, in the transaction that takes the match."""

Seating: TypeAlias = Callable[[Resources, Claim], Awaitable[Claim | None]]
"""Finds who plays as the match begins; None if the match is not this attempt's any more."""

Inviting: TypeAlias = Callable[[Resources, Claim], Guests]
"""Returns the bots that the format itself brings; raises StoreAway, and UsageError for a match
that cannot be played."""

Reporting: TypeAlias = Callable[[Claim], str | None]
"""Returns the key of an object with the whole result of a game; None if nobody waits for it."""

Holding: TypeAlias = Callable[[Session, Claim], object]
"""Locks what `finish` is going to change, before the match itself is changed: all take these
locks in the same order, so that no two wait for each other."""

Finishing: TypeAlias = Callable[[Session, Clock, Claim, Sequence[BattleResult]], object]
"""Takes in how a match has ended, in the transaction that writes it, and so once."""

Wording: TypeAlias = Callable[[MatchView], str | None]
"""Says how a match stands that cannot be watched, None in the words of all matches."""

Parting: TypeAlias = Callable[[Session, MatchView, int], MatchPart]
"""Returns what the page of a match, and of one game of it, shows of its format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(KindTraits):
    """What one kind of matches has of its own; what it does not have is None."""

    claim: Claiming | None = None
    seat: Seating | None = None
    invite: Inviting | None = None
    report: Reporting | None = None
    hold: Holding | None = None
    finish: Finishing | None = None
    send: Sending | None = None
    """Sends the matches of its competitions, in an order of its own."""
    waits_for_ticks: bool = False
    """Whether `send` is called by ticks alone, after all formats have planned."""
    plans_next: bool = False
    """Whether `finish` plans matches, which are sent at once and not by the next tick."""
    words: Wording | None = None
    part: Parting | None = None
    names_apart: bool = False
    """Whether its pages name the players that have numbers, so that its replays need not."""
    plays_as_competition: bool = False
    """Whether it has no format, and is claimed as the format of its competition claims."""
    keeps: Literal["all", "strongest", "none"] = "all"
    """Which replays are kept for good; the others go after some time."""
    is_of_value: bool = False
    """Whether those others stay longer than usual."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of matches that a process knows."""

    kinds: Sequence[Kind]
    by_name: Mapping[str, Kind] = field(init=False)

    def __post_init__(self) -> None:
        """Take the names; no two kinds may share one."""
        by_name = {kind.name: kind for kind in self.kinds}
        if len(by_name) < len(self.kinds):
            raise ValueError("two kinds of matches have the same name")
        object.__setattr__(self, "by_name", by_name)

    def of(self, name: str) -> Kind:
        """Return a kind by its name; one that has nothing of its own if it is not known."""
        return self.by_name.get(name) or Kind(name=name)

    def names(self, has: Callable[[Kind], object] = lambda _: True) -> tuple[str, ...]:
        """Return the names of the kinds of which something holds."""
        return tuple(kind.name for kind in self.kinds if has(kind))

    @property
    def private(self) -> tuple[str, ...]:
        """The kinds whose matches only those see who take part, and admins."""
        return self.names(lambda kind: not kind.is_public)

    @property
    def crowds(self) -> tuple[str, ...]:
        """The kinds in whose matches everybody plays."""
        return self.names(lambda kind: kind.is_crowd)

    @property
    def hiding(self) -> tuple[str, ...]:
        """The kinds of which the site alone knows who plays, in games with hidden information."""
        return self.names(lambda kind: kind.hides_players)

    @property
    def by_strength(self) -> tuple[str, ...]:
        """The kinds of which the strongest matches of each month are kept, and listed."""
        return self.names(lambda kind: kind.keeps == "strongest")

    @property
    def pruned(self) -> tuple[str, ...]:
        """The kinds whose replays go after some time."""
        return self.names(lambda kind: kind.keeps != "all")

    @property
    def of_value(self) -> tuple[str, ...]:
        """The kinds whose replays stay longer than usual."""
        return self.names(lambda kind: kind.is_of_value)

    @property
    def experiments(self) -> tuple[str, ...]:
        """The kinds whose matches are played while nothing else waits."""
        return self.names(lambda kind: kind.is_experiment)

    @property
    def sendings(self) -> Mapping[str, Sending]:
        """By name the kinds that are sent in an order of their own."""
        return {kind.name: kind.send for kind in self.kinds if kind.send is not None}

    @property
    def sendings_at_ends(self) -> Mapping[str, Sending]:
        """Those of them that are called whenever a match is over."""
        at_once = self.names(lambda kind: not kind.waits_for_ticks)
        return {name: send for name, send in self.sendings.items() if name in at_once}

    def claim(
        self, session: Session, clock: Clock, match: int, worker: str, lease: timedelta
    ) -> Claim | None:
        """Take a queued match for a worker, with what its format knows of it; see `claims.claim`.

        One for practice within a competition is played as that competition plays.
        """
        claim = claims.claim(session, clock, match, worker, lease, tuple(self.sendings))
        if claim is None:
            return None
        kind = self.of(claim.kind)
        if kind.plays_as_competition and claim.competition_id is not None:
            query = select(Competition.format).where(Competition.id == claim.competition_id)
            kind = self.of(session.scalars(query).one())
        return claim if kind.claim is None else kind.claim(session, claim)

    def finish(
        self, session: Session, clock: Clock, claim: Claim, battles: Sequence[BattleResult]
    ) -> Finish:
        """Write what an attempt has come to, and let its format take it in.

        Twice, late: as `results.finish` says.
        """
        kind = self.of(claim.kind)
        if kind.hold is not None:
            kind.hold(session, claim)
        finish = results.finish(session, clock, claim, battles)
        if finish == "done" and kind.finish is not None:
            kind.finish(session, clock, claim, battles)
        return finish
