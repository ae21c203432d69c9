"""What keeps strangers from an account: mails by address, and places where it was entered."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Count mails by address, and know from where people have logged in."""
    op.create_table(
        "mail_counts",
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("sent", sa.JSON(), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_mail_counts")),
    )
    op.create_index(op.f("ix_mail_counts_last_at"), "mail_counts", ["last_at"])
    op.create_table(
        "known_places",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.String(64), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_known_places_user_id_users"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", "place", name=op.f("pk_known_places")),
    )
    op.create_index(op.f("ix_known_places_seen_at"), "known_places", ["seen_at"])
