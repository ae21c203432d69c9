"""Match types: the hooks through which a format takes part in its matches and their pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from markupsafe import Markup
from sqlalchemy import select

from cw.arena.bots import BotSpec
from cw.league.glicko2 import Rating
from cw.matches.spec import NO_SECRETS, Secrets
from cw_hub.matches import results
from cw_hub.matches.planning import Sending
from cw_hub.matches.results import BattleResult, Claim, Finish, wire_id
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import Program
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, MatchState

Titling: TypeAlias = Callable[[datetime], str]
"""Returns the title of a match, given the time when it was due."""


MOST_NAMED: Final = 6
"""Maximum number of players who are all named in a title; of more, only the first few are."""

FEW_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTraits:
    """Properties shared by all matches of one kind, wherever they are shown."""

    name: str
    """The name in rows, messages, metrics and the API; a format's kind has the format's name."""
    title: Titling | None = None
    """None to use the players' names."""
    is_public: bool = True
    is_crowd: bool = False
    """Whether all bots play: lists show only the top places, pages the current user's seats."""
    hides_players: bool = False
    """Whether players are hidden until the end, in games with hidden information."""
    battles: int = 1
    """Maximum number of games in a match."""
    plays_at_once: bool = False
    """Whether its replays start playing when their page opens."""
    is_experiment: bool = False
    """Whether it is only meaningful together with many others.

    Such a match is played while nothing else waits, and is not listed among its player's latest
    matches.
    """


@dataclass(frozen=True, slots=True)
class SeatView:
    """A seat, and its result."""

    slot: int
    name: str
    is_builtin: bool
    bot: int | None
    """The id of the bot's row, or None for a built-in strategy."""
    user_id: int | None
    """The id of the bot's owner, or None for a built-in strategy or a team."""
    owner: str | None
    """The username; also None if it was deleted."""
    picture: str | None
    """The SHA-256 of the owner's avatar."""
    country: str | None
    """The country of the owner."""
    rank: int | None
    score: float | None
    faults: Sequence[Mapping[str, Any]]
    stats: Mapping[str, Any]
    after: Rating | None = None
    """The rating after the match, or None if it was not rated."""
    before: Rating | None = None
    """The rating before it, or None if it was not loaded."""
    pair_rank: int | None = None
    """The rank that was used for ratings."""
    bot_id: str | None = None
    """The public id of the bot, or None for a built-in strategy."""
    tournament: str | None = None
    """The slug of the tournament in which the bot's team plays."""
    team_id: int | None = None
    team: str | None = None
    """The name of the team."""

    @property
    def place(self) -> int | None:
        """The place shown on pages: the rank used for ratings, so that places explain ratings.

        Only the first place is decided by the game alone: its tie-break does not count for ratings.
        """
        return self.rank if self.pair_rank in (None, 1) else self.pair_rank


@dataclass(frozen=True, slots=True)
class MatchView:
    """A match for its page."""

    match_id: str
    competition_id: int | None
    kind: KindTraits
    game: str
    state: MatchState
    attempt: int
    turn: int
    reason: str | None
    seed: int | None
    """None until the match is over, as is the map."""
    at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    seats: tuple[SeatView, ...]
    """The seats to show: few of a match in which all bots play, and no hidden ones."""
    players: int
    replay_key: str | None
    """The replay of a battle; None before the end and after its replay was deleted."""
    map_id: str | None = None
    level: float | None = None
    seq: int | None = None
    is_hidden: bool = False
    """Whether slots are hidden: the seats, if any, are sorted by name."""

    @property
    def wire_id(self) -> str:
        """The id that was sent to bots."""
        return wire_id(self.match_id, self.attempt)

    @property
    def title(self) -> str:
        """The players' names, unless its format has another title or they are hidden."""
        if self.kind.title is not None:
            return self.kind.title(self.at)
        if self.is_hidden and not self.seats:
            return f"Match {self.match_id}"
        return title_of([seat.team or seat.name for seat in self.seats], " - ")

    @property
    def tag(self) -> str:
        """A tag that changes whenever the page does."""
        return f"{self.match_id}-{self.state}-{self.attempt}-{self.turn}"

    @property
    def by_place(self) -> list[SeatView]:
        """The seats, the best first; those without a place last."""
        return sorted(self.seats, key=lambda seat: (seat.place is None, seat.place, seat.slot))

    @property
    def shares_places(self) -> bool:
        """Whether bots share a place although the game has ranked them."""
        return any(seat.place != seat.rank for seat in self.seats)

    def result_of(self, bot: int) -> str:
        """Return a bot's result in a match: `won`, `drawn`, `lost`, `3rd of 4`."""
        seats = {seat.bot: seat.place for seat in self.seats}
        place, places = seats.get(bot), [seat.place for seat in self.seats]
        if place == 1:
            return "won" if places.count(1) == 1 else "drawn"
        if len(places) == 2 or place is None:
            return "lost"
        return f"{place}{'nd' if place == 2 else 'rd' if place == 3 else 'th'} of {len(places)}"

    def with_before(self, ratings: Mapping[int, Rating]) -> MatchView:
        """Return the match with the ratings that bots had before it."""
        seats = tuple(
            seat if seat.bot is None else replace(seat, before=ratings.get(seat.bot))
            for seat in self.seats
        )
        return replace(self, seats=seats)


