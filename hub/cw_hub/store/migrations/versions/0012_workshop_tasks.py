"""What workers do with drafts: runs, questions, series and checks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the tables of tasks, and of the pieces of what they tell."""
    op.create_table(
        "workshop_tasks",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("game", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("source", sa.LargeBinary(), nullable=True),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("cause", sa.String(200), nullable=False),
        sa.Column("worker", sa.String(120), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "kind IN ('run', 'ask', 'series', 'check')", name=op.f("ck_workshop_tasks_kind")
        ),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'done', 'stopped', 'lost')",
            name=op.f("ck_workshop_tasks_state"),
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_workshop_tasks_user_id_users"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workshop_tasks")),
        sa.UniqueConstraint(
            "user_id", "game", "kind", name=op.f("uq_workshop_tasks_user_id_game_kind")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_workshop_tasks_running"),
        "workshop_tasks",
        ["user_id"],
        unique=True,
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_index(op.f("ix_workshop_tasks_state_id"), "workshop_tasks", ["state", "id"])
    op.create_table(
        "workshop_pieces",
        sa.Column("task_id", BIG_KEY, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["task_id"],
            ["workshop_tasks.id"],
            name=op.f("fk_workshop_pieces_task_id_workshop_tasks"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("task_id", "kind", "first", name=op.f("pk_workshop_pieces")),
    )
