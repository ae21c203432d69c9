"""Mails about bots, and whether somebody wants them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the bot of a mail, and the wish of its owner."""
    yes = sa.true()
    op.add_column("users", sa.Column("bot_mails", sa.Boolean(), nullable=False, server_default=yes))
    with op.batch_alter_table("mails") as mails:
        mails.add_column(sa.Column("bot_id", sa.Integer(), nullable=True))
        mails.create_foreign_key(op.f("fk_mails_bot_id_bots"), "bots", ["bot_id"], ["id"])
