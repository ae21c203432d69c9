"""PostgreSQL privileges of a worker, which plays matches; of users it reads only the names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cw_hub.store.models import Base

EVERYTHING: Final = ""
"""Stands for all columns, in place of a list."""


@dataclass(frozen=True, slots=True)
class Rights:
    """Privileges on the rows of a table."""

    reads: str = EVERYTHING
    """Readable columns."""
    changes: str | None = None
    """Writable columns, or None."""
    adds: bool = False
    removes: bool = False


READS: Final = Rights()


def all_but(table: str, *names: str) -> str:
    """Return all columns of a table except some."""
    columns = (column.name for column in Base.metadata.tables[table].columns)
    return ", ".join(column for column in columns if column not in names)


WHAT_BOTS_ARE: Final = (
    *("id", "bot_id", "game", "user_id", "team_id", "name", "name_key", "kind", "endpoint"),
    *("description", "settings", "secret", "key_id", "secret_version", "created_at"),
)
"""Columns of bots that only their owners change."""

WHAT_A_TASK_IS: Final = ("id", "user_id", "game", "kind", "request", "digest", "created_at")
"""Columns of workshop tasks that are written only for the users who start them."""

HIDDEN: Final = frozenset(
    {
        *("audit", "competition_hosts", "draft_files", "friends", "guests", "invitations"),
        *("known_places", "mail_counts", "mails", "marks", "personal_limits", "team_members"),
        "tickets",
    }
)
"""Tables that a worker cannot see at all."""

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
"""A worker's privileges by table; together with HIDDEN this covers all tables."""


def statements(role: str) -> Iterator[str]:
    """Yield the statements that grant a role exactly a worker's privileges. Idempotent.

    `role` consists of lower-case letters, digits and underscores.
    """
    yield f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}"
    yield f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM {role}"
    yield f"GRANT USAGE ON SCHEMA public TO {role}"
    for table, rights in RIGHTS.items():
        yield f"GRANT {', '.join(granted(rights))} ON {table} TO {role}"
        if rights.adds and Base.metadata.tables[table].autoincrement_column is not None:
            yield f"GRANT USAGE ON SEQUENCE {table}_id_seq TO {role}"


def granted(rights: Rights) -> Iterator[str]:
    """Yield privileges in PostgreSQL syntax."""
    yield f"SELECT ({rights.reads})" if rights.reads else "SELECT"
    if rights.changes is not None:
        yield f"UPDATE ({rights.changes})" if rights.changes else "UPDATE"
    if rights.adds:
        yield "INSERT"
    if rights.removes:
        yield "DELETE"
