"""News by mail: what hosts announce, and digests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add which news people want, and what mails tell of them."""
    yes = sa.true()
    column = "host_mails"
    op.add_column("users", sa.Column(column, sa.Boolean(), nullable=False, server_default=yes))
    never = sa.text("'never'")
    op.add_column("users", sa.Column("digest", sa.String(16), nullable=False, server_default=never))
    op.add_column("users", sa.Column("digest_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index(op.f("ix_users_digest_at"), "users", ["digest_at"])
    op.add_column("mails", sa.Column("news_key", sa.String(40), nullable=True))
    op.add_column("mails", sa.Column("words", sa.JSON(), nullable=True))
    name = op.f("ix_mails_user_id_news_key")
    op.create_index(name, "mails", ["user_id", "news_key"], unique=True)
