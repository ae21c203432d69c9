"""The documents of the API's routes of tournaments."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from cw.hub.api.queries import PlacesQuery
from cw.hub.store.tables import CompetitionState, EntryStatus, GroupKind, MatchState
from cw.league.ladder.phases import Phase


class TournamentRow(Struct, frozen=True, kw_only=True):
    """A tournament in the list of all; `next_at` is the next event that is announced."""

    slug: str
    game: str
    title: str
    description: str
    state: CompetitionState
    teams: int
    groups: list[str]
    next_at: datetime | None
    next_title: str | None


class GroupFacts(Struct, frozen=True, kw_only=True):
    """A group of a tournament; `rounds` have begun."""

    slug: str
    name: str
    kind: GroupKind
    rounds: int


class TournamentFacts(Struct, frozen=True, kw_only=True):
    """A tournament with its groups; its description is Markdown."""

    slug: str
    game: str
    title: str
    description: str
    state: CompetitionState
    groups: list[GroupFacts]


class LadderRound(Struct, frozen=True, kw_only=True):
    """A round: points of its matches are multiplied by `factor`; `played` of `matches` are over."""

    number: int
    board: str
    factor: int
    played: int
    matches: int


class LadderEntry(Struct, frozen=True, kw_only=True):
    """A team on a ladder; `change` is by how many places it rose in the last closed round."""

    place: int | None
    team: str
    slug: str
    points: float
    last_round: float
    change: int
    won: int
    drawn: int
    lost: int
    status: EntryStatus


class Ladder(Struct, frozen=True, kw_only=True):
    """The ladder of a group."""

    group: str
    name: str
    phase: Phase
    round: LadderRound | None
    next_round_at: datetime | None
    entries: list[LadderEntry]


class RoundQuery(PlacesQuery, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which matches of a group are wanted."""

    round: Annotated[str, Meta(pattern="^([1-9][0-9]{0,5})?$", description="Empty: the last.")] = ""


class RoundMatchFacts(Struct, frozen=True, kw_only=True):
    """A match of a round; teams and their points are by seat.

    `result` is such as `2:0`, null for a match that gives no points and one of more than two teams.
    """

    match_id: str
    state: MatchState
    teams: list[str]
    """Slugs."""
    points: list[int]
    result: str | None


class TeamRound(Struct, frozen=True, kw_only=True):
    """What a team has come to in a closed round; `total` and `place` are those after it."""

    number: int
    points: float
    total: float
    place: int
    won: int
    drawn: int
    lost: int
