"""The rights of a worker in PostgreSQL: to play matches, and to read only the names of people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cw.hub.store.tables import Base

EVERYTHING: Final = ""
"""In the place of columns: all of them."""


@dataclass(frozen=True, slots=True)
class Rights:
    """What may be done with the rows of a table."""

    reads: str = EVERYTHING
    """The columns that may be read."""
    changes: str | None = None
    """The columns that may be changed, None for none."""
    adds: bool = False
    removes: bool = False


READS: Final = Rights()


def all_but(table: str, *names: str) -> str:
    """Return the columns of a table but for some."""
    columns = (column.name for column in Base.metadata.tables[table].columns)
    return ", ".join(column for column in columns if column not in names)


WHAT_BOTS_ARE: Final = (
    *("id", "bot_id", "game", "user_id", "team_id", "name", "name_key", "kind", "endpoint"),
    *("description", "settings", "secret", "key_id", "secret_version", "created_at"),
)
"""The columns of bots that only their owners change."""

WHAT_A_TASK_IS: Final = ("id", "user_id", "game", "kind", "request", "digest", "created_at")
"""The columns of tasks of the workshop that only those who begin them write."""

HIDDEN: Final = frozenset(
    {
        *("audit", "competition_hosts", "draft_files", "friends", "guests", "invitations"),
        *("known_places", "mail_counts", "mails", "marks", "personal_limits", "team_members"),
        "tickets",
    }
)
"""The tables of which a worker sees nothing."""

RIGHTS: Final[Mapping[str, Rights]] = {
    "users": Rights("id, username, locked_at, deleted_at"),
    "bots": Rights(changes=all_but("bots", *WHAT_BOTS_ARE)),
    "bot_versions": Rights(changes="checks, state"),
    "bot_activations": Rights(adds=True),
    "comparisons": READS,
    "program_checks": Rights(changes="sent_at, worker", adds=True, removes=True),
    "last_program": Rights(changes="accounts, kind", adds=True),
    "workshop_tasks": Rights(changes=all_but("workshop_tasks", *WHAT_A_TASK_IS)),
    "workshop_pieces": Rights(adds=True),
    "teams": READS,
    "maps": READS,
    "competitions": Rights(changes="last_seq, revision, settings, state"),
    "events": Rights(changes="applied_at"),
    "groups": Rights(changes=EVERYTHING),
    "entries": Rights(changes=EVERYTHING, adds=True),
    "rounds": Rights(changes=EVERYTHING, adds=True),
    "round_scores": Rights(changes=EVERYTHING, adds=True),
    "ratings": Rights(changes="crash_streak, last_match_at, mu, phi, playing_id, sigma"),
    "rating_totals": Rights(changes=EVERYTHING, adds=True),
    "matches": Rights(changes=EVERYTHING, adds=True),
    "match_participants": Rights(changes=EVERYTHING, adds=True, removes=True),
    "battles": Rights(adds=True),
    "workers": Rights(changes=EVERYTHING, adds=True, removes=True),
    "heartbeats": Rights(changes=EVERYTHING, adds=True, removes=True),
    "counts": Rights(changes="value", adds=True),
    "alembic_version": READS,
}
"""What a worker may do, by table; with those of HIDDEN that is all tables."""


def statements(role: str) -> Iterator[str]:
    """Give the statements that let a role be a worker, and nothing else; again: the same.

    `role` is a name of small letters, digits and underscores.
    """
    yield f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}"
    yield f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM {role}"
    yield f"GRANT USAGE ON SCHEMA public TO {role}"
    for table, rights in RIGHTS.items():
        yield f"GRANT {', '.join(granted(rights))} ON {table} TO {role}"
        if rights.adds and Base.metadata.tables[table].autoincrement_column is not None:
            yield f"GRANT USAGE ON SEQUENCE {table}_id_seq TO {role}"


def granted(rights: Rights) -> Iterator[str]:
    """Give rights in the words of PostgreSQL."""
    yield f"SELECT ({rights.reads})" if rights.reads else "SELECT"
    if rights.changes is not None:
        yield f"UPDATE ({rights.changes})" if rights.changes else "UPDATE"
    if rights.adds:
        yield "INSERT"
    if rights.removes:
        yield "DELETE"
