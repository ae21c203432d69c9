"""Matches of any kind: a format that is added brings a kind of its own."""

from __future__ import annotations

from typing import Final

from alembic import op
from sqlalchemy import text

revision = "0002"
down_revision = "0001"

RULE: Final = (
    "CONSTRAINT ck_matches_kind CHECK"
    " (kind IN ('daily', 'ladder', 'rated', 'practice', 'championship'))"
)


def upgrade() -> None:
    """Let a kind be any text, and name cups and tournaments after their format."""
    if op.get_context().dialect.name == "sqlite":
        forget_rule_of_sqlite()
    else:
        op.drop_constraint("ck_matches_kind", "matches")
    op.execute("UPDATE matches SET kind = 'cup' WHERE kind = 'championship'")
    op.execute("UPDATE matches SET kind = 'tournament' WHERE kind = 'ladder'")
    op.execute("UPDATE competitions SET format = 'tournament' WHERE format = 'ladder'")


def forget_rule_of_sqlite() -> None:
    """Take the rule out of the text of the table, as SQLite recommends: its rows stay in place."""
    connection = op.get_bind()
    sql = connection.scalar(text("SELECT sql FROM sqlite_master WHERE name = 'matches'"))
    before, rule, after = sql.partition(RULE)
    if not rule:
        raise ValueError("the table matches has no rule for its kinds")
    op.execute("PRAGMA writable_schema = ON")
    without = {"sql": before.rstrip() + after.removeprefix(",")}
    connection.execute(text("UPDATE sqlite_master SET sql = :sql WHERE name = 'matches'"), without)
    op.execute("PRAGMA writable_schema = RESET")
