"""Match types: the hooks through which a format takes part in its matches and their pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from markupsafe import Markup
from sqlalchemy import select

from cw.arena.bots import BotSpec
from cw.league.fixtures import outcome_of
from cw.league.glicko2 import Rating
from cw.matches.spec import NO_SECRETS, Secrets
from cw_hub.matches import results
from cw_hub.matches.planning import Message, Sending
from cw_hub.matches.results import BattleResult, Claim, Finish, wire_id
from cw_hub.operation.resources import Resources
from cw_hub.pages.forms import ordinal
from cw_hub.players.messages import Program
from cw_hub.store.database import Reading, Session
from cw_hub.store.models import Competition, MatchState

MOST_NAMED: Final = 6
"""Maximum number of players who are all named in a title; of more, only the first few are."""

FEW_NAMED: Final = 3


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
    kind: MatchType
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
        title = self.kind.title(self.at)
        if title is not None:
            return title
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
        came = outcome_of(place, places.count(1))
        if came == "lost" and place is not None and len(places) > 2:
            return f"{ordinal(place)} of {len(places)}"
        return came

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


class ExternalBots(NamedTuple):
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


class MatchType:
    """What a type of match does in its own way; this class is a type without any.

    A format is the type of its own matches (`cw_hub.competitions.format`).
    """

    name: str
    """The name in rows, messages, metrics and the API."""
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
    sends_itself: bool = False
    """Whether its matches are sent in an order of its own, by `send`."""
    waits_for_ticks: bool = False
    """Whether only ticks call `send`, after all formats have planned."""
    plans_next: bool = False
    """Whether `finish` plans matches that are sent immediately, not by the next tick."""
    names_apart: bool = False
    """Whether its pages map player numbers to names, so that its replays need no names."""
    plays_as_competition: bool = False
    """Whether it has no format of its own, and is claimed like the format of its competition."""
    keeps: Literal["all", "strongest", "none"] = "all"
    """Which replays are kept permanently; the rest are deleted after some time."""
    is_of_value: bool = False
    """Whether the other replays are kept longer than usual."""

    def title(self, due: datetime, /) -> str | None:
        """Return the title of a match, given when it was due; None to name its players."""
        return None

    def words(self, match: MatchView, /) -> str | None:
        """Return the status text of a match that cannot be watched; None for the usual text."""
        return None

    def part(self, reading: Reading, match: MatchView, battle: int, /) -> MatchPart:
        """Return the format's parts of the page for a match and one of its games."""
        return NO_PART

    def send(self, session: Session, lost_after: timedelta, /) -> list[Message]:
        """Return the messages of matches that may be played now, like `planning.to_send`."""
        raise NotImplementedError

    def claim(self, session: Session, claim: Claim, /) -> Claim:
        """Add the format's data to a claim, in the transaction that claims the match."""
        return claim

    async def seat(self, resources: Resources, claim: Claim, /) -> Claim | None:
        """Find the players when the match starts; None if it is no longer this attempt's."""
        return claim

    def external_bots(self, resources: Resources, claim: Claim, /) -> ExternalBots:
        """Return bots brought by the format itself.

        Raises StoreAway, or UsageError if the match cannot be played.
        """
        return ExternalBots()

    def report_key(self, claim: Claim, /) -> str | None:
        """Return the object key for the whole result of a game, or None if it is not needed."""
        return None

    def lock_rows(self, session: Session, claim: Claim, /) -> object:
        """Lock the rows that `finish` will change, before the match itself is changed.

        All callers lock in the same order, which prevents deadlocks.
        """

    def finish(self, session: Session, claim: Claim, battles: Sequence[BattleResult], /) -> None:
        """Process the results of a match in the transaction that writes them: exactly once."""


@dataclass(frozen=True, slots=True)
class MatchTypes:
    """The types of matches known to a process."""

    types: Sequence[MatchType]
    by_name: Mapping[str, MatchType] = field(init=False)

    def __post_init__(self) -> None:
        """Index the types by name; raise ValueError for duplicates."""
        by_name = {each.name: each for each in self.types}
        if len(by_name) < len(self.types):
            raise ValueError("two types of matches have the same name")
        object.__setattr__(self, "by_name", by_name)

    def of(self, name: str) -> MatchType:
        """Return a type by its name; an unknown one gets the defaults."""
        known = self.by_name.get(name)
        if known is None:
            known = MatchType()
            known.name = name
        return known

    def names(self, has: Callable[[MatchType], object] = lambda _: True) -> tuple[str, ...]:
        """Return the names of the types that satisfy a predicate."""
        return tuple(each.name for each in self.types if has(each))

    @property
    def private(self) -> tuple[str, ...]:
        """The types whose matches only participants and admins see."""
        return self.names(lambda each: not each.is_public)

    @property
    def crowds(self) -> tuple[str, ...]:
        """The types whose matches all bots play in."""
        return self.names(lambda each: each.is_crowd)

    @property
    def hiding(self) -> tuple[str, ...]:
        """The types whose players are known only to the site, in games with hidden information."""
        return self.names(lambda each: each.hides_players)

    @property
    def by_strength(self) -> tuple[str, ...]:
        """The types whose strongest matches of each month are kept and listed."""
        return self.names(lambda each: each.keeps == "strongest")

    @property
    def pruned(self) -> tuple[str, ...]:
        """The types whose replays are deleted after some time."""
        return self.names(lambda each: each.keeps != "all")

    @property
    def of_value(self) -> tuple[str, ...]:
        """The types whose replays are kept longer than usual."""
        return self.names(lambda each: each.is_of_value)

    @property
    def experiments(self) -> tuple[str, ...]:
        """The types whose matches are played only while nothing else waits."""
        return self.names(lambda each: each.is_experiment)

    @property
    def sendings(self) -> Mapping[str, Sending]:
        """The types with their own sending order, by name."""
        return {each.name: each.send for each in self.types if each.sends_itself}

    @property
    def sendings_at_ends(self) -> Mapping[str, Sending]:
        """Those of `sendings` that are called whenever a match ends."""
        at_once = self.names(lambda each: not each.waits_for_ticks)
        return {name: send for name, send in self.sendings.items() if name in at_once}

    def claim(self, session: Session, match: int, worker: str, lease: timedelta) -> Claim | None:
        """Claim a queued match for a worker, with its format's data; see `results.claim`.

        A practice match within a competition is played as that competition plays.
        """
        claim = results.claim(session, match, worker, lease, tuple(self.sendings))
        if claim is None:
            return None
        type_ = self.of(claim.kind)
        if type_.plays_as_competition and claim.competition_id is not None:
            query = select(Competition.format).where(Competition.id == claim.competition_id)
            type_ = self.of(session.scalars(query).one())
        return type_.claim(session, claim)

    def finish(self, session: Session, claim: Claim, battles: Sequence[BattleResult]) -> Finish:
        """Write the result of an attempt, and pass it to its format.

        Repeated or late calls have the same effect as for `results.finish`.
        """
        type_ = self.of(claim.kind)
        type_.lock_rows(session, claim)
        finish = results.finish(session, claim, battles)
        if finish == "done":
            type_.finish(session, claim, battles)
        return finish
