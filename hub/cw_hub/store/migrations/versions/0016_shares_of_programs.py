"""Shares of the places in which programs run: checks that wait or run, and what was begun last."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Add the tables of checks of programs, and of what was begun last."""
    op.create_table(
        "program_checks",
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(80), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["bot_id"], ["bots.id"], name=op.f("fk_program_checks_bot_id_bots")
        ),
        sa.PrimaryKeyConstraint("bot_id", name=op.f("pk_program_checks")),
    )
    op.create_table(
        "last_program",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(16), nullable=True),
        sa.Column("accounts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_last_program")),
    )
