"""The documents of the tournaments' API routes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from cw.league.ladder.phases import Phase
from cw_hub.api.queries import PlacesQuery
from cw_hub.store.tables import CompetitionState, EntryStatus, GroupKind, MatchState


class TournamentRow(Struct, frozen=True, kw_only=True):
    """A tournament in the list; `next_at` is its next announced event."""

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
    """A group of a tournament; `rounds` counts those begun."""

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
    """A round; match points are multiplied by `factor`; `played` of `matches` are over."""

    number: int
    board: str
    factor: int
    played: int
    matches: int


class LadderEntry(Struct, frozen=True, kw_only=True):
    """A team on a ladder; `change` is the number of places gained in the last closed round."""

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
    """Selects matches of a group."""

    round: Annotated[str, Meta(pattern="^([1-9][0-9]{0,5})?$", description="Empty: the last.")] = ""


class RoundMatchFacts(Struct, frozen=True, kw_only=True):
    """A match of a round; teams and their points are by seat.

    `result` is such as `2:0`; null if the match gives no points or has more than two teams.
    """

    match_id: str
    state: MatchState
    teams: list[str]
    """Slugs."""
    points: list[int]
    result: str | None


class TeamRound(Struct, frozen=True, kw_only=True):
    """A team's results in a closed round; `total` and `place` are those after it."""

    number: int
    points: float
    total: float
    place: int
    won: int
    drawn: int
    lost: int
