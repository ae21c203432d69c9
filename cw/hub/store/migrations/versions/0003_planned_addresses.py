"""A planned match keeps the old address of a bot whose address changes."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, String

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the address to the seats of matches."""
    op.add_column("match_participants", Column("endpoint", String(500), nullable=True))