def title_of(names: Sequence[str], between: str) -> str:
    """Return the players in one line; of many, the first three and the number of the others."""
    if len(names) <= MOST_NAMED:
        return between.join(names)
    return f"{between.join(names[:FEW_NAMED])} and {len(names) - FEW_NAMED} more"


NOTHING: Final = Markup()


NO_BOTS: Final[Mapping[str, BotSpec]] = {}


class Guests(NamedTuple):
    """Bots without a row in the hub, by their names in the match."""

    bots: Mapping[str, BotSpec] = NO_BOTS
    """Bots by name; uploaded programs are placeholders here."""
    secrets: Secrets = NO_SECRETS
    programs: Callable[[], Iterable[Program]] = tuple
    """Yields those programs in the form sent to players; raises StoreAway."""


@dataclass(frozen=True, slots=True)
class MatchPart:
    """A format's additions to the page of a match."""

    head: Markup = NOTHING
    """Inserted into the head of the page, such as style sheets."""
    top: Markup = NOTHING
    """Shown above the match."""
    below: Markup = NOTHING
    """Shown after the players."""
    people: str | None = None
    """The URL of the list of players, if the viewer shows names."""
    has_places: bool = True
    """Whether the page lists the places of all seats."""


NO_PART: Final = MatchPart()

Claiming: TypeAlias = Callable[[Session, Claim], Claim]
"""Adds the format's data to a claim, in the transaction that claims the match."""

Seating: TypeAlias = Callable[[Resources, Claim], Awaitable[Claim | None]]
"""Finds the players when the match starts; None if the match no longer belongs to this attempt."""

Inviting: TypeAlias = Callable[[Resources, Claim], Guests]
"""Returns bots brought by the format itself.

Raises StoreAway, or UsageError if the match cannot be played.
"""

Reporting: TypeAlias = Callable[[Claim], str | None]
"""Returns the object key for the whole result of a game, or None if it is not needed."""

Holding: TypeAlias = Callable[[Session, Claim], object]
"""Locks the rows that `finish` will change, before the match itself is changed.

All callers lock in the same order, which prevents deadlocks.
"""

Finishing: TypeAlias = Callable[[Session, Claim, Sequence[BattleResult]], object]
"""Processes the results of a match in the transaction that writes them, hence exactly once."""

Wording: TypeAlias = Callable[[MatchView], str | None]
"""Returns the status text of a match that cannot be watched, or None for the default text."""

