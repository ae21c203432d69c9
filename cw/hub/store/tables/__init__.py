"""All tables of the hub. Times are UTC; a column of `Mapped[X | None]` may be null."""

from cw.hub.store.tables.accounts import (
    Friend,
    KnownPlace,
    Mail,
    MailCount,
    MailState,
    Role,
    Ticket,
    TicketKind,
    User,
)
from cw.hub.store.tables.base import Base, Json, Moment
from cw.hub.store.tables.bots import (
    Bot,
    BotActivation,
    BotKind,
    BotStatus,
    BotVersion,
    VersionState,
)
from cw.hub.store.tables.competitions import Competition, CompetitionState, Event
from cw.hub.store.tables.matches import Battle, Map, Match, MatchParticipant, MatchState
from cw.hub.store.tables.operation import Audit, Count, Heartbeat, Mark, Worker
from cw.hub.store.tables.rated import Rating, RatingTotal
from cw.hub.store.tables.tournament import (
    Entry,
    EntryStatus,
    Group,
    GroupKind,
    Round,
    RoundScore,
    Team,
)

__all__ = [
    "Audit",
    "Base",
    "Battle",
    "Bot",
    "BotActivation",
    "BotKind",
    "BotStatus",
    "BotVersion",
    "Competition",
    "CompetitionState",
    "Count",
    "Entry",
    "EntryStatus",
    "Event",
    "Friend",
    "Group",
    "GroupKind",
    "Heartbeat",
    "Json",
    "KnownPlace",
    "Mail",
    "MailCount",
    "MailState",
    "Map",
    "Mark",
    "Match",
    "MatchParticipant",
    "MatchState",
    "Moment",
    "Rating",
    "RatingTotal",
    "Role",
    "Round",
    "RoundScore",
    "Team",
    "Ticket",
    "TicketKind",
    "User",
    "VersionState",
    "Worker",
]
