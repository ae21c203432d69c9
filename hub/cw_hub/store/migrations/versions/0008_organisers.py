"""Competitions have a text, a time zone and hosts; teams have members and come by invitation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add what a competition says of itself, who leads it, and how teams come to it."""
    for name, length, default in (("description", None, ""), ("zone", 64, "UTC")):
        kind = sa.String(length) if length else sa.Text()
        column = sa.Column(name, kind, nullable=False, server_default=sa.text(f"'{default}'"))
        op.add_column("competitions", column)
    op.add_column("teams", sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("teams", sa.Column("code", sa.String(16), nullable=True))
    add_hosts()
    add_members()
    add_invitations()
    add_guests()


def add_hosts() -> None:
    """Add the table of the people who lead a competition."""
    op.create_table(
        "competition_hosts",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        reference("competition_hosts", "competition_id", "competitions"),
        reference("competition_hosts", "user_id", "users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("competition_id", "user_id", name=op.f("pk_competition_hosts")),
    )
    op.create_index(op.f("ix_competition_hosts_user_id"), "competition_hosts", ["user_id"])


def add_members() -> None:
    """Add the table of the people of a team."""
    op.create_table(
        "team_members",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("is_captain", sa.Boolean(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        reference("team_members", "competition_id", "competitions"),
        reference("team_members", "user_id", "users", ondelete="CASCADE"),
        reference("team_members", "team_id", "teams", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("competition_id", "user_id", name=op.f("pk_team_members")),
    )
    op.create_index(op.f("ix_team_members_team_id"), "team_members", ["team_id"])
    op.create_index(op.f("ix_team_members_user_id"), "team_members", ["user_id"])


def add_invitations() -> None:
    """Add the table of the links by which people come to a competition."""
    op.create_table(
        "invitations",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(16), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("most_teams", sa.Integer(), nullable=False),
        sa.Column("most_members", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        reference("invitations", "competition_id", "competitions"),
        sa.PrimaryKeyConstraint("competition_id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("code", name=op.f("uq_invitations_code")),
    )


def add_guests() -> None:
    """Add the table of the addresses that a host has imported."""
    op.create_table(
        "guests",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("team", sa.String(40), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        reference("guests", "competition_id", "competitions"),
        sa.PrimaryKeyConstraint("competition_id", "email", name=op.f("pk_guests")),
    )


def reference(
    table: str, column: str, other: str, ondelete: str | None = None
) -> sa.ForeignKeyConstraint:
    """Return the constraint that a column names a row of another table."""
    name = op.f(f"fk_{table}_{column}_{other}")
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=name, ondelete=ondelete)