Parting: TypeAlias = Callable[[Session, MatchView, int], MatchPart]
"""Returns the format's parts of the page for a match and one of its games."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(KindTraits):
    """The hooks of one kind of match; None where the default applies."""

    claim: Claiming | None = None
    seat: Seating | None = None
    invite: Inviting | None = None
    report: Reporting | None = None
    hold: Holding | None = None
    finish: Finishing | None = None
    send: Sending | None = None
    """Sends the matches of its competitions in its own order."""
    waits_for_ticks: bool = False
    """Whether only ticks call `send`, after all formats have planned."""
    plans_next: bool = False
    """Whether `finish` plans matches that are sent immediately, not by the next tick."""
    words: Wording | None = None
    part: Parting | None = None
    names_apart: bool = False
    """Whether its pages map player numbers to names, so that its replays need no names."""
    plays_as_competition: bool = False
    """Whether it has no format of its own, and is claimed like the format of its competition."""
    keeps: Literal["all", "strongest", "none"] = "all"
    """Which replays are kept permanently; the rest are deleted after some time."""
    is_of_value: bool = False
    """Whether the other replays are kept longer than usual."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """The match kinds known to a process."""

    kinds: Sequence[Kind]
    by_name: Mapping[str, Kind] = field(init=False)

    def __post_init__(self) -> None:
        """Index the kinds by name; raise ValueError for duplicates."""
        by_name = {kind.name: kind for kind in self.kinds}
        if len(by_name) < len(self.kinds):
            raise ValueError("two kinds of matches have the same name")
        object.__setattr__(self, "by_name", by_name)

    def of(self, name: str) -> Kind:
        """Return a kind by its name; an unknown one gets the defaults."""
        return self.by_name.get(name) or Kind(name=name)

    def names(self, has: Callable[[Kind], object] = lambda _: True) -> tuple[str, ...]:
        """Return the names of the kinds that satisfy a predicate."""
        return tuple(kind.name for kind in self.kinds if has(kind))

    @property
    def private(self) -> tuple[str, ...]:
        """The kinds whose matches only participants and admins see."""
        return self.names(lambda kind: not kind.is_public)

    @property
    def crowds(self) -> tuple[str, ...]:
        """The kinds whose matches all bots play in."""
        return self.names(lambda kind: kind.is_crowd)

    @property
    def hiding(self) -> tuple[str, ...]:
        """The kinds whose players are known only to the site, in games with hidden information."""
        return self.names(lambda kind: kind.hides_players)

    @property
    def by_strength(self) -> tuple[str, ...]:
        """The kinds whose strongest matches of each month are kept and listed."""
        return self.names(lambda kind: kind.keeps == "strongest")

    @property
    def pruned(self) -> tuple[str, ...]:
        """The kinds whose replays are deleted after some time."""
        return self.names(lambda kind: kind.keeps != "all")

    @property
    def of_value(self) -> tuple[str, ...]:
        """The kinds whose replays are kept longer than usual."""
        return self.names(lambda kind: kind.is_of_value)

    @property
    def experiments(self) -> tuple[str, ...]:
        """The kinds whose matches are played only while nothing else waits."""
        return self.names(lambda kind: kind.is_experiment)

    @property
    def sendings(self) -> Mapping[str, Sending]:
        """The kinds with their own sending order, by name."""
        return {kind.name: kind.send for kind in self.kinds if kind.send is not None}

    @property
    def sendings_at_ends(self) -> Mapping[str, Sending]:
        """Those of `sendings` that are called whenever a match ends."""
        at_once = self.names(lambda kind: not kind.waits_for_ticks)
        return {name: send for name, send in self.sendings.items() if name in at_once}

    def claim(self, session: Session, match: int, worker: str, lease: timedelta) -> Claim | None:
        """Claim a queued match for a worker, with its format's data; see `results.claim`.

        A practice match within a competition is played as that competition plays.
        """
        claim = results.claim(session, match, worker, lease, tuple(self.sendings))
        if claim is None:
            return None
        kind = self.of(claim.kind)
        if kind.plays_as_competition and claim.competition_id is not None:
            query = select(Competition.format).where(Competition.id == claim.competition_id)
            kind = self.of(session.scalars(query).one())
        return claim if kind.claim is None else kind.claim(session, claim)

    def finish(self, session: Session, claim: Claim, battles: Sequence[BattleResult]) -> Finish:
        """Write the result of an attempt, and pass it to its format.

        Repeated or late calls have the same effect as for `results.finish`.
        """
        kind = self.of(claim.kind)
        if kind.hold is not None:
            kind.hold(session, claim)
        finish = results.finish(session, claim, battles)
        if finish == "done" and kind.finish is not None:
            kind.finish(session, claim, battles)
        return finish
