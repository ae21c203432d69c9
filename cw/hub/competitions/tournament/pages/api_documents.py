"""The documents of the API's routes of tournaments."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from cw.hub.store.tables import CompetitionState, EntryStatus, GroupKind
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
