"""Counts of what processes have met, and no tournament whose host lifts the sandbox."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the table of counts, and let programs of all tournaments run in the sandbox."""
    op.create_table(
        "counts",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counts")),
    )
    sandbox_programs()


def sandbox_programs() -> None:
    """Take the word out of settings by which programs were run without bubblewrap."""
    competitions = sa.table(
        "competitions", sa.column("id"), sa.column("format"), sa.column("settings", sa.JSON)
    )
    connection = op.get_bind()
    rows = connection.execute(
        sa.select(competitions.c.id, competitions.c.settings).where(
            competitions.c.format == "tournament"
        )
    ).all()
    for row in rows:
        if row.settings.get("hosting") == "trusted":
            settings = {**row.settings, "hosting": "sandboxed"}
            change = sa.update(competitions).where(competitions.c.id == row.id)
            connection.execute(change.values(settings=settings))
