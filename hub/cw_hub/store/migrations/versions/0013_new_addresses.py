"""Links that prove an address which an account does not have yet, and mails to such addresses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the address that a ticket proves, and the one that a mail goes to."""
    for table in ("tickets", "mails"):
        op.add_column(table, sa.Column("email", sa.String(length=254), nullable=True))
