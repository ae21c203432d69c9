"""All tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

SQLITE_KEEPS = """
CREATE TRIGGER audit_no_{verb} BEFORE {verb} ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is never changed'); END
"""

KEEP_AUDIT = {
    "sqlite": [SQLITE_KEEPS.format(verb=verb) for verb in ("update", "delete")],
    "postgresql": [
        """
        CREATE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'the audit is never changed'; END $$
        """,
        """
        CREATE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
        FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept()
        """,
    ],
}
"""What makes the database itself refuse to change a row of the audit."""


def upgrade() -> None:
    """Go on from the revision before."""
    op.create_table(
        "competitions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=32), nullable=False),
        sa.Column("game", sa.String(length=32), nullable=False),
        sa.Column("format", sa.String(length=16), nullable=False),
        sa.Column("title", sa.String(length=80), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competitions")),
        sa.UniqueConstraint("format", "slug", name=op.f("uq_competitions_format_slug")),
    )
    op.create_table(
        "maps",
        sa.Column("map_id", sa.String(length=16), nullable=False),
        sa.Column("game", sa.String(length=32), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("cols", sa.Integer(), nullable=False),
        sa.Column("meta", sa.JSON(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("map_id", name=op.f("pk_maps")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("username", sa.String(length=32), nullable=True),
        sa.Column("username_key", sa.String(length=32), nullable=True),
        sa.Column("display_name", sa.String(length=64), nullable=True),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("email_verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("github_id", sa.BigInteger(), nullable=True),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("country", sa.String(length=2), nullable=True),
        sa.Column("born", sa.Date(), nullable=True),
        sa.Column("avatar", sa.String(length=64), nullable=True),
        sa.Column("locked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("role IN ('player', 'admin')", name=op.f("ck_users_role")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("github_id", name=op.f("uq_users_github_id")),
        sa.UniqueConstraint("username_key", name=op.f("uq_users_username_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("version", sa.String(length=40), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
    )
    op.create_index("ix_workers_seen_at", "workers", ["seen_at"], unique=False)
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=True),
        sa.Column("actor", sa.String(length=60), nullable=False),
        sa.Column("net", sa.String(length=24), nullable=False),
        sa.Column("verb", sa.String(length=40), nullable=False),
        sa.Column("object", sa.String(length=60), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_audit_competition_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_competition_id_at", "audit", ["competition_id", "at"], unique=False)
    op.create_index("ix_audit_object_at", "audit", ["object", "at"], unique=False)
    op.create_table(
        "friends",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("friend_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["friend_id"], ["users.id"], name=op.f("fk_friends_friend_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_friends_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "friend_id", name=op.f("pk_friends")),
    )
    op.create_index("ix_friends_friend_id", "friends", ["friend_id"], unique=False)
    op.create_table(
        "groups",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_groups_competition_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_groups")),
        sa.UniqueConstraint("competition_id", "slug", name=op.f("uq_groups_competition_id_slug")),
    )
    op.create_table(
        "teams",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("name_key", sa.String(length=80), nullable=False),
        sa.Column("out_of_competition", sa.Boolean(), nullable=False),
        sa.Column("machine", sa.String(length=120), nullable=True),
        sa.Column("ssh_key", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_teams_competition_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_teams")),
        sa.UniqueConstraint(
            "competition_id", "name_key", name=op.f("uq_teams_competition_id_name_key")
        ),
        sa.UniqueConstraint("competition_id", "slug", name=op.f("uq_teams_competition_id_slug")),
    )
    op.create_table(
        "bots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.String(length=10), nullable=False),
        sa.Column("game", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("name_key", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("endpoint", sa.String(length=500), nullable=False),
        sa.Column("description", sa.String(length=500), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=True),
        sa.Column("key_id", sa.String(length=16), nullable=True),
        sa.Column("secret_version", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("check_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("healthy_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failures_total", sa.Integer(), nullable=False),
        sa.Column("protocol_ok", sa.Boolean(), nullable=False),
        sa.Column("checks", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind IN ('url', 'program', 'builtin')", name=op.f("ck_bots_kind")),
        sa.CheckConstraint(
            "status IN ('PENDING', 'ACTIVE', 'INACTIVE', 'SUSPENDED', 'RETIRED')",
            name=op.f("ck_bots_status"),
        ),
        sa.CheckConstraint(
            "(user_id IS NULL) <> (team_id IS NULL)", name=op.f("ck_bots_one_owner")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_bots_team_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_bots_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bots")),
        sa.UniqueConstraint("bot_id", name=op.f("uq_bots_bot_id")),
        sa.UniqueConstraint("team_id", name=op.f("uq_bots_team_id")),
    )
    op.create_index(
        "ix_bots_name_of_users",
        "bots",
        ["game", "name_key"],
        unique=True,
        sqlite_where=sa.text("user_id IS NOT NULL"),
        postgresql_where=sa.text("user_id IS NOT NULL"),
    )
    op.create_index("ix_bots_status_check_due_at", "bots", ["status", "check_due_at"], unique=False)
    op.create_index("ix_bots_user_id", "bots", ["user_id"], unique=False)
    op.create_table(
        "entries",
        sa.Column("group_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.Column("from_group_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["from_group_id"], ["groups.id"], name=op.f("fk_entries_from_group_id")
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_entries_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["teams.id"], name=op.f("fk_entries_team_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("group_id", "team_id", name=op.f("pk_entries")),
    )
    op.create_index("ix_entries_team_id", "entries", ["team_id"], unique=False)
    op.create_table(
        "events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.Integer(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("title", sa.String(length=120), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("announced", sa.Boolean(), nullable=False),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_events_competition_id")
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_events_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index("ix_events_competition_id_at", "events", ["competition_id", "at"], unique=False)
    op.create_table(
        "rounds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("board", sa.JSON(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("positions", sa.JSON(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_rounds_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rounds")),
        sa.UniqueConstraint("group_id", "number", name=op.f("uq_rounds_group_id_number")),
    )
    op.create_index(
        "ix_rounds_open",
        "rounds",
        ["group_id"],
        unique=True,
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    )
    op.create_table(
        "tickets",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("competition_id", sa.Integer(), nullable=True),
        sa.Column("parent", sa.String(length=64), nullable=True),
        sa.Column("label", sa.String(length=40), nullable=True),
        sa.Column("scopes", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_tickets_competition_id")
        ),
        sa.ForeignKeyConstraint(
            ["parent"], ["tickets.digest"], name=op.f("fk_tickets_parent"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["teams.id"], name=op.f("fk_tickets_team_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_tickets_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_tickets")),
    )
    op.create_index("ix_tickets_competition_id", "tickets", ["competition_id"], unique=False)
    op.create_index("ix_tickets_expires_at", "tickets", ["expires_at"], unique=False)
    op.create_index("ix_tickets_parent", "tickets", ["parent"], unique=False)
    op.create_index("ix_tickets_team_id", "tickets", ["team_id"], unique=False)
    op.create_index("ix_tickets_user_id", "tickets", ["user_id"], unique=False)
    op.create_table(
        "bot_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_bot_versions_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_versions")),
        sa.UniqueConstraint("bot_id", "number", name=op.f("uq_bot_versions_bot_id_number")),
    )
    op.create_table(
        "matches",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("match_id", sa.String(length=10), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("key", sa.String(length=120), nullable=False),
        sa.Column("game", sa.String(length=32), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("map_id", sa.String(length=16), nullable=True),
        sa.Column("level", sa.Double(), nullable=True),
        sa.Column("round_id", sa.Integer(), nullable=True),
        sa.Column("sequence", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("troubles", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=80), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.String(length=40), nullable=True),
        sa.Column("request_id", sa.String(length=64), nullable=True),
        sa.Column("seq", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('daily', 'ladder', 'rated', 'practice', 'championship')",
            name=op.f("ck_matches_kind"),
        ),
        sa.CheckConstraint(
            "state IN ('queued', 'in_progress', 'interrupted', 'done', 'void', 'failed')",
            name=op.f("ck_matches_state"),
        ),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_matches_competition_id")
        ),
        sa.ForeignKeyConstraint(["map_id"], ["maps.map_id"], name=op.f("fk_matches_map_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_matches_round_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_matches")),
        sa.UniqueConstraint("competition_id", "seq", name=op.f("uq_matches_competition_id_seq")),
        sa.UniqueConstraint("kind", "key", name=op.f("uq_matches_kind_key")),
        sa.UniqueConstraint("match_id", name=op.f("uq_matches_match_id")),
    )
    op.create_index(
        "ix_matches_competition_id_at", "matches", ["competition_id", "at"], unique=False
    )
    op.create_index(
        "ix_matches_competition_id_finished_at",
        "matches",
        ["competition_id", "finished_at"],
        unique=False,
    )
    op.create_index("ix_matches_round_id", "matches", ["round_id"], unique=False)
    op.create_index("ix_matches_state_id", "matches", ["state", "id"], unique=False)
    op.create_table(
        "rating_totals",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_rating_totals_bot_id")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_rating_totals_competition_id")
        ),
        sa.PrimaryKeyConstraint(
            "competition_id", "players", "day", "bot_id", name=op.f("pk_rating_totals")
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_rating_totals_bot_id", "rating_totals", ["bot_id"], unique=False)
    op.create_table(
        "round_scores",
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("won", sa.Integer(), nullable=False),
        sa.Column("drawn", sa.Integer(), nullable=False),
        sa.Column("lost", sa.Integer(), nullable=False),
        sa.Column("battles_diff", sa.Integer(), nullable=False),
        sa.Column("score_diff", sa.Double(), nullable=False),
        sa.Column("total", sa.Double(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_round_scores_round_id")),
        sa.ForeignKeyConstraint(
            ["team_id"], ["teams.id"], name=op.f("fk_round_scores_team_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("round_id", "team_id", name=op.f("pk_round_scores")),
    )
    op.create_index("ix_round_scores_team_id", "round_scores", ["team_id"], unique=False)
    op.create_table(
        "battles",
        sa.Column("match_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("first_slot", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(length=40), nullable=False),
        sa.Column("ranks", sa.JSON(), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("replay_key", sa.String(length=120), nullable=True),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("pruned_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_battles_match_id")),
        sa.PrimaryKeyConstraint("match_id", "number", name=op.f("pk_battles")),
    )
    op.create_table(
        "match_participants",
        sa.Column("match_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("spec", sa.String(length=120), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("points", sa.Double(), nullable=True),
        sa.Column("pair_rank", sa.Integer(), nullable=True),
        sa.Column("crashed", sa.Boolean(), nullable=False),
        sa.Column("faults", sa.JSON(), nullable=False),
        sa.Column("stats", sa.JSON(), nullable=False),
        sa.Column("mu", sa.Double(), nullable=True),
        sa.Column("phi", sa.Double(), nullable=True),
        sa.Column("sigma", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_match_participants_bot_id")),
        sa.ForeignKeyConstraint(
            ["match_id"], ["matches.id"], name=op.f("fk_match_participants_match_id")
        ),
        sa.PrimaryKeyConstraint("match_id", "slot", name=op.f("pk_match_participants")),
        sa.UniqueConstraint(
            "bot_id", "match_id", name=op.f("uq_match_participants_bot_id_match_id")
        ),
    )
    op.create_index(
        "ix_match_participants_match_id_rank_slot",
        "match_participants",
        ["match_id", "rank", "slot"],
        unique=False,
    )
    op.create_table(
        "ratings",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Double(), nullable=False),
        sa.Column("phi", sa.Double(), nullable=False),
        sa.Column("sigma", sa.Double(), nullable=False),
        sa.Column("crash_streak", sa.Integer(), nullable=False),
        sa.Column("last_match_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "playing_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_ratings_bot_id")),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competitions.id"], name=op.f("fk_ratings_competition_id")
        ),
        sa.ForeignKeyConstraint(["playing_id"], ["matches.id"], name=op.f("fk_ratings_playing_id")),
        sa.PrimaryKeyConstraint("competition_id", "bot_id", name=op.f("pk_ratings")),
    )
    op.create_index("ix_ratings_bot_id", "ratings", ["bot_id"], unique=False)
    op.create_index("ix_ratings_playing_id", "ratings", ["playing_id"], unique=False)
    op.create_index("ix_ratings_shown", "ratings", ["competition_id", sa.text("(mu - 2 * phi)")])
    for statement in KEEP_AUDIT[op.get_bind().dialect.name]:
        op.execute(statement)
