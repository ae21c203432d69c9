"""Pictures of competitions, and limits of one person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add the picture of a competition, and the table of limits that are others for a person."""
    op.add_column("competitions", sa.Column("picture", sa.String(64), nullable=True))
    op.create_table(
        "personal_limits",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_personal_limits_user_id_users"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", "name", name=op.f("pk_personal_limits")),
    )
