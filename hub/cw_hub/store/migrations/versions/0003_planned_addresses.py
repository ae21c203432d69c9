"""A match that is planned keeps the address of a bot that gets another one."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, String

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the address to the seats of matches."""
    op.add_column("match_participants", Column("endpoint", String(500), nullable=True))
