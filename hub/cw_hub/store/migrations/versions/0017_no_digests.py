"""No digests by mail: neither who wants them nor those that still wait."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Delete the digests among the mails, and what users have chosen."""
    mails = sa.table("mails", sa.column("kind"))
    op.execute(mails.delete().where(mails.c.kind == "digest"))
    op.drop_index(op.f("ix_users_digest_at"), "users")
    op.drop_column("users", "digest_at")
    op.drop_column("users", "digest")
