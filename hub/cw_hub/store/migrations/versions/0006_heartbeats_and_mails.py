"""Processes that say that they live, moments that the site notes, and mails that wait."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the tables of heartbeats, marks and mails."""
    op.create_table(
        "heartbeats",
        sa.Column("process", sa.String(80), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("version", sa.String(40), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("process", "role", name=op.f("pk_heartbeats")),
    )
    op.create_index(op.f("ix_heartbeats_seen_at"), "heartbeats", ["seen_at"])
    op.create_table(
        "marks",
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_marks")),
    )
    add_mails()


def add_mails() -> None:
    """Add the table of mails that are to be sent, or were."""
    op.create_table(
        "mails",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True),
        sa.Column("message_id", sa.String(80), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.String(80), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("state IN ('waiting', 'sent', 'dead', 'dropped')", name="state"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_mails_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mails")),
        sa.UniqueConstraint("message_id", name=op.f("uq_mails_message_id")),
    )
    op.create_index(op.f("ix_mails_state_due_at"), "mails", ["state", "due_at"])
    op.create_index(op.f("ix_mails_user_id"), "mails", ["user_id"])
