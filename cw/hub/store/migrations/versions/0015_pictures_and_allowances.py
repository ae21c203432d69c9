"""Pictures of competitions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add the picture of a competition."""
    op.add_column("competitions", sa.Column("picture", sa.String(64), nullable=True))
