"""Versions of programs say what they are, and matches which of them played."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add what is known of versions, when each was made to play, and which one sat at a slot."""
    for name, length in (("language", 16), ("note", 120)):
        column = sa.Column(name, sa.String(length), nullable=False, server_default=sa.text("''"))
        op.add_column("bot_versions", column)
    op.add_column("bot_versions", sa.Column("checks", sa.JSON(), nullable=True))
    op.add_column("match_participants", sa.Column("version", sa.Integer(), nullable=True))
    op.create_table(
        "bot_activations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot_id"], ["bots.id"], name=op.f("fk_bot_activations_bot_id_bots")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_activations")),
    )
    op.create_index(op.f("ix_bot_activations_bot_id"), "bot_activations", ["bot_id"])
